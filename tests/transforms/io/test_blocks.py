"""Files are read in blocks: all records, in order, and a fault where a file breaks off."""

import gzip
import os
import sys
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.io import blocks, files
from evenflow.transforms.io.blocks import Block, FileReader, join_files, position, read_blocks

LINES = [b'{"id":"%d","text":"%s"}' % (i, b"word " * (i % 50)) for i in range(9000)]
PLAIN = b"\n".join(LINES) + b"\n"


def zstd(data: bytes) -> bytes:
    """Compress bytes as one Zstandard frame."""
    return zstandard.ZstdCompressor().compress(data)


def records(path: Path) -> list[bytes]:
    """Read all raw records of a file."""
    return [raw for block in read_blocks(str(path)) for raw in block.records]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", PLAIN),
        ("a.jsonl", PLAIN[:-1]),
        ("a.jsonl.gz", gzip.compress(PLAIN)),
        (
            "members.jsonl.gz",
            gzip.compress(PLAIN[:5000]) + gzip.compress(PLAIN[5000:]) + b"\0" * 100,
        ),
        ("a.jsonl.zst", zstd(PLAIN)),
        ("frames.jsonl.zst", zstd(PLAIN[:5000]) + zstd(PLAIN[5000:])),
    ],
)
def test_every_line_is_a_record(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    found = list(read_blocks(str(path)))
    assert [raw for block in found for raw in block.records] == LINES
    assert all(before.first + before.size == after.first for before, after in pairwise(found))
    assert found[-1].stored == len(data)
    assert not any(block.fault for block in found)


@pytest.mark.parametrize("name", ["empty.jsonl", "empty.jsonl.gz", "empty.jsonl.zst"])
def test_an_empty_file_has_no_record(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert list(read_blocks(str(tmp_path / name))) == []


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.jsonl.gz", gzip.compress(PLAIN)[:-900], "cut off"),
        ("a.jsonl.zst", zstd(PLAIN)[:-900], "Truncated"),
        ("a.jsonl.gz", b"hello", "incorrect header"),
        ("a.jsonl.zst", b"hello", "frame"),
        ("a.parquet", b"PAR1 and no more", "Parquet"),
    ],
)
def test_broken_data_end_with_a_fault(tmp_path: Path, name: str, data: bytes, reason: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    *good, last = read_blocks(str(path))
    read = [raw for block in [*good, last] for raw in block.records]
    assert last.fault is not None and reason in last.fault
    assert last.last == len(read)
    # All whole lines before the fault are there. The piece of a line that follows is a record too;
    # it is not JSON.
    assert read[:-1] == LINES[: max(len(read) - 1, 0)]


def test_the_frames_before_a_broken_one_are_read(tmp_path: Path) -> None:
    frames = [zstd(b"\n".join(LINES[at : at + 1000]) + b"\n") for at in range(0, 9000, 1000)]
    frames[7] = frames[7][:40] + bytes(len(frames[7]) - 40)
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(b"".join(frames))
    *_, last = found = list(read_blocks(str(path)))
    assert [raw for block in found for raw in block.records] == LINES[:7000]
    assert last.fault is not None and last.first == 7000


def test_a_cut_off_row_group_is_a_fault_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    with pq.ParquetWriter(path, pa.schema([("text", pa.string())]), compression="none") as writer:
        for part in range(3):
            writer.write_table(
                pa.table({"text": [f"{part} {i} some words" * 20 for i in range(1000)]})
            )
    raw = bytearray(path.read_bytes())
    begin = pq.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    raw[begin : begin + 4000] = b"\xff" * 4000
    path.write_bytes(raw)
    *good, last = read_blocks(str(path))
    assert sum(block.size for block in good) >= 1000
    assert last.fault is not None


def test_a_line_longer_than_memory_allows_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "RECORD_BYTES", 5 << 20)
    path = tmp_path / "a.jsonl"
    long = b"x" * (9 << 20)
    path.write_bytes(b"\n".join([b"a", long, b"b", b"c", long]))
    found = list(read_blocks(str(path)))
    read = [(raw, block.cut.get(i)) for block in found for i, raw in enumerate(block.records)]
    beginning = (long[: blocks.KEPT_BYTES], len(long))
    assert read == [(b"a", None), beginning, (b"b", None), (b"c", None), beginning]
    offsets = [block.offset for block in found]
    data = path.read_bytes()
    assert [data[offset : offset + 1] for offset in offsets if offset is not None] == [
        block.records[0][:1] for block in found
    ]


