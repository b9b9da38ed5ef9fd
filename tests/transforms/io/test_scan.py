"""Scanning files part by part finds the records that reading them finds."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.io import blocks
from evenflow.transforms.io.blocks import read_blocks
from evenflow.transforms.io.scan import Part, Scanned, pack, scan, split, unpack


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
        begins += [each.byte(index) for index in range(len(each.lengths))]
        if each.fault:
            return weights, begins, True
    return weights, begins, False


def scanned(parts: Iterable[Part]) -> list[Scanned]:
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
