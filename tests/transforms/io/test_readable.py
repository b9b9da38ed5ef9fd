"""The table of formats: what libraries write in each reads as the same documents."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
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


def _rows(texts: list[str]) -> list[dict[str, Any]]:
    return [
        {"id": f"d{i}", "text": text, "n": i, "meta": "x,y" if i % 2 else "z"}
        for i, text in enumerate(texts)
    ]


def _csv(path: Path, rows: Any, quoting: Any = csv.QUOTE_MINIMAL, end: str = "\r\n") -> None:
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, delimiter=BY[path.suffix], quoting=quoting, lineterminator=end)
        writer.writerows([list(rows[0]), *map(dict.values, rows)])


def _pandas_csv(path: Path, rows: Any) -> None:
    # With "\\n" alone it has no quotes around a field with a carriage return
    FRAME(rows).to_csv(path, index=False, sep=BY[path.suffix], lineterminator="\r\n")


def _ipc(path: Path, rows: Any, make: Any, most: int) -> None:
    with make(path, (table := TABLE(rows)).schema) as writer:
        writer.write_table(table, max_chunksize=most)


def _through_arrow(data: bytes, codec: str) -> bytes:
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, codec) as stream:
        stream.write(data)
    return out.getvalue().to_pybytes()


def _lines(rows: Any, **options: Any) -> bytes:
    return "".join(json.dumps(row, **options) + "\n" for row in rows).encode()


def _polars(rows: Any) -> Any:
    return import_module("polars").DataFrame(rows)


def _duckdb(path: Path, rows: Any, options: str) -> None:
    made = import_module("duckdb").from_arrow(TABLE(rows))
    made.query("made", f"COPY made TO '{path}' ({options})")


ROWS = _rows(TEXTS * 3)
LINES = _lines(ROWS)
BY = {".csv": ",", ".tsv": "\t"}
OPTIONS: Callable[..., Any] = pacsv.WriteOptions
TABLE: Callable[[Any], Any] = pa.Table.from_pylist
FRAME: Callable[[Any], Any] = pd.DataFrame
MARK = "\ufeff".encode()
# Who writes a file, how its name ends, and what writes rows to a path
WRITERS: list[tuple[str, str, Callable[[Path, Any], object]]] = [
    *(
        ("lines", end, lambda path, rows: path.write_bytes(_lines(rows)))
        for end in (".jsonl", ".ndjson", ".jl", ".json")
    ),
    ("a mark", ".jsonl", lambda p, rows: p.write_bytes(MARK + _lines(rows, ensure_ascii=False))),
    ("no last break", ".jsonl", lambda path, rows: path.write_bytes(_lines(rows)[:-1])),
    ("pandas", ".jsonl", lambda p, rows: FRAME(rows).to_json(p, orient="records", lines=True)),
    ("polars", ".jsonl", lambda path, rows: _polars(rows).write_ndjson(path)),
    ("duckdb", ".ndjson", lambda path, rows: _duckdb(path, rows, "FORMAT json")),
    ("pandas", ".json", lambda path, rows: FRAME(rows).to_json(path, orient="records")),
    ("polars", ".json", lambda path, rows: _polars(rows).write_json(path)),
    ("duckdb", ".json", lambda path, rows: _duckdb(path, rows, "FORMAT json, ARRAY true")),
    ("array", ".json", lambda path, rows: path.write_bytes(json.dumps(rows).encode())),
    ("marked array", ".json", lambda p, rows: p.write_bytes(MARK + json.dumps(rows).encode())),
    ("indented", ".json", lambda p, rows: p.write_bytes(json.dumps(rows, indent=2).encode())),
    ("jq", ".json", lambda path, rows: path.write_bytes(_lines(rows, indent=4))),
    *(
        (who, end, write)
        for end in BY
        for who, write in (
            ("python", _csv),
            ("python, quoted", lambda p, rows: _csv(p, rows, csv.QUOTE_ALL, "\n")),
            ("pandas", _pandas_csv),
            ("pyarrow", lambda p, r: pacsv.write_csv(TABLE(r), p, OPTIONS(delimiter=BY[p.suffix]))),
            ("polars", lambda p, rows: _polars(rows).write_csv(p, separator=BY[p.suffix])),
            ("duckdb", lambda p, rows: _duckdb(p, rows, f"DELIMITER '{BY[p.suffix]}'")),
        )
    ),
    ("pyarrow", ".parquet", lambda p, rows: pq.write_table(TABLE(rows), p, row_group_size=5)),
    ("pandas", ".parquet", lambda path, rows: FRAME(rows).to_parquet(path)),
    ("polars", ".parquet", lambda path, rows: _polars(rows).write_parquet(path)),
    ("duckdb", ".parquet", lambda path, rows: _duckdb(path, rows, "FORMAT parquet")),
    ("a file", ".arrow", lambda path, rows: _ipc(path, rows, pa.ipc.new_file, 4)),
    ("a stream", ".arrow", lambda path, rows: _ipc(path, rows, pa.ipc.new_stream, 4)),
    ("polars", ".arrow", lambda path, rows: _polars(rows).write_ipc(path)),
    ("polars, zstd", ".arrow", lambda p, rows: _polars(rows).write_ipc(p, compression="zstd")),
    ("pandas", ".feather", lambda path, rows: FRAME(rows).to_feather(path)),
    ("zstd", ".feather", lambda p, r: feather.write_feather(TABLE(r), p, compression="zstd")),
]
MAY_LACK = ("polars", "duckdb")  # writers that are tried where they are installed
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
    ".lz4": lambda data: _through_arrow(data, "lz4"),
}
CASES = [
    pytest.param(end, write, packed, id=f"{who}{end}{packed}")
    for who, end, write in WRITERS
    for packed in PACKED
    if end + packed in formats.FORMATS and (who[:6] not in MAY_LACK or find_spec(who[:6]))
]
# Characters that formats write in their own ways, and any others
CHARACTERS = st.sampled_from("a ,\t\n\r\"'\\{}[]\ufeff") | st.characters(exclude_categories=["Cs"])
DRAWN = st.text(CHARACTERS, max_size=20).filter(lambda text: text.strip() != "")


def documents(name: str, **options: Any) -> list[tuple[str, str]]:
    """The ids and texts of a file, all of which must be documents."""
    found: list[tuple[str, str]] = []
    for block in read_blocks(name, **options):
        own = validate(block, Config(), frozenset())
        assert not own.dead, own.dead
        found += zip(own.ids, own.texts, strict=True)
    return found


@pytest.mark.parametrize(("end", "write", "packed"), CASES)
@settings(max_examples=8, deadline=None)
@given(texts=st.lists(DRAWN, min_size=3, max_size=20))
@example(texts=TEXTS * 3)
def test_what_a_library_writes_reads_as_the_same_documents(
    tmp_path_factory: pytest.TempPathFactory,
    end: str,
    write: Callable[[Path, Any], object],
    packed: str,
    texts: list[str],
) -> None:
    folder, rows = tmp_path_factory.mktemp("written"), _rows(texts)
    write(folder / f"a{end}", rows)
    data = PACKED[packed]((folder / f"a{end}").read_bytes())
    name = end + packed
    path = folder / f"Part-0{name.upper() if len(data) % 2 else name}"
    path.write_bytes(data)
    expected = [(row["id"], row["text"]) for row in rows]
    assert documents(str(path)) == expected
    # A pane that begins anywhere reads the same records, from the place that the scan found
    pieces = list(scan(FilePart(str(path), len(data))))
    assert sum(len(piece.lengths) for piece in pieces) >= len(rows)
    assert not any(piece.fault for piece in pieces)
    lengths = [(piece, at) for piece in pieces for at in range(len(piece.lengths))]
    for first in (1, len(rows) - 2):
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
        '5" by 7" prints,1',
        ' "not quoted",1',
    ],
)
def test_a_quote_within_a_field_of_csv_is_a_character(row: str) -> None:
    data = f"text,n\n{row}\nShe saw him,2\n".encode()
    assert _cut(CsvLines(), data, 7)[1:3] == [row.encode(), b"She saw him,2"]
