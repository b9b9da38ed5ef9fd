"""Another column's type or value never ends a run, and any reader can open the output."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.terminal.outcome import Observer
from evenflow.schemas.config import Config, load
from evenflow.transforms.io.blocks import read_blocks
from evenflow.transforms.io.records import Documents, validate

TEXTS = ["She saw him.", "He saw her.", "They left."]
LONG = 123456789012345678901234567890
BAD = b"She \xff he"


def _bad(kind: Any = None) -> Any:
    """Two texts of which one is no UTF-8, and a null."""
    raw = pa.array([BAD, b"fine", None], pa.binary())
    return pa.Array.from_buffers(pa.string(), 3, raw.buffers()).cast(kind or pa.string())


def _zoned(zone: str) -> Any:
    return pa.array([datetime(2024, 1, 2, 3, tzinfo=UTC)] * 3).cast(pa.timestamp("us", zone))


INTERVAL = pa.array([pa.MonthDayNano([1, 2, 3])] * 3)
UNION = pa.UnionArray.from_sparse(
    pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])]
)
COLUMNS: dict[str, Any] = {
    "string_view": pa.array(["a", "b" * 40, None]).cast(pa.string_view()),
    "binary_view": pa.array([b"a", b"\xff" * 40, None]).cast(pa.binary_view()),
    "list of views": pa.array([["a"], [], None], pa.list_(pa.string_view())),
    "struct of views": pa.array([{"a": "x"}] * 3, pa.struct([("a", pa.string_view())])),
    "map of views": pa.array([[("k", "v")]] * 3, pa.map_(pa.string_view(), pa.string_view())),
    "list_view": pa.array([[1], [2, 3], None], pa.list_view(pa.int64())),
    "runs": pa.RunEndEncodedArray.from_arrays([1, 3], ["a", "b"]),
    "dictionary": pa.array(["a", "b", "a"]).dictionary_encode(),
    "dictionary of views": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 0]), pa.array(["a", "b"]).cast(pa.string_view())
    ),
    "interval": INTERVAL,
    "union": UNION,
    "half": pa.array([1.5, None, float("nan")], pa.float16()),
    "duration": pa.array([timedelta(days=900_000)] * 3),
    "decimal256": pa.array([Decimal(10) ** 60] * 3, pa.decimal256(70)),
    "decimal32": pa.array([Decimal("1.5")] * 3).cast(pa.decimal32(5, 1)),
    "far date": pa.array([2**40] * 3, pa.timestamp("s")),
    "nulls": pa.nulls(3),
    "empty struct": pa.array([{}] * 3, pa.struct([])),
    "fixed bytes": pa.array([b"\xff\x00"] * 3, pa.binary(2)),
    **{
        f"zone {zone}": _zoned(zone)
        for zone in ("PST", "Mars/Phobos", "+05:30", "UTC+3", "Europe/Berlin", "MSK", "", "GMT-3")
        if zone
    },
    "bad text": _bad(),
    "bad large text": _bad(pa.large_string()),
    "bad view": _bad(pa.string_view()),
    "bad dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), _bad()),
    "bad list": pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), _bad()),
    "bad struct": pa.StructArray.from_arrays([_bad(), pa.array([1, 2, 3])], ["a", "b"]),
    "bad map": pa.MapArray.from_arrays(
        pa.array([0, 1, 2, 3], pa.int32()), pa.array(["k"] * 3), _bad()
    ),
}

# Columns that Parquet cannot hold
ARROW_ALONE = {
    *("bad dictionary", "dictionary of views", "empty struct", "interval", "runs", "union")
}
RECENT = {"list_view", "decimal32"}  # columns that Parquet holds since a newer pyarrow alone


@pytest.mark.parametrize("end", [".parquet", ".arrow"])
@pytest.mark.parametrize("name", COLUMNS)
def test_another_column_never_ends_a_run(tmp_path: Path, name: str, end: str) -> None:
    table = pa.table({"id": ["a", "b", "c"], "text": TEXTS, "other": COLUMNS[name]})
    path = tmp_path / f"in{end}"
    if end == ".parquet":
        try:
            pq.write_table(table, path)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            assert name in ARROW_ALONE | RECENT
            return
        assert name not in ARROW_ALONE
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    said: list[str] = []
    observer = Observer(note=said.append)
    [entry] = Run([str(path)], tmp_path / "out", load(None), observer=observer).go().entries
    assert (entry.documents, entry.dead) == (3, 0)
    assert entry.mended == ({"other": 1} if name.startswith("bad") else {})
    assert bool(said) == name.startswith("bad")
    for shard in (tmp_path / "out" / "accepted").rglob("*.parquet"):
        found = pq.read_table(shard)
        found.validate(full=True)
        assert found["text"].to_pylist() == TEXTS


def documents(tmp_path: Path, name: str, data: bytes, own: frozenset[str]) -> list[Documents]:
    """The documents of a file, by block."""
    (tmp_path / name).write_bytes(data)
    return [validate(block, Config(), own) for block in read_blocks(str(tmp_path / name))]


@pytest.mark.parametrize(
    ("other", "kept"),
    [
        ("NaN", None),
        ("-Infinity", None),
        ("1e400", None),
        ('"\\ud800 alone"', None),
        ('{"a": [1, NaN], "b": "x"}', {"a": [1, None], "b": "x"}),
        ('["\\udfff", "fine"]', [None, "fine"]),
        (str(LONG), LONG),
        ('{"n": 123456789012345678901234567890, "x": NaN}', {"n": LONG, "x": None}),
    ],
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_a_value_that_no_other_format_has_costs_the_value(
    tmp_path: Path, name: str, other: str, kept: Any
) -> None:
    lines = [f'{{"text": "{text}", "other": {other}}}' for text in TEXTS]
    data = "\n".join(lines) if name == "a.jsonl" else f"[{','.join(lines)}]"
    texts: list[str] = []
    for found in documents(tmp_path, name, data.encode(), frozenset()):
        texts += found.texts
        mended = 0 if other.isdigit() else len(found.texts)
        assert (found.dead, found.mended.total()) == ([], mended)
        for values in found.fields.values():
            text = values.to_pylist()[0]
            assert (json.loads(text) if isinstance(text, str) else text) == kept
    assert texts == TEXTS


@pytest.mark.parametrize("text", ["NaN", '"\\ud800"', "1e400"])
def test_such_a_text_is_a_dead_letter(tmp_path: Path, text: str) -> None:
    data = f'{{"text": {text}, "other": NaN}}'.encode()
    [found] = documents(tmp_path, "a.jsonl", data, frozenset())
    assert dict(found.reasons) == {"not JSON": 1}


@pytest.mark.parametrize(
    ("raw", "identity"),
    [
        ("1.0", "1.0"),
        ("1.5", "1.5"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("-7", "-7"),
        ("NaN", "a.jsonl#0"),
        ("null", "a.jsonl#0"),
        ('"x"', "x"),
    ],
)
def test_numbers_are_ids_as_they_are_written(tmp_path: Path, raw: str, identity: str) -> None:
    [found] = documents(tmp_path, "a.jsonl", f'{{"text": "a", "id": {raw}}}'.encode(), frozenset())
    assert (found.ids, found.dead) == ([identity], [])


MADE = UUID(int=0xFFEEDDCCBBAA99887766554433221100)


@pytest.mark.parametrize(
    ("values", "identity"),
    [
        (pa.array([MADE.bytes], pa.uuid()), str(MADE)),
        (pa.array([MADE.bytes], pa.binary(16)), str(MADE)),
        (pa.array([1.0]), "1.0"),
        (pa.array([Decimal(10) ** 29], pa.decimal128(38)), "1" + "0" * 29),
        (pa.array([2**64 - 1], pa.uint64()), str(2**64 - 1)),
        (pa.array(["x"]).cast(pa.string_view()), "x"),
        (pa.array([float("nan")]), "a.parquet#0"),
    ],
)
def test_ids_of_rows(tmp_path: Path, values: Any, identity: str) -> None:
    pq.write_table(pa.table({"id": values, "text": ["a"]}), tmp_path / "a.parquet")
    [block] = read_blocks(str(tmp_path / "a.parquet"))
    found = validate(block, Config(), frozenset())
    assert (found.ids, found.dead) == ([identity], [])


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a.csv"])
def test_a_field_of_a_computed_columns_name_is_kept_under_another(
    tmp_path: Path, name: str
) -> None:
    row = {"text": "a", "weight": "3", "input_weight": "4"}
    path = tmp_path / name
    if name == "a.parquet":
        pq.write_table(pa.Table.from_pylist([row]), path)
    elif name == "a.csv":
        path.write_text("text,weight,input_weight\na,3,4\n")
    else:
        path.write_text(json.dumps(row))
    [found] = documents(tmp_path, name, path.read_bytes(), frozenset({"weight"}))
    kept = {field.name: values.to_pylist() for field, values in found.fields.items()}
    assert kept == {"input_weight": ["4"], "input_input_weight": ["3"]}
    assert found.replaced == {"weight": 1}


def test_an_arrow_file_with_places_outside_of_its_bytes_is_a_fault(tmp_path: Path) -> None:
    offsets = pa.array([0, 1, 1000, 3], pa.int32()).buffers()[1]
    broken = pa.Array.from_buffers(pa.string(), 3, [None, offsets, pa.py_buffer(b"abc")])
    batch = pa.record_batch([pa.array(TEXTS), broken], ["text", "other"])
    with pa.ipc.new_stream(tmp_path / "a.arrow", batch.schema) as writer:
        writer.write_batch(batch)
    [block] = read_blocks(str(tmp_path / "a.arrow"))
    assert "broken values" in (block.fault or "")
