"""SentEval on vectors that hold the label, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr

from evenflow.pipelines.train.benchmark import benchmark, results
from evenflow.transforms.benchmarks import probing, senteval
from evenflow.transforms.benchmarks.data import Data
from evenflow.transforms.benchmarks.suite import Suite
from evenflow.transforms.benchmarks.suites import SUITES

GOOD, BAD = "a fine film {}", "a dull film {}"
PAIRS = [(5.0, "a cat sat {}", "a cat sat {}"), (0.0, "a cat sat {}", "the bank shut {}")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of three tasks."""
    own = tmp_path / "senteval"
    own.mkdir()
    lines = [f"{n % 2} {(BAD, GOOD)[n % 2].format(n)}" for n in range(60)]
    (own / "MR_rt-polarity.txt").write_text("\n".join(lines) + "\n")
    for name, size in (("train", 40), ("test", 20)):
        rows = [
            f"{int(PAIRS[n % 2][0] > 2)}\t{n}\t{n}\t" + "\t".join(PAIRS[n % 2][1:]).format(n, n)
            for n in range(size)
        ]
        (own / f"MRPC_{name}.tsv").write_text("\ufeffQuality\t#1\t#2\ta\tb\n" + "\n".join(rows))
    for name, size in (("train", 40), ("dev", 10), ("test", 20)):
        rows = [
            f"g\tf\t2020\t{n}\t{PAIRS[n % 2][0] - (n % 2 == 0) * (n % 3) / 2}\t"
            + "\t".join(PAIRS[n % 2][1:]).format(n, n)
            for n in range(size)
        ]
        (own / f"STSB_{name}.tsv").write_text("\n".join(rows))
    return tmp_path


class Words:
    """An encoder whose vectors count words, and the model that a benchmark asks."""

    name = "words"

    def __init__(self, known: Sequence[str], noise: float):
        self._known, self._noise = known, noise

    def kind(self, suite: Suite) -> str:
        return "encoder"

    def digest(self) -> str:
        return "0"

    def ready(self, suite: Suite) -> Words:
        return self

    def vectors(self, texts: Sequence[str]) -> dict[str, Any]:
        found = {}
        for text in texts:
            noise = np.random.default_rng(sum(text.encode())).normal(size=len(self._known) + 1)
            counts = [float(word in text.split()) for word in self._known]
            found[text] = np.array([*counts, 1.0]) + self._noise * noise
        return found


def test_vectors_that_hold_the_label_predict_it(folder: Path, tmp_path: Path) -> None:
    known = ("fine", "dull", "cat", "bank")
    first, again, none = (
        benchmark(Words(words, noise), tmp_path / name, ["senteval"], data=folder)["suites"]
        for name, words, noise in (
            ("one", known, 0.05),
            ("two", known, 0.05),
            ("none", (), 1.0),
        )
    )
    assert first == again
    own = first["senteval"]
    assert set(own["parts"]) == {"mr", "mrpc", "stsb"}
    assert own["figure"] > 0.9 and own["parts"]["mr"]["figure"] == 1.0
    assert (own["parts"]["mr"]["n"], own["parts"]["mrpc"]["n"]) == (60, 20)
    assert own["n"] == 100 and own["left_out"] == 0
    parts = own["parts"].values()
    assert own["figure"] == pytest.approx(np.mean([each["figure"] for each in parts]), abs=1e-5)
    other = none["senteval"]["parts"]["mr"]
    assert other["low"] < 0.5 < other["high"]
    assert "vectors" not in (tmp_path / "one" / "items" / "senteval.jsonl").read_text()


def test_the_correlation_is_pearsons() -> None:
    random = np.random.default_rng(0)
    x, y = random.normal(size=50), random.normal(size=50)
    said = x + y
    rows = [
        {
            "suite": "senteval",
            "id": f"{n}",
            "kind": "stsb",
            "cluster": "",
            "values": {"tested": 1, "score": float(x[n]), "said": float(said[n])},
        }
        for n in range(50)
    ]
    found = results(rows, SUITES["senteval"])
    assert found["figure"] == pytest.approx(pearsonr(x, said)[0], abs=1e-5)


def test_scores_between_whole_ones_are_learnt() -> None:
    scores = np.repeat([0.5, 2.25, 4.0], 40)
    vectors = np.eye(3)[np.repeat([0, 1, 2], 40)] * 5
    said = probing.similarity(vectors, scores, np.eye(3) * 5)
    assert said == pytest.approx([0.5, 2.25, 4.0], abs=0.2)


def test_a_task_with_too_few_texts_is_left_out(folder: Path, tmp_path: Path) -> None:
    found = benchmark(Words((), 1.0), tmp_path / "b", ["senteval:mr"], data=folder, items=9)
    own = found["suites"]["senteval:mr"]
    assert own["figure"] is None and own["left_out"] == 9


def test_tasks_without_files_are_not_asked(folder: Path) -> None:
    kinds = {item.kind for item in senteval.read(Data(folder))}
    assert kinds == {"mr", "mrpc", "stsb"}
