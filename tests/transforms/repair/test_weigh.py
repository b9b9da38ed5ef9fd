"""Weights of a pane: one column for all attributes, what must stay, state, bad input, samples."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from evenflow.gates.ledger.files import parse_entry, read_entries
from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.terminal.outcome import Observer
from evenflow.schemas.config import ConfigError, load
from evenflow.transforms.measures.representation.dr import score

TEXTS = [
    *("He met his brother and his father.",) * 6,
    "She met her mother, and he left.",
    "She saw her sister.",
    "The elderly man smiled at his grandson.",
    "A teenager met the elderly nun in a church.",
    "Nobody came.",
]
GROUPS = [f"mentions_gender_{group}" for group in ("female", "male")]


def write(path: Path, number: int = 220, sources: str = "ab") -> Path:
    rows = [
        {
            "id": f"d{i}",
            "text": TEXTS[(7 * i) % len(TEXTS)] + " It rained." * (i % 5),
            "source": sources[(i * i) % len(sources)],
        }
        for i in range(number)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def run(tmp_path: Path, name: str = "out", workers: int = 1, **options: object):
    """Entries, rows of accepted/ and rows of set-aside/."""
    overrides = {"repair.mode": "weight", "repair.least_effective": 0.0, "gate.warn": 0.4}
    overrides |= {key.replace("__", "."): value for key, value in options.items()}
    path, output = tmp_path / "in.jsonl", tmp_path / name
    if not path.exists():
        write(path)
    Run([str(path)], output, load(None, overrides), workers).go()
    rows = [
        [
            row
            for file in sorted((output / folder).glob("*"))
            for row in pq.read_table(file).to_pylist()
        ]
        for folder in ("accepted", "set-aside")
    ]
    return read_entries(output), *rows


def test_one_weight_for_all_attributes_keeps_mix_and_length(tmp_path: Path) -> None:
    [entry], rows, _ = run(tmp_path)
    found = entry.weights
    weights = np.array([row["weight"] for row in rows])
    assert found.effective == pytest.approx(weights.sum() ** 2 / (weights**2).sum() / len(rows))
    assert weights.mean() == pytest.approx(1, abs=1e-5) and found.problem is None
    for source in "ab":
        own = np.array([row["source"] == source for row in rows])
        assert weights[own].sum() / len(rows) == pytest.approx(own.mean(), abs=0.01 + 1e-5)
    length = np.array([len(row["text"].encode()) for row in rows])
    assert weights @ length == pytest.approx(length.sum(), rel=0.03 + 1e-5)
    for name, each in entry.attributes.items():
        counts = np.array([[row[f"mentions_{name}_{g}"] for g in each.groups] for row in rows])
        assert weights @ counts == pytest.approx(each.sums.counts, abs=1e-6)
        squares = (counts * weights[:, None]).T @ (counts * weights[:, None])
        # The noise is what the calibration leaves, and documents keep their sizes
        assert squares.sum() == pytest.approx(np.sum(each.sums.products), rel=1e-6)
        plain = score(each.sums.model_copy(update={"products": squares.tolist()}), each.target)
        assert name != "gender" or each.pane.high - each.pane.low < plain.high - plain.low
        assert each.unweighted.counts == counts.sum(axis=0).tolist()
    gender = found.attributes["gender"]
    assert gender.after < 0.001 < 0.2 < gender.before and entry.checks.success
    kept = {each.name: each for each in found.kept}
    assert {"the length of the texts in bytes", "the share of source a"} < set(kept)
    assert parse_entry(json.dumps(entry.model_dump()).encode(), "entry") == entry


def test_coverage_counts_records_and_no_weights(tmp_path: Path) -> None:
    """A record of weight 4 is one record to learn from."""
    free = {"coverage__tau": 0.01, "coverage__attributes": ["gender", "age"]}
    [plain], _, _ = run(tmp_path, "plain", repair__mode="measure", **free)
    [weighed], rows, _ = run(tmp_path, "weighed", **free)
    assert max(row["weight"] for row in rows) > 1.1
    assert plain.measures["coverage"] is not None
    assert weighed.measures == plain.measures


def test_groups_that_meet_do_not_meet_less_often(tmp_path: Path) -> None:
    def met(rows: list) -> float:
        return sum(row["weight"] for row in rows if row[GROUPS[1]] and row["mentions_age_old"])

    _, free, _ = run(tmp_path, "free")
    [entry], kept, _ = run(tmp_path, "kept", repair__keep=["source", "gender * age"])
    number = sum(1 for row in free if row[GROUPS[1]] and row["mentions_age_old"])
    assert met(free) < number - 1 and met(kept) >= number - 1e-3
    assert "documents that name male and old" in {each.name for each in entry.weights.kept}


def test_an_attribute_keeps_a_share_of_its_mentions(tmp_path: Path) -> None:
    def left(entry: Any) -> float:
        own = entry.attributes["gender"]
        return sum(own.sums.counts) / sum(own.unweighted.counts)

    [free], *_ = run(tmp_path, "free", repair__keep=[])
    least = min(1.0, round(left(free) + 0.05, 2))
    [held], *_ = run(tmp_path, "held", repair__keep=[], repair__least_mentions=least)
    assert left(free) < least - 0.01 and left(held) >= least - 1e-4
    assert "mentions of gender" in {each.name for each in held.weights.kept}


def test_known_totals_are_met_or_named(tmp_path: Path) -> None:
    def share(rows: list) -> float:
        return sum(row["weight"] for row in rows if row["source"] == "a") / len(rows)

    _, rows, _ = run(tmp_path, "met", repair__totals={"source": {"a": 0.7}})
    assert share(rows) == pytest.approx(0.7, abs=0.0101)
    for name, totals in (
        ("both", {"source": {"a": 0.9, "b": 0.1}}),
        ("none", {"source": {"nowhere": 0.5}}),
    ):
        [entry], rows, _ = run(tmp_path, name, repair__totals=totals, repair__weight_limit=1.5)
        assert "the share of source" in entry.weights.problem
        assert {row["weight"] for row in rows} == {1.0}
        assert entry.verdict.state == "warn" and "every weight is 1" in entry.verdict.reason


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"repair.keep": ["gender*height"]}, "height"),
        ({"repair.totals": {"source": {"a": 0.7, "b": 0.6}}, "repair.keep_within": 0.0}, "1.3"),
        ({"repair.mode": "weight,substitute"}, "substitute,weight"),
        ({"repair.mode": "reweight"}, "weight"),
        ({"repair.weight_limit": 0.5}, "weight_limit"),
    ],
)
def test_a_wrong_configuration_is_named(options: dict, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load(None, options)


@pytest.mark.parametrize("text", ["He left.", "It rained.", ""])
def test_text_of_one_group_or_none_stays(tmp_path: Path, text: str) -> None:
    rows = [json.dumps({"id": str(i), "text": f"{text} Number {i}."}) for i in range(30)]
    (tmp_path / "in.jsonl").write_text("\n".join(rows), encoding="utf-8")
    [entry], out, _ = run(tmp_path)
    assert {row["weight"] for row in out} == {1.0}
    assert [row["text"] for row in out] == [json.loads(row)["text"] for row in rows]
    gender = entry.weights.attributes["gender"]
    assert gender.after == (0.5 if "He" in text else None)


def test_a_limit_of_one_changes_nothing(tmp_path: Path) -> None:
    [entry], rows, _ = run(tmp_path, repair__weight_limit=1.0)
    assert {row["weight"] for row in rows} == {1.0}
    assert "no weights up to 1" in entry.attributes["religion"].verdict.reason or entry.weights


def test_a_stream_of_panes_converges(tmp_path: Path) -> None:
    """The first panes have men alone; later ones make good for them, and the rest is even."""
    rows = [
        {"id": f"d{i}", "text": "He slept." if i < 60 or i % 2 else "She slept."}
        for i in range(300)
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    options = {"pane__docs": 30, "gate__block": 0.6, "gate__warn": 0.5}
    entries, _, _ = run(tmp_path, attributes={"gender": {}}, **options)
    dr = [each.attributes["gender"].rolling.dr for each in entries]
    assert dr[:2] == [0.5, 0.5] and all(b < a for a, b in pairwise(dr[1:6]))
    assert dr[-1] < 0.002
    # Once even, a pane is weighed for itself
    assert entries[-1].weights.effective > 0.99
    assert entries[2].attributes["gender"].pane.dr > 0.1


@pytest.mark.parametrize("output_as", ["weight", "sample"])
def test_a_run_that_was_stopped_goes_on_with_the_same_weights(
    tmp_path: Path, output_as: str
) -> None:
    def files(output: Path) -> dict[str, bytes]:
        names = ("accepted", "set-aside", "ledger")
        return {
            path.name: path.read_bytes()
            for name in names
            for path in (output / name).glob("*")
            if path.is_file()
        }

    overrides = {"repair.mode": "weight", "repair.output_as": output_as, "pane.docs": 50}
    config, path = load(None, overrides), write(tmp_path / "in.jsonl")
    Run([str(path)], tmp_path / "whole", config).go()

    class StopError(Exception):
        """Ends a run after a pane."""

    def stop(progress: object) -> None:
        raise StopError

    for _ in range(3):
        with pytest.raises(StopError):
            Run([str(path)], tmp_path / "parts", config, observer=Observer(stop)).go()
    Run([str(path)], tmp_path / "parts", config).go()
    assert files(tmp_path / "parts") == files(tmp_path / "whole")


def test_a_sample_has_the_weights_as_numbers_of_copies(tmp_path: Path) -> None:
    _, weighted, _ = run(tmp_path, "weights")
    [entry], rows, left = run(tmp_path, "sample", repair__output_as="sample")
    weight = {row["id"]: row["weight"] for row in weighted}
    times = Counter(row["copy_of"] or row["id"] for row in rows)
    assert len({row["id"] for row in rows}) == len(rows) == entry.documents
    assert all(abs(times[name] - each) < 1 for name, each in weight.items())
    assert abs(len(rows) - sum(weight.values())) < 1
    assert {row["id"] for row in left} == set(weight) - set(times) and len(left) > 5
    assert entry.weights.left_out == len(left) == entry.left_out.rows
    assert entry.weights.copies == sum(row["copy_of"] is not None for row in rows)
    assert all(row["reason"].startswith("left out by the sample: weight 0.") for row in left)
    assert "weight" not in rows[0] and entry.checks.success, entry.checks
    gender = entry.attributes["gender"]
    assert gender.sums.counts == [sum(row[name] for row in rows) for name in GROUPS]
    assert gender.pane.dr < 0.03
