"""The experiment of a sentence encoder as a whole, on 72 pairs of own sentences."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Call
from parts import needs_training

needs_training("torch", "transformers", "sklearn")

from sentence_pairs import associations, snli  # noqa: E402
from tiny_models import gate_output, tiny_model  # noqa: E402

from evenflow.pipelines.lab.train import pairs  # noqa: E402
from evenflow.pipelines.lab.train.errors import TrainInputError  # noqa: E402
from evenflow.schemas.config import ConfigError  # noqa: E402
from evenflow.schemas.experiment import load  # noqa: E402
from evenflow.schemas.experiment_arms import ENCODER_ARMS  # noqa: E402
from evenflow.transforms.lab.bias_score.hard import neutralised  # noqa: E402
from evenflow.transforms.models import encoding, loading  # noqa: E402

pytest_plugins = ["commands"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    snli(tmp_path / "snli.jsonl")
    associations(tmp_path / "data")
    path = tmp_path / "experiment.yaml"
    own = {
        "encoder": {"hidden": 4, "batch": 8, "threads": 1},
        "pairs": ["snli.jsonl"],
        "output": "out",
        "seeds": [0, 1],
        "arms": ["full", "sub90", "aug90", "hard"],
        "benchmark": {"suites": {"seat": None}, "parts": ["seat/1"], "batch": 64, "data": "data"},
    }
    path.write_text(json.dumps(own))
    return path


def changed(file: Path, **changes: Any) -> Path:
    """Change keys of the experiment; None takes one out."""
    own = json.loads(file.read_text()) | changes
    file.write_text(json.dumps({key: each for key, each in own.items() if each is not None}))
    return file


def test_it_runs_to_a_table_and_a_page_and_goes_on_after_a_loss(file: Path, call: Call) -> None:
    ended = call("lab", "experiment", file, "--json")
    assert ended.status == 0, ended.err
    assert "train sub90, seed 1" in ended.err
    found, out = ended.json, file.parent / "out"
    assert found["baseline"] == "full" and set(found["suites"]) == {"seat", "seat/1"}
    own = found["suites"]["seat"]
    assert list(own["estimates"]) == ["full", "sub90", "aug90", "hard"]
    assert set(own["differences"]) == {"sub90", "aug90", "hard"}
    for each in own["differences"].values():
        assert len(each["seeds"]) == 2 and each["low"] <= each["value"] <= each["high"]
    sizes = {name: arm["documents"] for name, arm in found["arms"].items()}
    assert sizes["full"] == sizes["hard"] == 72  # the one without a label is left out
    assert 62 <= sizes["sub90"] < 72 < sizes["aug90"] <= 82
    assert len(list((out / "data").glob("*/ledger"))) == 3  # hard has the data of full
    page = (out / "experiment.html").read_text()
    assert "bilstm-max of 2 × 4 states" in page
    assert "2 seeds, 1 epoch in batches of 8 pairs" in page
    # A cell that was killed while it was measured: it is not trained again, and comes out the same
    before = (out / "experiment.json").read_bytes()
    cell = out / "cells" / "aug90" / "1"
    (cell / "measured.json").unlink()
    (cell / "benchmark" / "results.json").unlink()
    times = {path: path.stat().st_mtime_ns for path in out.rglob("training.json")}
    again = call("lab", "experiment", file)
    assert again.status == 0 and "May be concluded" in again.out
    assert (out / "experiment.json").read_bytes() == before
    assert times == {path: path.stat().st_mtime_ns for path in times} and len(times) == 8
    # Other pairs than those that it was begun with
    (cell / "measured.json").unlink()
    snli(file.parent / "snli.jsonl", 60)
    other = call("lab", "experiment", file)
    assert other.status == 2 and "not those that this experiment was begun with" in other.err


def test_a_transformer_is_tuned_and_can_be_measured_alone(file: Path, call: Call) -> None:
    tiny_model(file.parent / "bert", "bert")
    arms = {
        "full": {},
        "untuned": {"trained": False},
        "half": {"subset": "random", "share": 0.5},
        "weighted": {"gate": {"repair": {"mode": "weight"}}},
    }
    how = {"kind": "transformer", "model": "bert", "pooling": "max", "batch": 8, "rate": 1e-3}
    changed(file, encoder={**how, "threads": 1}, arms=arms, seeds=[0])
    ended = call("lab", "experiment", file, "--json")
    assert ended.status == 0, ended.err
    estimates = ended.json["suites"]["seat"]["estimates"]
    values = {name: each["value"] for name, each in estimates.items()}
    assert len(set(values.values())) == len(arms)
    assert 20 < ended.json["arms"]["half"]["documents"] < 52
    assert "documents" not in ended.json["arms"]["untuned"]
    model = file.parent / "out" / "cells" / "full" / "0" / "model"
    assert encoding.pooling(model, loading.kind_of(str(model))) == "max"
    data = ["--benchmark-data", file.parent / "data", "--batch", 64, "--json"]
    alone = call(
        "lab", "benchmark", "--model", model, "--suite", "seat", "-o", file.parent / "b", *data
    )
    assert alone.json["suites"]["seat"]["figure"] == values["full"]
    mean = ["--pooling", "mean", "--model", model, "--suite", "seat", "-o", file.parent / "c"]
    assert call("lab", "benchmark", *mean, *data).json["suites"]["seat"]["figure"] != values["full"]


def test_what_cannot_be_trained_is_said_in_a_sentence(file: Path, call: Call) -> None:
    good = file.read_text()
    folder = file.parent
    rows = [{"premise": "A man ran.", "hypothesis": "He ran.", "label": "1"}] * 3
    (folder / "one.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "no_pair.txt").write_text("runs 1 2\npark 2 1\nsoup 1 1\n")
    (folder / "unlabelled.jsonl").write_text(
        json.dumps({"gold_label": "-", "sentence1": "A", "sentence2": "B"})
    )
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"pairs": ["none.jsonl"]}, "none.jsonl: there is no such file of pairs"),
        ({"benchmark": {"suites": {"honest": 3}}}, "honest needs a language model, no encoder"),
        ({"benchmark": {"suites": {"seat": None}}}, "there is no such file"),
        ({"pairs": ["unlabelled.jsonl"]}, "no pair with a label is in it"),
        ({"encoder": {"labels": ["neutral"]}}, "line 1: unknown label 'entailment'"),
        ({"encoder": {"vectors": "no_pair.txt"}}, "none of the 10 pairs of gender"),
        ({"pairs": ["one.jsonl"], "arms": ["full"]}, "arm full: all its pairs have the label '1'"),
        (
            {"arms": {"full": {}, "few": {"subset": "random", "share": 0.0001}}},
            "arm few: no pair is left to train on",
        ),
    )
    for number, (changes, message) in enumerate(wrong):
        file.write_text(good)
        ended = call("lab", "experiment", changed(file, output=f"out{number}", **changes))
        assert ended.status == 2 and message in ended.err.replace("\n", " "), ended.err


def test_files_that_cannot_be_used(file: Path) -> None:
    good = file.read_text()
    for changes, message in (
        ({"pairs": None}, "pairs: it is missing"),
        ({"model": "m"}, "either encoder and pairs, or a model"),
        ({"encoder": None, "arms": None, "baseline": "original"}, "model: it is missing"),
        ({"arms": ["full", "sub91"]}, "sub91.*none of the usual arms full, sub90"),
        ({"arms": {"full": {}, "x": {"mined": {}}}}, "arms.x.mined"),
        ({"encoder": {"kind": "transformer"}}, "encoder.model: the folder of a model"),
        ({"encoder": {"kind": "transformer", "model": "m"}}, "arms.hard.vectors"),
        ({"encoder": {"model": "m"}}, "is kind: transformer meant"),
    ):
        file.write_text(good)
        with pytest.raises(ConfigError, match=message):
            load(changed(file, **changes))
    file.write_text(good)
    assert list(load(changed(file, arms=None)).arms) == list(ENCODER_ARMS)


def test_pairs_are_read_from_tables_own_files_and_gates(tmp_path: Path) -> None:
    table = "gold_label\tsentence1\tsentence2\npairs\n".replace("pairs\n", "")
    table += 'neutral\tA "man" ran.\tHe won.\n-\tA\tB\n'
    with gzip.open(tmp_path / "snli.txt.gz", "wt") as file:
        file.write(table)
    own = {"premise": "It rained.", "hypothesis": "It was wet.", "label": 1, "task": "weather"}
    (tmp_path / "own.jsonl").write_text(json.dumps(own) + "\n")
    texts = [["A girl sang.", "A boy sang."]]
    gate = gate_output(
        tmp_path / "gate", texts, premise=texts, hypothesis=[["She sang."] * 2], label=[["a", "b"]]
    )
    path = tmp_path / "pairs.jsonl"
    places = [tmp_path / "snli.txt.gz", tmp_path / "own.jsonl", gate]
    pairs.write([str(each) for each in places], (), path)
    found = [tuple(json.loads(line).values()) for line in path.read_text().splitlines()]
    assert found == [
        ("p0", 'A "man" ran.', "He won.", "neutral", "pairs"),
        ("p1", "It rained.", "It was wet.", "1", "weather"),
        ("p2", "A girl sang.", "She sang.", "a", "pairs"),
        ("p3", "A boy sang.", "She sang.", "b", "pairs"),
    ]
    for row, message in (
        ({"premise": "A", "label": "b"}, "line 1: there is no 'hypothesis'"),
        ({**own, "label": 1.5}, "line 1: a label is text or a whole number"),
        ([], "line 1: it is no record"),
    ):
        (tmp_path / "own.jsonl").write_text(json.dumps(row))
        with pytest.raises(TrainInputError, match=message):
            pairs.write([str(tmp_path / "own.jsonl")], (), tmp_path / "new.jsonl")
    (tmp_path / "own.jsonl").write_text("{")
    with pytest.raises(TrainInputError, match="it cannot be read"):
        pairs.write([str(tmp_path / "own.jsonl")], (), tmp_path / "new.jsonl")


def test_hard_debiased_words_have_no_part_along_the_direction_unless_they_name_a_group() -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(3, 5))
    basis = np.eye(5)[:1]
    found = neutralised(rows, ["nurse", "She", "doctor"], basis, {"she"})
    assert np.abs(found[[0, 2]] @ basis[0]).max() < 1e-12
    assert found[1] == pytest.approx(rows[1] / np.linalg.norm(rows[1]))
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0)
