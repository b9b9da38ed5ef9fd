"""Records from documents, against readings by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from evenflow.schemas.config import Config
from evenflow.schemas.threshold import Threshold
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.blocks import Block
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.named import Intersections
from evenflow.transforms.measures.coverage.table import Table

TEXTS = [
    "Old women met young men. The old woman smiled.",
    "She left.\n\nElderly\n\nwomen sang; a Muslim woman and an old-Jewish man did not.",
    "Nobody was there.",
]


AGES = """
attribute: years
groups:
  young: [young, girl]
  old: [old, elderly]
"""


@pytest.fixture
def annotator(tmp_path: Path) -> Callable[..., Annotator]:
    """The shipped lists, and one of ages: the shipped one leaves out “old” and “young”."""
    path = tmp_path / "years.yaml"
    path.write_text(AGES)

    def make(**settings: Any) -> Annotator:
        lists = {"gender": {}, "years": {"wordlist": str(path)}, "religion": {}}
        given = {"attributes": lists, "coverage": {"tau": 1, **settings}}
        return Annotator(Config.model_validate(given))

    return make


def block(texts: list[str], **fields: list[Any]) -> Block:
    rows = [
        orjson.dumps({"text": text, **{name: each[i] for name, each in fields.items()}})
        for i, text in enumerate(texts)
    ]
    return Block("a.jsonl", 0, rows, 0)


def counted(at: Annotator, blocks: list[Block]) -> dict[str, Any]:
    figures = at.measure(blocks[0])
    for each in blocks[1:]:
        figures.add(at.measure(each))
    return figures.measures["coverage"]


def table_of(at: Annotator, found: dict[str, Any]) -> Table:
    return Intersections(at.config.coverage, at.lists).table(found)


def count(table: Table, **values: str) -> float:
    digits = [
        own.index(values[name]) if name in values else len(own)
        for name, own in zip(table.attributes, table.values, strict=True)
    ]
    coverage = Coverage(table, Threshold.parse("0"))
    return coverage.count(table.lattice.encode(np.array([digits])))[0]


@pytest.mark.parametrize(
    ("unit", "records", "old_women", "old_men", "muslim_women", "squares"),
    # “women sang …” names old and Jewish too; “She”, “Elderly” stand alone
    [
        ("sentence", 5, 3, 2, 1, 2**2 + 3**2),
        ("document", 2, 2, 2, 1, 2),
        ("referent", 8, 2, 1, 1, 3**2 + 5**2),
    ],
)
def test_units(
    annotator: Callable[..., Annotator],
    unit: str,
    records: int,
    old_women: int,
    old_men: int,
    muslim_women: int,
    squares: int,
) -> None:
    at = annotator(unit=unit)
    found = counted(at, [block(TEXTS)])
    table = table_of(at, found)
    assert table.total == records
    assert count(table, gender="female", years="old") == old_women
    assert count(table, gender="male", years="old") == old_men
    assert count(table, gender="female", religion="islam") == muslim_women
    assert found["squares"] == squares


def test_the_same_for_any_cut_into_blocks_and_when_annotated(
    annotator: Callable[..., Annotator],
) -> None:
    fields = {"source": ["a", ["b", "a"], None], "n": [1, 2, "x"]}
    at = annotator(attributes=["source", "gender", "n"])
    whole = counted(at, [block(TEXTS, **fields)])
    parts = [
        block([text], **{name: [each[i]] for name, each in fields.items()})
        for i, text in enumerate(TEXTS)
    ]
    assert (
        counted(at, parts)
        == whole
        == at.annotate(block(TEXTS, **fields)).figures.measures["coverage"]
    )
    table = table_of(at, whole)
    assert table.values == (("a", "b"), ("female", "male"), ("1", "2"))
    # Each document's sentences have all of its values
    assert count(table, source="a") == 4
    assert count(table, source="b", gender="male") == 1


def test_fields_alone_make_each_document_a_record(annotator: Callable[..., Annotator]) -> None:
    at = annotator(attributes=["source"])
    table = table_of(at, counted(at, [block(TEXTS, source=["a", "b", "a"])]))
    assert table.total == 3 and count(table, source="a") == 2


def test_nothing_is_counted_unless_asked_for() -> None:
    assert list(Annotator(Config()).measure(block(TEXTS)).measures) == ["shift"]
