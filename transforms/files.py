"""Reads files into blocks: raw records of one file, in order, with their positions. Nothing is parsed here.

Formats by name: .jsonl, .jsonl.gz, .jsonl.zst (a record a line), .parquet (a record a row), .txt (a record a file).
A file that cannot be read further ends with a Fault, which becomes a dead letter.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

FORMATS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet", ".txt")
BLOCK_BYTES = 2 << 20  # enough to make the cost of an element small beside that of its text
BLOCK_RECORDS = 2000


class InputError(ValueError):
    """Nothing to read: the message names the pattern."""


@dataclass(frozen=True)
class Block:
    """Records first.. of a file: raw bytes each (a JSON object, or a text's bytes for .txt); fault: why the file ends here."""

    file: str
    first: int
    records: list[bytes]
    text: bool = False
    fault: str | None = None

    @property
    def bytes(self) -> int:
        return sum(map(len, self.records))


def match(patterns: Sequence[str]) -> list[str]:
    """The files of all patterns (paths, folders, globs), each once, sorted. Raises InputError for a pattern without any."""
    found: set[str] = set()
    for pattern in patterns:
        files = [meta.path for result in FileSystems.match([pattern]) for meta in result.metadata_list]
        if not files or pattern.endswith("/"):
            nested = FileSystems.match([pattern.rstrip("/") + "/**"])
            files = [meta.path for result in nested for meta in result.metadata_list]
        files = [file for file in files if file.endswith(FORMATS)]
        if not files:
            raise InputError(f"{pattern}: no file matches; formats are {', '.join(FORMATS)}")
        found.update(files)
    return sorted(found)


def blocks(file: str) -> Iterator[Block]:
    """The blocks of a file, in order."""
    first = 0
    try:
        with FileSystems.open(file, compression_type=CompressionTypes.UNCOMPRESSED) as raw:
            for records in _records(file, raw):
                yield Block(file, first, records, text=file.endswith(".txt"))
                first += len(records)
    except (OSError, EOFError, zlib.error, zstandard.ZstdError, pa.ArrowException) as error:
        yield Block(file, first, [], fault=f"cannot be read further: {type(error).__name__}: {error}")


def _records(file: str, raw: Any) -> Iterator[list[bytes]]:
    if file.endswith(".txt"):
        yield [raw.read()]
    elif file.endswith(".parquet"):
        for batch in pq.ParquetFile(raw).iter_batches(BLOCK_RECORDS):
            yield [orjson.dumps(row, default=str) for row in batch.to_pylist()]
    elif file.endswith(".gz"):
        yield from _lines(_Gunzip(raw))
    elif file.endswith(".zst"):
        yield from _lines(_Unzstd(raw))
    else:
        yield from _lines(raw)


def _lines(stream: Any) -> Iterator[list[bytes]]:
    """Lists of whole lines without their ends; what was read before a fault is given before it is raised."""
    rest = b""
    fault: Exception | None = None
    while fault is None:
        try:
            chunk = stream.read(BLOCK_BYTES)
        except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
            fault, chunk = error, b""
        if not chunk:
            break
        cut = chunk.rfind(b"\n")
        if cut < 0:
            rest += chunk
            continue
        lines = (rest + chunk[:cut]).split(b"\n")
        rest = chunk[cut + 1 :]
        for i in range(0, len(lines), BLOCK_RECORDS):
            yield lines[i : i + BLOCK_RECORDS]
    if rest:
        yield [rest]
    if fault is not None:
        raise fault


class _Gunzip:
    """A gzip stream of one or more members, whose truncated end is an error."""

    def __init__(self, raw: BinaryIO):
        self._raw = raw
        self._unzip = zlib.decompressobj(wbits=31)
        self._done = False

    def read(self, size: int) -> bytes:
        out = b""
        while not out:
            data = self._unzip.unconsumed_tail or self._unzip.unused_data or self._raw.read(1 << 20)
            if self._unzip.eof:
                if not data:
                    return b""
                self._unzip = zlib.decompressobj(wbits=31)
            elif not data:
                raise EOFError("the gzip stream is cut off")
            out = self._unzip.decompress(data, size)
        return out


class _Unzstd:
    """A Zstandard stream of one or more frames, whose truncated end is an error."""

    def __init__(self, raw: BinaryIO):
        self._raw = raw
        self._unzip = zstandard.ZstdDecompressor().decompressobj(read_across_frames=True)
        self._empty = True

    def read(self, size: int) -> bytes:
        while data := self._raw.read(1 << 18):
            self._empty = False
            if out := self._unzip.decompress(data):
                return out
        if not self._empty and not self._unzip.eof and self._unzip.unused_data == b"" and not self._ended():
            raise EOFError("the Zstandard stream is cut off")
        return b""

    def _ended(self) -> bool:
        return bool(self._unzip.eof)
