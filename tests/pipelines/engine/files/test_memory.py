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


# File, what makes it, and how many documents are in it that can be read.
CASES: dict[str, tuple[str, Callable[[Path], None], int]] = {
    "zst": ("a.jsonl.zst", _zst, 1),
    "gz": ("a.jsonl.gz", _gz, 1),
    "a line of 100 MiB": (
        "a.jsonl",
        _line(lambda: b'{"id": "long", "text": "' + b"He left. " * (100 << 20 >> 3) + b'"}'),
        1,
    ),
    "a line of many lists": (
        "a.jsonl",
        _line(lambda: b'{"id": "l", "text": "a", "x": [' + b"[]," * (5 << 20) + b"0]}"),
        1,
    ),
    "a long text": ("a.jsonl", _line(lambda: b'{"id": "t", "text": "' + LONG + b'"}'), 2),
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
    name, make, documents = CASES[case]
    make(tmp_path / name)
    words = [
        str(Path(sys.executable).with_name("evenflow")),
        "run",
        "--input",
        str(tmp_path / name),
        "--output",
        str(tmp_path / "out"),
    ]
    done = subprocess.run(
        [sys.executable, "-c", SMALL, *words, "-q", "-a", "gender"], capture_output=True, text=True
    )
    assert done.returncode in (0, 3), done.stderr
    entries = read_entries(tmp_path / "out")
    assert sum(entry.documents for entry in entries) == documents
    assert sum(entry.dead for entry in entries) == (documents == 1)
    assert int(done.stdout.splitlines()[-1]) >> 10 < MOST_MIB
