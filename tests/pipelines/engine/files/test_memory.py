"""Small files that hold gigabytes, and large records, do not use up the memory.

The run stays below a bound, reports what it left out, and keeps the rest.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from evenflow.gates.ledger.files import read_entries

MOST_MIB = 700
GOOD = json.dumps({"id": "good", "text": "She saw him."}).encode()
# 9.6 million characters, of four bytes each in memory
LONG = "Он ушёл 😀. She left. ".encode() * 480_000
ZEROS = bytes(1 << 20)


def _zst(path: Path) -> None:
    """2 GiB of zeros in one line, after a good one: 65 KB."""
    with zstandard.ZstdCompressor().stream_writer(path.open("wb")) as out:
        out.write(GOOD + b"\n")
        for _ in range(2048):
            out.write(ZEROS)


def _gz(path: Path) -> None:
    with gzip.open(path, "wb") as out:
        out.write(GOOD + b"\n")
        for _ in range(512):
            out.write(ZEROS)


def _line(value: Callable[[], bytes]) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(GOOD + b"\n" + value() + b"\n") and None


LARGE, MANY = 31 << 20, 20  # a record's bytes, just below the limit of what is held of one


def _large(out: BinaryIO) -> None:
    """Records whose texts are over the limit of a text."""
    out.write(GOOD + b"\n")
    for _ in range(MANY):
        out.write(b'{"id": "large", "text": "' + b"She left. " * (LARGE // 10) + b'"}\n')


def _large_zst(path: Path) -> None:
    with path.open("wb") as raw, zstandard.ZstdCompressor().stream_writer(raw) as out:
        _large(out)


def _large_gz(path: Path) -> None:
    """As members of one record each."""
    with path.open("wb") as raw:
        raw.write(gzip.compress(GOOD + b"\n"))
        record = b'{"id": "large", "text": "' + b"She left. " * (LARGE // 10) + b'"}\n'
        raw.write(gzip.compress(record) * MANY)


def _half_csv(path: Path) -> None:
    """A quote that never ends: the record is half, and waits."""
    path.write_bytes(b'id,text\ngood,She saw him.\nhalf,"' + b"She left.\n" * (10 << 20) + b"She")


def _shared(kind: pa.DataType, nested: bool = False) -> Callable[[Path], None]:
    """A few kilobytes of Parquet: a text of a megabyte that 400 rows share."""

    def make(path: Path) -> None:
        rows = pa.array([0] * 400, pa.int32())
        texts = pa.DictionaryArray.from_arrays(rows, pa.array(["a" * 1_000_000]))
        if kind != SHARED:
            texts = texts.cast(pa.string()).cast(kind)
        lists = pa.ListArray.from_arrays(pa.array(range(401), pa.int32()), texts)
        table = {"text": ["a"] * 400, "more": lists} if nested else {"text": texts}
        pq.write_table(pa.table(table), path, compression="zstd")
        assert path.stat().st_size < 40_000

    return make


def _names(lines: int, names: int, nested: bool = False) -> Callable[[Path], None]:
    """Lines whose fields, or keys of one field, all have names of their own."""

    def make(path: Path) -> None:
        with path.open("wb") as raw, zstandard.ZstdCompressor().stream_writer(raw) as out:
            out.write(GOOD + b"\n")
            for line in range(lines):
                own = {f"f{line * names + i}": 1 for i in range(names)}
                record = {"id": str(line), "text": "a"} | ({"more": own} if nested else own)
                out.write(json.dumps(record).encode() + b"\n")

    return make


def _wide_csv(path: Path) -> None:
    head, row = ",".join(f"f{i}" for i in range(50_000)), ",1" * 50_000
    path.write_text(f"id,text,{head}\n" + "".join(f"{i},a{row}\n" for i in range(20)))


def _wide_parquet(path: Path) -> None:
    columns = {"text": ["a"] * 20} | {f"f{i}": [1] * 20 for i in range(1_900)}
    pq.write_table(pa.table(columns), path)


def _too_wide_parquet(path: Path) -> None:
    pq.write_table(pa.table({"text": ["a"]} | {f"f{i}": [1] for i in range(2_000)}), path)


SHARED = pa.dictionary(pa.int32(), pa.string())

# File, what makes it, how many documents are in it that can be read, and how many records cannot.
CASES: dict[str, tuple[str, Callable[[Path], None], int, int]] = {
    "large texts in zst": ("a.jsonl.zst", _large_zst, 1, MANY),
    "large texts in gz": ("a.jsonl.gz", _large_gz, 1, MANY),
    "half a row of CSV": ("a.csv", _half_csv, 1, 0),
    "a text that rows share": ("a.parquet", _shared(SHARED), 400, 0),
    "a text that lists share": ("a.parquet", _shared(SHARED, nested=True), 400, 0),
    "views of a text": ("a.parquet", _shared(pa.string_view()), 400, 0),
    "names of fields": ("a.jsonl.zst", _names(20_000, 25), 20_001, 0),
    "names of fields in a line": ("a.jsonl.zst", _names(2, 250_000), 3, 0),
    "names of keys": ("a.jsonl.zst", _names(2_000, 250, nested=True), 2_001, 0),
    "names of keys in a line": ("a.jsonl.zst", _names(2, 250_000, nested=True), 3, 0),
    "columns of CSV": ("a.csv", _wide_csv, 20, 0),
    "columns of Parquet": ("a.parquet", _wide_parquet, 20, 0),
    "too many columns of Parquet": ("a.parquet", _too_wide_parquet, 0, 1),
    "zst": ("a.jsonl.zst", _zst, 1, 1),
    "gz": ("a.jsonl.gz", _gz, 1, 1),
    "a line of 100 MiB": (
        "a.jsonl",
        _line(lambda: b'{"id": "long", "text": "' + b"He left. " * (100 << 20 >> 3) + b'"}'),
        1,
        1,
    ),
    "a line of many lists": (
        "a.jsonl",
        _line(lambda: b'{"id": "l", "text": "a", "x": [' + b"[]," * (5 << 20) + b"0]}"),
        1,
        1,
    ),
    "a long text": ("a.jsonl", _line(lambda: b'{"id": "t", "text": "' + LONG + b'"}'), 2, 0),
}


# Starts a command from a small process and prints its peak in KiB: the peak that a child is told
# starts at its parent's size.
SMALL = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux'")
@pytest.mark.parametrize("case", CASES)
def test_memory_is_bounded_whatever_comes(tmp_path: Path, case: str) -> None:
    name, make, documents, dead = CASES[case]
    make(tmp_path / name)
    words = [
        *(str(Path(sys.executable).with_name("evenflow")), "run", "--input", str(tmp_path / name)),
        *("--output", str(tmp_path / "out")),
    ]
    done = subprocess.run(
        [sys.executable, "-c", SMALL, *words, "-q", "-a", "gender"], capture_output=True, text=True
    )
    assert done.returncode in (0, 3), done.stderr
    entries = read_entries(tmp_path / "out")
    assert sum(entry.documents for entry in entries) == documents
    assert sum(entry.dead for entry in entries) == dead
    assert int(done.stdout.splitlines()[-1]) >> 10 < MOST_MIB
