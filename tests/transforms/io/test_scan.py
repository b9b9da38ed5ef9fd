"""Scanning files part by part finds the records that reading them finds."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.io import blocks
from evenflow.transforms.io.blocks import FileReader, read_blocks
from evenflow.transforms.io.scan import FilePart, Scanned, pack, scan, split, unpack


def records(path: Path) -> tuple[list[int], list[int | None], bool]:
    """Weights, bytes and fault of a file's records, by reading them."""
    weights: list[int] = []
    begins: list[int | None] = []
    fault = False
    for block in read_blocks(str(path)):
        weights += block.weights()
        begins += [block.byte(index) for index in range(block.size)]
        fault |= block.fault is not None
    return weights, begins, fault


def joined(found: list[Scanned]) -> tuple[list[int], list[int | None], bool]:
    """The same from its scanned parts."""
    weights: list[int] = []
    begins: list[int | None] = []
    for each in found:
        weights += each.weights().tolist()
        begins += [each.start(index)[0] for index in range(len(each.lengths))]
        if each.fault:
            return weights, begins, True
    return weights, begins, False


def scanned(parts: Iterable[FilePart]) -> list[Scanned]:
    return [each for part in parts for each in scan(part)]


@given(st.binary(max_size=400), st.integers(1, 60))
def test_parts_of_json_lines_hold_each_record_once(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, most: int
) -> None:
    path = tmp_path_factory.mktemp("scan") / "a.jsonl"
    path.write_bytes(bytes(b"\n\n\nx"[each % 4] for each in noise))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", 16)
        parts = list(split(str(path), path.stat().st_size, most))
        found = list(unpack(pack(scanned(parts))))
    assert joined(found) == records(path)
    assert sum(part.stored for part in parts) == path.stat().st_size


def test_a_record_is_cut_by_its_length_wherever_reading_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Around the limit, at each place of the record in the chunks that are read."""
    for module in ("blocks", "scan"):
        monkeypatch.setattr(f"evenflow.transforms.io.{module}.RECORD_BYTES", 100)
        monkeypatch.setattr(f"evenflow.transforms.io.{module}.KEPT_BYTES", 20)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 32)
    path = tmp_path / "a.jsonl"
    for before in range(33):
        for length in (99, 100, 101, 131, 160):
            path.write_bytes(b"y" * before + b"\n" + b"x" * length + b"\nz")
            weights, begins, _ = records(path)
            assert weights == [before, length if length <= 100 else 20, 1]
            assert begins == [0, before + 1, before + length + 2]
            found = scanned(split(str(path), path.stat().st_size, 50))
            assert joined(found) == (weights, begins, False)


def test_parts_of_parquet_are_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 300)
    path = tmp_path / "a.parquet"
    table = pa.table({"text": ["She " * (1 + row * 7 % 40) for row in range(90)]})
    pq.write_table(table, path, row_group_size=11)
    size = path.stat().st_size
    whole = records(path)
    for parts in (1, 2, 3, 20):
        shares = list(split(str(path), size, -(-size // parts)))
        assert len(shares) == parts
        assert joined(scanned(shares)) == whole
    # A reader of the middle begins at its row group
    [first, *_] = read_blocks(str(path), 50)
    assert first.first == 44
    assert sum(block.size for block in read_blocks(str(path), 50)) == 90 - 44
    path.write_bytes(path.read_bytes()[: size // 2] + bytes(9) + path.read_bytes()[size // 2 + 9 :])
    broken = records(path)
    assert broken[2]
    assert joined(scanned(split(str(path), size, -(-size // 8)))) == broken


def test_a_file_that_breaks_off_and_a_text(tmp_path: Path) -> None:
    data = gzip.compress(b"".join(json.dumps({"n": n}).encode() + b"\n" for n in range(9999)))
    (tmp_path / "a.jsonl.gz").write_bytes(data[: len(data) // 2])
    (tmp_path / "b.txt").write_bytes(b"She.")
    for name in ("a.jsonl.gz", "b.txt"):
        path = tmp_path / name
        [part] = split(str(path), path.stat().st_size, 1)
        assert joined(list(scan(part))) == records(path)
    assert records(tmp_path / "a.jsonl.gz")[2]


SKIPPABLE = b"\x50\x2a\x4d\x18\x02\x00\x00\x00ab"  # holds what is no text, such as an index


def in_frames(suffix: str, text: bytes, cuts: Iterable[int]) -> tuple[bytes, list[int]]:
    """A text compressed in frames that end anywhere, and where these begin."""
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    one = (
        gzip.compress if suffix == ".gz" else zstandard.ZstdCompressor(write_checksum=True).compress
    )
    data, begins = b"", list[int]()
    for begin, end in pairwise(edges):
        data += SKIPPABLE if suffix == ".zst" and begin % 2 else b""
        begins.append(len(data))
        data += one(text[begin:end])
    return data, begins


@given(
    st.sampled_from([".gz", ".zst"]),
    st.lists(st.integers(0, 30), min_size=1, max_size=40),
    st.lists(st.integers(1, 600), max_size=9),
    st.integers(4, 90),
)
def test_any_record_of_a_compressed_file_is_read_from_a_frame_before_it(
    tmp_path_factory: pytest.TempPathFactory,
    suffix: str,
    lengths: list[int],
    cuts: list[int],
    most: int,
) -> None:
    """What lies before the frame is not read: it is overwritten."""
    lines = [b"%d" % number + b"x" * length for number, length in enumerate(lengths)]
    data, begins = in_frames(suffix, b"\n".join(lines), cuts)
    path = tmp_path_factory.mktemp("frames") / f"a.jsonl{suffix}"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", most)
        starts = [
            piece.start(index)
            for piece in unpack(pack(scanned(split(str(path), len(data), 1))))
            for index in range(len(piece.lengths))
        ]
        assert len(starts) == len(lines)
        for number, (offset, skip) in reversed([*enumerate(starts)]):
            path.write_bytes(bytes(offset or 0) + data[offset or 0 :])
            segment = FileReader().segment(str(path), number, len(lines), offset, skip)
            assert [raw for block in segment for raw in block.records] == lines[number:]
        for number, (offset, skip) in enumerate(starts):
            assert offset is None or (offset in begins or offset + len(SKIPPABLE) in begins)
            before = len(b"\n".join(lines[:number]))
            assert offset is None or skip <= before


def test_a_reader_leaps_over_frames_but_not_within_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 64)
    lines = [b"line %04d" % number for number in range(4000)]
    data, begins = in_frames(".zst", b"\n".join(lines), range(0, 40_000, 20_000))
    assert len(begins) == 2
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(data)
    starts = [
        piece.start(index)
        for piece in scanned(split(str(path), len(data), 1))
        for index in range(len(piece.lengths))
    ]
    opened = list[int]()
    monkeypatch.setattr(
        blocks,
        "read_blocks",
        lambda file, first, *where, **skip: (
            opened.append(first) or read_blocks(file, first, *where, **skip)
        ),
    )
    reader = FileReader()
    for first in (10, 500, 900, 3000, 3500):
        [block] = reader.segment(str(path), first, first, *starts[first])
        assert block.records == [lines[first]]
    assert opened == [10, 3000]
