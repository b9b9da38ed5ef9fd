"""An error that one record causes costs that record alone; what no record causes stops the run."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.engine.panes.closing import stage
from evenflow.pipelines.engine.topics.reading import TopicReads
from evenflow.schemas.config import ConfigError, load
from evenflow.transforms.annotation import mentions
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io import fields, unforeseen
from evenflow.transforms.io.blocks import Block
from evenflow.transforms.io.unforeseen import KIND
from evenflow.transforms.kafka import blocks
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.models.encoder import Encoder
from evenflow.transforms.models.files import ModelError
from evenflow.transforms.staging.block import StagedBlock

CONFIG = load(None, {"gate.most_dead": 1.0})
TEXTS = [f"She paid for document {number}." for number in range(50)]
BAD = {7, 8, 31}  # two neighbours and a single record
LINES = [
    json.dumps({"text": text + " Spoilt." * (number in BAD), "n": number}).encode()
    for number, text in enumerate(TEXTS)
]
BLOCK = Block("in.jsonl", 0, LINES, 0)
FAULTS = (
    ZeroDivisionError("Spoilt. \x1b"),
    RecursionError(),
    KeyError("x"),
    AssertionError(),
    pa.ArrowInvalid("x"),
)


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make the search for labels raise an error for each text that has a word."""
    find_together = LabelFinder.find_together

    def make(error: BaseException, word: str = "Spoilt") -> None:
        def raising(self: LabelFinder, texts: Sequence[str], *languages: Any) -> Any:
            if any(word in text for text in texts):
                raise error
            return find_together(self, texts, *languages)

        monkeypatch.setattr(LabelFinder, "find_together", raising)

    return make


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_a_record_at_fault_is_a_dead_letter_and_the_others_are_as_without_it(
    faulty: Any, error: Exception
) -> None:
    clean = Annotator(CONFIG).annotate(
        replace(BLOCK, records=[raw if i not in BAD else b"" for i, raw in enumerate(LINES)])
    )
    faulty(error)
    done = Annotator(CONFIG).annotate(BLOCK)
    assert done.table.equals(clean.table, check_metadata=True)
    assert [letter["ordinal"] for letter in done.dead] == sorted(BAD)
    assert {letter["reason"] for letter in done.dead} == {f"{KIND}: {type(error).__name__}"}
    assert [base64.b64decode(letter["raw_base64"]) for letter in done.dead] == [
        LINES[number] for number in sorted(BAD)
    ]
    assert done.figures.dead_reasons == {KIND: 3}
    assert done.figures.documents == len(TEXTS) - len(BAD)
    assert Annotator(CONFIG).measure(BLOCK).dead_reasons == {KIND: 3}


def test_where_it_came_from_is_logged_once(faulty: Any, caplog: pytest.LogCaptureFixture) -> None:
    unforeseen._logged.clear()
    faulty(ZeroDivisionError("\x1b[2J"))
    for _ in range(2):
        Annotator(CONFIG).annotate(BLOCK)
    [record] = caplog.records
    message = record.getMessage()
    assert record.levelno == logging.CRITICAL
    assert (
        "find_together" in message
        and "ZeroDivisionError: '\\x1b[2J'" in message
        and "\x1b" not in message
    )


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(28, "No space left"),
        ImportError("x"),
        ConfigError("x"),
        ModelError("x"),
        KeyboardInterrupt(),
    ],
)
def test_what_is_no_records_fault_is_raised_at_once(faulty: Any, error: BaseException) -> None:
    faulty(error)
    with pytest.raises(type(error)) as caught:
        Annotator(CONFIG).annotate(BLOCK)
    assert caught.value is error


def test_an_error_of_every_text_is_raised(faulty: Any) -> None:
    faulty(ZeroDivisionError(), "paid")
    with pytest.raises(ZeroDivisionError):
        Annotator(CONFIG).annotate(BLOCK)


def test_an_error_of_no_record_alone_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = mentions.pieces

    def raising(texts: Any, most: int) -> Any:
        if len(texts) == len(TEXTS):
            raise ZeroDivisionError
        return pieces(texts, most)

    monkeypatch.setattr(mentions, "pieces", raising)
    with pytest.raises(ZeroDivisionError):
        Annotator(CONFIG).annotate(BLOCK)


