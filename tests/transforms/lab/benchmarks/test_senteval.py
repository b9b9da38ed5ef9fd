"""SentEval on vectors that hold the label, or nothing."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score

from evenflow.pipelines.lab.train.benchmark import benchmark, results
from evenflow.transforms.lab.benchmarks import probing, senteval
from evenflow.transforms.lab.benchmarks.data import BenchmarkDataError, Data
from evenflow.transforms.lab.benchmarks.suite import Suite
from evenflow.transforms.lab.benchmarks.suites import SUITES

WORDS = ("dull", "fine", "poor", "good", "calm", "keen")
LABELS = {"sst": 2, "trec": 6}  # of a task; otherwise 2
PAIRS = [("a cat sat {}", "a cat sat {}"), ("a cat sat {}", "the bank shut {}")]
SIZES = {1: (60,), 2: (48, 24), 3: (40, 20, 20)}  # texts of the files of a task


def _line(name: str, number: int) -> str:
    """A line in the form of a task's files."""
    if name not in ("mrpc", "stsb"):
        label = number % LABELS.get(name, 2)
        # As some texts of MR and SUBJ, with a character that splitlines would cut at
        return f"{label} a {WORDS[label]} film\u0085, number {number} \n"
    pair = "\t".join(PAIRS[number % 2]).format(number, number)
    if name == "mrpc":
        return f"{1 - number % 2}\t{number}\t{number + 1}\t{pair}\r\n"
    score = 0.5 if number % 2 else 5 - number % 3 / 2
    return (
        f"main\tfile\t2020\t{number:04}\t{score:.3f}\t{pair}" + "\ta\tb" * (number % 9 == 0) + "\n"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of all tasks, of own sentences, some compressed."""
    own = tmp_path / "senteval"
    own.mkdir()
    for name, task in senteval.TASKS.items():
        for file, size in zip(task.files, SIZES[len(task.files)], strict=True):
            text = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n" * task.header
            text += "".join(_line(name, number) for number in range(size))
            if name in ("mr", "sst"):
                (own / f"{file}.gz").write_bytes(gzip.compress(text.encode()))
            else:
                (own / file).write_bytes(text.encode())
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


def test_vectors_that_hold_the_label_predict_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = (*WORDS, "cat", "bank")
    monkeypatch.setattr(probing, "FOLDS", 3)  # ten times as fast as ten
    own, none = (
        benchmark(Words(words, noise), tmp_path / "out" / name, [name], data=folder)["suites"][name]
        for name, words, noise in (("senteval", known, 0.05), ("senteval:mr", (), 1.0))
    )
    assert set(own["parts"]) == set(senteval.TASKS) and own["left_out"] == 0
    for name, part in own["parts"].items():
        size = SIZES[len(senteval.TASKS[name].files)][-1]
        assert part["n"] == size and part["figure"] > 0.95, name
    parts = own["parts"].values()
    assert own["figure"] == pytest.approx(np.mean([each["figure"] for each in parts]), abs=1e-5)
    assert none["low"] < 0.5 < none["high"]
    lines = (tmp_path / "out" / "senteval" / "items" / "senteval.jsonl").read_text()
    assert "vectors" not in lines


@pytest.mark.parametrize("name", senteval.TASKS)
def test_the_files_of_each_task_are_read(folder: Path, name: str) -> None:
    items = [item for item in senteval.read(Data(folder)) if item.kind == name]
    files = senteval.TASKS[name].files
    sizes = dict(zip(senteval.PARTS[len(files)], SIZES[len(files)], strict=True))
    assert Counter(item.content["part"] for item in items) == sizes
    last = items[sizes[senteval.PARTS[len(files)][0]] - 1]
    number = SIZES[len(files)][0] - 1
    label, *texts = {
        "mrpc": ("0", f"a cat sat {number}", f"the bank shut {number}"),
        "stsb": ("0.5", f"a cat sat {number}", f"the bank shut {number}"),
        "trec": ("5", f"a keen film\u0085, number {number}"),
    }.get(name, ("1", f"a fine film\u0085, number {number}"))
    assert (last.content["label"], last.content["texts"]) == (label, texts)
    assert len({item.content["label"] for item in items}) == {"trec": 6, "stsb": 4}.get(name, 2)


def test_a_line_of_another_form_is_named(folder: Path) -> None:
    (folder / "senteval" / "CR_custrev.txt").write_text("1 good\nbad\n")
    with pytest.raises(BenchmarkDataError, match=r"CR_custrev.txt, line 2: a label and a text"):
        senteval.read(Data(folder))


def test_the_penalty_is_chosen_where_it_predicts_best() -> None:
    random = np.random.default_rng(0)
    vectors = random.normal(size=(200, 30))
    labels = np.where(vectors[:, 0] + random.normal(size=200) > 0, "1", "0")
    tried = random.normal(size=(50, 30))
    fits = {
        c: LogisticRegression(C=c, max_iter=300).fit(vectors, labels) for c in probing.STRENGTHS
    }
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    by_folds = max(fits, key=lambda c: cross_val_score(fits[c], vectors, labels, cv=folds).mean())
    held = random.normal(size=(60, 30)), np.where(random.normal(size=60) > 0, "1", "0")
    by_dev = max(fits, key=lambda c: fits[c].score(*held))
    assert by_folds != by_dev
    for best, given in ((by_folds, None), (by_dev, held)):
        said = probing.predicted(vectors, labels, tried, given)
        assert said.tolist() == fits[best].predict(tried).tolist()


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
    said = probing.similarity(vectors, scores, np.eye(3) * 5, (vectors[::40], scores[::40]))
    assert said == pytest.approx([0.5, 2.25, 4.0], abs=0.2)


def test_a_task_with_too_few_texts_is_left_out(folder: Path, tmp_path: Path) -> None:
    found = benchmark(Words((), 1.0), tmp_path / "b", ["senteval:mr"], data=folder, items=9)
    own = found["suites"]["senteval:mr"]
    assert own["figure"] is None and own["left_out"] == 9


def test_tasks_without_files_are_not_asked(folder: Path) -> None:
    for file in senteval.TASKS["cr"].files:
        (folder / "senteval" / file).unlink()
    kinds = {item.kind for item in senteval.read(Data(folder))}
    assert kinds == set(senteval.TASKS) - {"cr"}
