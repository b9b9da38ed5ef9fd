"""The frame of a pane: what it reads from the shards, and the second count of labels."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pane_shards import LISTS, TEXTS, changed, pane, replaced, write

from evenflow.gates.expectations import frame as shard_frame
from evenflow.gates.expectations.columns import ColumnDefects
from evenflow.gates.expectations.frame import ShardReader, names, read_whole
from evenflow.schemas.config import load
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.records import Documents

COLUMNS = names(LISTS, "id", "text")
READER = ShardReader(LISTS, COLUMNS)


def differences(frame: pd.DataFrame) -> list[str]:
    """What the second count found."""
    return [value for value in frame[COLUMNS.recount] if isinstance(value, str)]


def test_the_frame_is_the_shards_in_their_order(tmp_path: Path) -> None:
    table, attributes = pane()
    frame = READER.read(write(tmp_path, table.slice(0, 3), table.slice(3)))
    assert frame["id"].tolist() == ["doc-0", "doc-1", "doc-2", "doc-3"]
    assert frame[COLUMNS.bytes].tolist() == [len(text.encode()) for text in TEXTS]
    assert frame[COLUMNS.mentions["gender"]].sum().tolist() == attributes["gender"].sums.counts
    assert differences(frame) == []
    assert frame.kinds == {"id": "text", "text": "text"} | dict.fromkeys(COLUMNS.counts, "integer")


def test_lengths_are_bytes_and_null_has_none(tmp_path: Path) -> None:
    table, _ = pane(["naïve", "", "x"])
    frame = READER.read(write(tmp_path, changed(table, "text", {2: None})))
    assert frame[COLUMNS.bytes].tolist() == [6, 0, 0]


def test_a_second_count_names_document_and_columns(tmp_path: Path) -> None:
    table, _ = pane()
    held = table.column("mentions_gender_male")[1].as_py()
    frame = READER.read(write(tmp_path, changed(table, "mentions_gender_male", {1: held + 2})))
    assert differences(frame) == [
        f"document 'doc-1': mentions_gender_male is {held + 2}, counted again {held}"
    ]


def test_the_sample_is_bounded_and_always_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, _ = pane([f"She met him {number} times." for number in range(30)])
    for name in COLUMNS.counts:
        # So that each document counted again differs
        table = replaced(table, name, pa.array([9] * 30, pa.int32()))
    shards = write(tmp_path, table, rows=7)
    assert len(differences(READER.read(shards))) == 30
    monkeypatch.setattr(shard_frame, "SAMPLE_DOCUMENTS", 10)
    few = differences(READER.read(shards))
    assert len(few) == 10
    assert differences(READER.read(write(tmp_path, table.slice(0, 4), table.slice(4)))) == few
    monkeypatch.setattr(shard_frame, "SAMPLE_BYTES", 50)
    assert len(differences(READER.read(shards))) == 2
    monkeypatch.setattr(shard_frame, "SAMPLE_BYTES", 1)
    # One document, however long, is counted again
    assert len(differences(READER.read(shards))) == 1


def test_a_pane_without_shards_has_an_empty_frame_with_all_columns() -> None:
    frame = READER.read([])
    assert len(frame) == 0
    assert {"id", COLUMNS.bytes, COLUMNS.recount, *COLUMNS.counts} == {*frame.columns}


@pytest.mark.parametrize(
    ("column", "values", "kind"),
    [
        ("id", pa.array([1, 2, 3, 4]), "integer"),
        ("text", pa.array([b"a", b"b", b"c", b"d"]), "binary"),
        ("mentions_age_old", pa.array([0.5, 1, 2, 3]), "double"),
    ],
)
def test_columns_of_another_kind_are_told_not_made_up(
    tmp_path: Path, column: str, values: pa.Array, kind: str
) -> None:
    table, _ = pane()
    assert READER.read(write(tmp_path, replaced(table, column, values))).kinds[column] == kind
    frame = READER.read(write(tmp_path, table.drop_columns([column])))
    assert column not in frame.kinds and column not in frame.columns


def test_shards_that_disagree_have_both_kinds(tmp_path: Path) -> None:
    table, _ = pane()
    other = replaced(table, "mentions_age_old", pa.array(["a"] * 4))
    frame = READER.read(write(tmp_path, table, other))
    assert frame.kinds["mentions_age_old"] == "integer and text"


def test_a_column_may_have_the_name_of_the_note() -> None:
    frame = pd.DataFrame({"kinds": ["a", "b"]})
    assert ColumnDefects.value(frame, {"texts": ["kinds"], "counts": []}) == []


def test_a_shard_that_does_not_read_back_is_an_error_of_the_disk(tmp_path: Path) -> None:
    table, _ = pane()
    [path] = write(tmp_path, table)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(OSError, match=r"part-0000\.parquet: does not read back"):
        READER.read([path])


def test_derived_columns_give_way_to_the_shards_own() -> None:
    columns = names(LISTS, "text (bytes)", "text")
    assert columns.bytes != "text (bytes)"


def test_the_whole_frame_has_the_columns_asked_for(tmp_path: Path) -> None:
    table, _ = pane(n=pa.array([2**60 + 1, None, 3, 4]), tags=[["a"], [], ["b", "c"], []])
    shards = write(tmp_path, table.slice(0, 2), table.slice(2))
    assert {*read_whole(shards, None).columns} == {*table.column_names}
    frame = read_whole(shards, frozenset({"n", "absent"}))
    assert [*frame.columns] == ["n"]
    assert frame["n"].tolist() == [2**60 + 1, None, 3, 4]


WORDS = st.sampled_from(
    [
        *("she", "he", "women", "old", "young man", "don't", "old-", "\n", "www.he.com", "."),
        *("’s", "-", "x"),
    ]
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(WORDS, min_size=1, max_size=12).map(" ".join), min_size=1, max_size=8))
def test_counting_documents_one_by_one_gives_what_counting_them_joined_gave(
    texts: list[str],
) -> None:
    """The invariant that lets the second count stand as a check: no good pane fails it."""
    annotator = Annotator(load(None))
    columns = names(annotator.lists, "id", "text")
    _, counts, *_ = annotator.mentions.count(
        Documents("in", [""] * len(texts), texts, [0] * len(texts))
    )
    held = dict(zip(columns.counts, np.concatenate(counts, axis=1).T.tolist(), strict=True))
    rows = {
        row: {"id": "", "text": text, **{name: own[row] for name, own in held.items()}}
        for row, text in enumerate(texts)
    }
    reader = ShardReader(annotator.lists, columns)
    assert reader.recount(rows, dict.fromkeys(columns.counts, "integer")) == {}
