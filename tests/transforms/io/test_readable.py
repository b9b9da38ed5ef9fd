"""The table of formats: what libraries write in each reads as the same documents."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.schemas.config import Config
from evenflow.transforms.io import formats
from evenflow.transforms.io.blocks import FileReader, read_blocks
from evenflow.transforms.io.lines import CsvLines, JsonLines, PlainLines, element
from evenflow.transforms.io.records import validate
from evenflow.transforms.io.scan import FilePart, scan

TEXTS = [
    "He is 6'2\" tall",
    '"Yes," she said, "no"',
    "two\nlines, one\ttab",
    'a \\ and \\\\ and \\" {[',
    "Ünïcode — 漢字 😀 ]}",
    "plain",
    ' a quote at the end"',
]
ROWS = [
    {"id": f"d{i}", "text": text, "n": i, "meta": "x,y" if i % 2 else "z"}
    for i, text in enumerate(TEXTS * 3)
]
FRAME = pd.DataFrame(ROWS)
TABLE = pa.Table.from_pylist(ROWS)


def _csv(delimiter: str, quoting: Any = csv.QUOTE_MINIMAL, end: str = "\r\n") -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(
        out, list(ROWS[0]), delimiter=delimiter, quoting=quoting, lineterminator=end
    )
    writer.writeheader()
    writer.writerows(ROWS)
    return out.getvalue().encode()


def _pacsv(delimiter: str) -> bytes:
    out = io.BytesIO()
    pacsv.write_csv(TABLE, out, pacsv.WriteOptions(delimiter=delimiter))
    return out.getvalue()


def _table(write: Callable[[Any], object]) -> bytes:
    out = io.BytesIO()
    write(out)
    return out.getvalue()


def _ipc(make: Any, rows: int) -> bytes:
    out = io.BytesIO()
    with make(out, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=rows)
    return out.getvalue()


def _through_arrow(data: bytes, codec: str) -> bytes:
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, codec) as stream:
        stream.write(data)
    return out.getvalue().to_pybytes()


LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
RAW_LINES = "\n".join(json.dumps(row, ensure_ascii=False) for row in ROWS).encode()
WRITTEN: list[tuple[str, str, bytes]] = [
    *((f"python {end}", end, LINES) for end in (".jsonl", ".ndjson", ".jl", ".json")),
    ("no last line break", ".jsonl", RAW_LINES),
    ("pandas lines", ".jsonl", str(FRAME.to_json(orient="records", lines=True)).encode()),
    ("pandas records", ".json", str(FRAME.to_json(orient="records")).encode()),
    ("an array", ".json", json.dumps(ROWS).encode()),
    ("a tight array", ".json", json.dumps(ROWS, separators=(",", ":")).encode()),
    ("an indented array", ".json", json.dumps(ROWS, indent=2, ensure_ascii=False).encode()),
    ("an array and a byte order mark", ".json", b"\xef\xbb\xbf" + json.dumps(ROWS).encode()),
    ("a line a value", ".json", b"[\n" + b",\n".join(LINES.split(b"\n")[:-1]) + b"\n]\n"),
    ("jq", ".json", "\n".join(json.dumps(row, indent=4) for row in ROWS).encode()),
    ("python", ".csv", _csv(",")),
    ("python, every field in quotes", ".csv", _csv(",", csv.QUOTE_ALL, "\n")),
    ("python", ".tsv", _csv("\t")),
    ("pandas", ".csv", FRAME.to_csv(index=False).encode()),
    ("pandas", ".tsv", FRAME.to_csv(index=False, sep="\t").encode()),
    ("pyarrow", ".csv", _pacsv(",")),
    ("pyarrow", ".tsv", _pacsv("\t")),
    ("pyarrow", ".parquet", _table(lambda out: pq.write_table(TABLE, out, row_group_size=5))),
    ("pandas", ".parquet", _table(FRAME.to_parquet)),
    ("a file", ".arrow", _ipc(pa.ipc.new_file, 4)),
    ("a stream, as datasets writes", ".arrow", _ipc(pa.ipc.new_stream, 4)),
    ("pandas", ".feather", _table(FRAME.to_feather)),
    (
        "pyarrow, zstd",
        ".feather",
        _table(lambda out: feather.write_feather(TABLE, out, compression="zstd")),
    ),
    ("a file", ".feather", _ipc(pa.ipc.new_file, 1000)),
]
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    ".lz4": lambda data: _through_arrow(data, "lz4"),
}
CASES = [
    (f"{who}{end}", end + packed, (who, end, packed), pack(data))
    for who, end, data in WRITTEN
    for packed, pack in PACKED.items()
    if end + packed in formats.FORMATS
]


def documents(name: str, **options: Any) -> list[tuple[str, str]]:
    """The ids and texts of a file, all of which must be documents."""
    found: list[tuple[str, str]] = []
    for block in read_blocks(name, **options):
        own = validate(block, Config(), frozenset())
        assert not own.dead, own.dead
        found += zip(own.ids, own.texts, strict=True)
    return found


@pytest.mark.parametrize(
    ("name", "end", "what", "data"), CASES, ids=[case[0] + case[1] for case in CASES]
)
def test_what_a_library_writes_reads_as_the_same_documents(
    tmp_path: Path, name: str, end: str, what: object, data: bytes
) -> None:
    path = tmp_path / f"Part-0{end.upper() if len(data) % 2 else end}"
    path.write_bytes(data)
    expected = [(row["id"], row["text"]) for row in ROWS]
    assert documents(str(path)) == expected
    # A pane that begins anywhere reads the same records, from the place that the scan found
    pieces = list(scan(FilePart(str(path), len(data))))
    assert sum(len(piece.lengths) for piece in pieces) >= len(ROWS)
    assert not any(piece.fault for piece in pieces)
    lengths = [(piece, at) for piece in pieces for at in range(len(piece.lengths))]
    for first in (1, len(ROWS) - 2):
        piece, at = lengths[first]
        offset, skip = piece.start(at)
        blocks = FileReader().segment(str(path), first, first + 1, offset, skip)
        found = [each for block in blocks for each in validate(block, Config(), frozenset()).texts]
        assert found == [text for _, text in expected[first : first + 2]]


@pytest.mark.parametrize("end", [each for each in PACKED if each])
def test_streams_that_follow_each_other_are_one_file_and_a_cut_is_a_fault(
    tmp_path: Path, end: str
) -> None:
    half = LINES.index(b"\n", len(LINES) // 2) + 1
    data = PACKED[end](LINES[:half]) + PACKED[end](LINES[half:])
    path = tmp_path / f"a.jsonl{end}"
    path.write_bytes(data)
    assert documents(str(path)) == [(row["id"], row["text"]) for row in ROWS]
    path.write_bytes(data[:-9])
    blocks = list(read_blocks(str(path)))
    assert blocks[-1].fault is not None
    assert sum(block.size for block in blocks) >= LINES[:half].count(b"\n")
    assert any(piece.fault for piece in scan(FilePart(str(path), len(data) - 9)))


@pytest.mark.parametrize("end", [".json", ".json.gz"])
def test_an_array_that_is_cut_off_is_a_fault(tmp_path: Path, end: str) -> None:
    path = tmp_path / f"a{end}"
    data = json.dumps(ROWS).encode()
    for cut in (data[:-1], data[:-20]):
        path.write_bytes(PACKED[end.removeprefix(".json")](cut))
        blocks = list(read_blocks(str(path)))
        assert (blocks[-1].fault or "").endswith("the file lacks the end of a list or an object")
        assert sum(block.size for block in blocks) == len(ROWS)


@pytest.mark.parametrize("data", [b"", b"[]", b" [ ] \n", b"\n"])
def test_an_array_of_nothing_has_no_documents(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.json").write_bytes(data)
    assert documents(str(tmp_path / "a.json")) == []


def test_text_files_are_read_from_any_compression(tmp_path: Path) -> None:
    for end, pack in PACKED.items():
        (tmp_path / f"a.txt{end}").write_bytes(pack(b"She saw him."))
        assert documents(str(tmp_path / f"a.txt{end}")) == [(f"a.txt{end}#0", "She saw him.")]


TEXT = st.text('ab"\\,\n\t[]{}é', max_size=12)
VALUE = st.recursive(TEXT | st.integers() | st.none(), lambda each: st.lists(each, max_size=3))
OBJECTS = st.lists(st.dictionaries(TEXT, VALUE, max_size=3), min_size=1, max_size=5)


@given(OBJECTS, st.sampled_from([None, 1]), st.integers(1, 9))
def test_an_array_is_cut_into_its_values_whatever_the_chunks_are(
    values: list[dict[str, Any]], indent: int | None, size: int
) -> None:
    data = json.dumps(values, indent=indent).encode()
    found = [element(raw, at == 0) for at, raw in enumerate(_cut(JsonLines(), data, size))]
    assert [json.loads(each) for each in found] == values


@given(st.lists(st.lists(TEXT, min_size=2, max_size=3), min_size=1, max_size=4), st.integers(1, 9))
def test_csv_is_cut_into_its_rows_whatever_the_chunks_are(rows: list[list[str]], size: int) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    found = [
        next(csv.reader([each.decode()]))
        for each in _cut(CsvLines(), out.getvalue().encode(), size)[:-1]
    ]
    assert found == rows


def _cut(lines: PlainLines, data: bytes, size: int) -> list[bytes]:
    """Cut bytes that come in chunks into lines."""
    parts = [b""]
    for at in range(0, len(data), size):
        first, *others = lines.split(data[at : at + size])
        parts[-1] += first
        parts += others
    return parts


@pytest.mark.parametrize(
    "row",
    [
        "He is 6'2\" tall,1",
        'a 3.5" disk,"a ""quoted"" part, and a comma"',
        'x"y"z,2',
        '5" by 7" prints,1',
        ' "not quoted",1',
    ],
)
def test_a_quote_within_a_field_of_csv_is_a_character(row: str) -> None:
    data = f"text,n\n{row}\nShe saw him,2\n".encode()
    assert _cut(CsvLines(), data, 7)[1:3] == [row.encode(), b"She saw him,2"]