def test_an_error_in_the_other_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = fields.stage

    def raising(records: Any, raws: Any) -> Any:
        if any(record["n"] in BAD for record in records):
            raise ZeroDivisionError
        return stage(records, raws)

    monkeypatch.setattr(fields, "stage", raising)
    assert [letter["ordinal"] for letter in Annotator(CONFIG).annotate(BLOCK).dead] == sorted(BAD)


def test_a_model_that_fails_is_no_records_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        def run(self, *given: Any) -> Any:
            raise RuntimeError("no such operator")

    encoder = Encoder.shipped()
    monkeypatch.setattr(encoder, "_session", Failing())
    with pytest.raises(ModelError, match="no such operator"):
        encoder.stereotypes(["folks are lazy."])


@pytest.mark.parametrize("values", ["json", "text"])
def test_a_record_of_kafka_keeps_its_key_and_headers(
    faulty: Any, tmp_path: Path, values: Any
) -> None:
    faulty(ZeroDivisionError())
    size = len(LINES)
    block = blocks.PartitionBlock(
        topic="t",
        partition=3,
        start=100,
        next=100 + size,
        offsets=list(range(100, 100 + size)),
        timestamps=[1] * size,
        keys=[b"k%d" % number for number in range(size)],
        values=list(LINES),
        headers=[(("h", b"1"),)] * size,
    )
    annotator = Annotator(CONFIG)
    done = TopicReads(KafkaSettings("h:1"), "t", values).annotated(block, annotator)
    staged = StagedBlock(tmp_path, "block")
    stage(done, staged, annotator)
    letters = [
        json.loads(line)
        for path in tmp_path.rglob("*.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert [letter["ordinal"] for letter in letters] == [100 + number for number in sorted(BAD)]
    assert [base64.b64decode(letter["key_base64"]) for letter in letters] == [
        b"k%d" % number for number in sorted(BAD)
    ]
    assert all(
        letter["headers"] == [["h", "MQ=="]] and letter["reason"] == f"{KIND}: ZeroDivisionError"
        for letter in letters
    )
    figures = done.figures
    assert (figures.documents, figures.dead_reasons) == (len(TEXTS) - len(BAD), {KIND: 3})


def test_a_date_beyond_pythons_years(tmp_path: Path) -> None:
    """Nothing is injected: Arrow keeps such dates, and Python has no form for them."""
    far = pa.array(np.array([0, 2**62, 5]), pa.int64()).view(pa.timestamp("us"))
    tables = {
        "a": {
            "id": ["a", "b", "c"],
            "when": far,
            "in": pa.StructArray.from_arrays([far], ["when"]),
        },
        "b": {"id": ["d", "e", "f"], "when": ["x", "y", "z"]},  # so that the pane's column is text
        "c": {"id": far},  # as an id, a date is unusable
    }
    for name, columns in tables.items():
        pq.write_table(
            pa.table({"text": ["She paid.", "He left.", ""], **columns}),
            tmp_path / f"{name}.parquet",
        )
    Run([str(tmp_path / "*.parquet")], tmp_path / "out", CONFIG).go()
    [part] = [
        path
        for folder in ("accepted", "quarantine")
        for path in (tmp_path / "out" / folder).glob("*.parquet")
    ]
    kept = pq.read_table(part)
    assert kept["id"].to_pylist() == ["a", "b", "d", "e"]
    assert kept["when"].to_pylist()[1:3] == ['"<value out of range: 4611686018427387904>"', '"x"']
    [letters] = [
        path.read_text().splitlines() for path in (tmp_path / "out" / "dead-letter").iterdir()
    ]
    reasons = [json.loads(line)["reason"].partition(":")[0] for line in letters]
    unusable = "field 'id' is an object; text or a number was expected"
    assert sorted(reasons) == sorted(["the text is empty"] * 2 + [unusable] * 2 + [KIND])


@pytest.mark.parametrize("method", ["gc", "base"])
@pytest.mark.parametrize("text", ["ſhe left.", "Here's\ufeffhe again.", "HERſELF she saw."])
def test_a_pronoun_in_a_spelling_that_only_the_label_finder_knows(text: str, method: str) -> None:
    """Nothing is injected."""
    annotator = Annotator(load(None, {"repair.mode": "substitute", "repair.method": method}))
    done = annotator.annotate(Block("in.jsonl", 0, [json.dumps({"text": text}).encode()], 0))
    assert done.dead == [] and done.figures.attributes["gender"].counts != [0, 0]