@given(
    st.lists(st.tuples(st.integers(0, 8999), st.integers(0, 3000)), min_size=1, max_size=4),
    st.booleans(),
)
def test_segments_are_those_records_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, asked, hinted: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "segments.jsonl"
    if not path.exists():
        path.write_bytes(PLAIN)
    reader = FileReader()
    for first, size in asked:
        last = min(first + size, len(LINES) - 1)
        hint = sum(map(len, LINES[:first])) + first if hinted else None
        found = list(reader.segment(str(path), first, last, hint))
        assert [raw for block in found for raw in block.records] == LINES[first : last + 1]
        assert found[0].first == first and found[-1].last == last


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ([("id", pa.string()), ("text", pa.string()), ("text", pa.string())], "text"),
        (
            [
                ("text", pa.string()),
                ("more", pa.list_(pa.struct([("a", pa.int64()), ("a", pa.int64())]))),
            ],
            "a",
        ),
    ],
)
def test_two_columns_of_one_name_are_a_fault(tmp_path: Path, schema: list, name: str) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.schema(schema).empty_table(), path)
    [block] = read_blocks(str(path))
    assert block.size == 0 and f"two columns are called {name!r}" in (block.fault or "")


def test_rows_that_need_much_memory_are_read_in_smaller_tables(tmp_path: Path) -> None:
    """A value of 1 MB that is kept once and stands in 120 rows, some small rows before it."""
    path = tmp_path / "a.parquet"
    texts = [f"small {i}" for i in range(50)] + ["x" * 1_000_000] * 120
    pq.write_table(
        pa.table({"id": [str(i) for i in range(170)], "text": texts}), path, compression="zstd"
    )
    found = [block.rows for block in read_blocks(str(path)) if block.rows is not None]
    assert all(rows.num_rows == 1 or rows.nbytes <= blocks.BLOCK_BYTES for rows in found)
    assert [each for rows in found for each in rows["id"].to_pylist()] == [
        str(i) for i in range(170)
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux'")
def test_a_row_that_needs_too_much_memory_ends_the_file_with_a_fault(tmp_path: Path) -> None:
    """A list with a value of 1 MB, kept once, two hundred times."""
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"text": ["She saw him."], "more": [["x" * 1_000_000] * 200]}),
        path,
        compression="zstd",
    )
    [block] = read_blocks(str(path))
    assert block.size == 0 and "needs more than 48 MiB of memory" in (block.fault or "")


@pytest.mark.skipif(sys.platform != "linux", reason="its file names are bytes")
def test_a_name_that_is_not_utf_8_is_shown_as_one_that_is(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.jsonl")).write_bytes(PLAIN)
    [name] = files.match([str(tmp_path)])
    assert {block.file for block in read_blocks(name)} == {f"{tmp_path}/caf\\xe9.jsonl"}


def test_texts_are_read_together_up_to_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_RECORDS", 3)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 10)
    line = Block("m.jsonl", 0, [b"{}"], 2)
    texts = [
        Block(f"{i}.txt", 0, [b"x" * size], size) for i, size in enumerate((1, 1, 1, 1, 9, 2, 2))
    ]
    cut = Block("cut.txt", 0, [b"x"], 1, cut={0: 99})
    found = list(join_files([line, *texts, line, cut]))
    assert [each.size for each in found] == [1, 3, 2, 2, 1, 1]
    assert (found[0], found[4], found[5]) == (line, line, cut)
    assert [position(found[1].file, place) for place in range(3)] == [
        (f"{i}.txt", 0) for i in range(3)
    ]
    assert position("m.jsonl", 7) == ("m.jsonl", 7)
