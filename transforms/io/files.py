"""Reads files into blocks: raw records of one file, in order, with their positions. Nothing is
parsed here.

Formats by name: .jsonl, .jsonl.gz, .jsonl.zst (a record a line), .parquet (a record a row), .txt (a
record a file). Data that cannot be read further (a cut-off gzip, a Parquet file without its end)
ends the file with a block that carries the fault, which becomes a dead letter; a failing device or
network raises, since reading again may well succeed.
"""

from __future__ import annotations

import glob
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from evenflow.transforms.io.parquet import broken_data, row_groups

FORMATS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet", ".txt")
BLOCK_BYTES = 2 << 20  # enough to make the cost of an element small beside that of its text
BLOCK_RECORDS = 2000  # of short records, so that a block's Python objects stay few
BETWEEN = "\0"  # the names of a block of several files; no file's name holds it
SEEKABLE = ".jsonl"  # the format where a reader may begin at a record's byte
# A longer record is not held in memory: its beginning becomes a dead letter
RECORD_BYTES = 32 << 20
KEPT_BYTES = 1 << 20  # of a record longer than that
FAULTS = (EOFError, zlib.error, pa.ArrowException)


class InputError(ValueError):
    """Nothing to read, or not readable: the message names the pattern or file."""


class Stored(NamedTuple):
    """What a file is told by without reading it: its bytes as stored, and when it was changed, in
    nanoseconds since 1970; None where its file system does not say."""

    bytes: int
    modified: int | None


@dataclass(frozen=True)
class Block:
    """Records first.. of a file, either as raw bytes each (a JSON object; for .txt a text), or as
    the rows of a table.

    fault: why the file ends here. stored: bytes of the file read when the block was done. offset:
    byte of the first record, where a reader may begin; None where it may not. cut: full length, in
    bytes, of records (by index) longer than RECORD_BYTES, of which only the first KEPT_BYTES are
    here. A block of several texts has a file for each (see `together`).
    """

    file: str
    first: int
    records: list[bytes]
    stored: int
    rows: pa.Table | None = None
    fault: str | None = None
    offset: int | None = None
    cut: dict[int, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of records."""
        return len(self.records) if self.rows is None else self.rows.num_rows

    @property
    def last(self) -> int:
        """Ordinal of the last record, or of the fault, which stands where the next record would."""
        return self.first + self.size - (self.fault is None)

    def byte(self, index: int) -> int | None:
        """Where a record (by index) begins in the file; None where a reader may not begin there."""
        if self.offset is None:
            return None
        longer = sum(
            length - len(self.records[at]) for at, length in self.cut.items() if at < index
        )
        return self.offset + sum(map(len, self.records[:index])) + index + longer

    def weights(self) -> list[int]:
        """Bytes of each record; a table's rows share its size evenly."""
        if self.rows is None:
            return [len(raw) for raw in self.records]
        return [self.rows.nbytes // max(self.rows.num_rows, 1)] * self.rows.num_rows

    def clip(self, first: int, last: int) -> Block | None:
        """The part of the block within first..last (both included); None if there is none."""
        low, high = max(first, self.first), min(last, self.last)
        if low > high:
            return None
        begin, end = low - self.first, high + 1 - self.first
        fault = self.fault if high == self.last else None
        rows = None if self.rows is None else self.rows.slice(begin, min(end, self.size) - begin)
        cut = {index - begin: length for index, length in self.cut.items() if begin <= index < end}
        records, offset = self.records[begin:end], self.byte(begin)
        return replace(
            self, first=low, records=records, rows=rows, fault=fault, offset=offset, cut=cut
        )


def match(patterns: Sequence[str]) -> dict[str, int]:
    """The files of all patterns as `find` has them, with their sizes in bytes as stored. Raises
    InputError.
    """
    return {name: each.bytes for name, each in find(patterns).items()}


def find(patterns: Sequence[str]) -> dict[str, Stored]:
    """The files of all patterns (paths, folders, globs), sorted; each once, whatever it is called
    in them.

    Local paths are looked up directly, and are absolute in what is given back; others (gs://,
    s3://, hdfs://) are looked up by Beam's file systems. Raises InputError for a pattern without
    any file, and for a file that cannot be opened.
    """
    found: dict[str, Stored] = {}
    for pattern in patterns:
        files = _remote(pattern) if "://" in pattern else _local(pattern)
        if not files:
            raise InputError(f"{pattern}: no file matches; formats are {', '.join(FORMATS)}")
        found.update(files)
    real: dict[str, str] = {}  # a link and what it leads to are one file
    for name in sorted(found):
        real.setdefault(name if "://" in name else os.path.realpath(name), name)
    return {name: found[name] for name in real.values()}


def absolute(name: str) -> str:
    """A file's one name: a local path without what leads in circles, others as they are."""
    return name if "://" in name else os.path.abspath(name)  # noqa: PTH100 (a link keeps its name)


def root(names: Iterable[str]) -> str:
    """The folder that holds all files, below which ids are made: with a slash at its end, or empty
    where there is none.
    """
    folders = sorted(name[: name.rfind("/")] for name in names)
    parts = zip(folders[0].split("/"), folders[-1].split("/"), strict=False) if folders else ()
    return "".join(f"{one}/" for one, _ in takewhile(lambda pair: pair[0] == pair[1], parts))


def _local(pattern: str) -> dict[str, Stored]:
    names = [pattern] if Path(pattern).exists() else glob.glob(pattern, recursive=True)  # noqa: PTH207 (absolute ones too)
    found: dict[str, Stored] = {}
    for name in map(absolute, names):
        inner = (str(path) for path in Path(name).rglob("*")) if Path(name).is_dir() else [name]
        for path in inner:
            if path.endswith(FORMATS) and Path(path).is_file():
                try:
                    with open_file(path) as file:
                        stat = os.fstat(file.fileno())
                        found[path] = Stored(stat.st_size, stat.st_mtime_ns)
                except OSError as error:
                    raise InputError(f"{path}: cannot be opened: {error.strerror}") from error
    return found


def _remote(pattern: str) -> dict[str, Stored]:
    # Imported here: Beam takes a second to import, and local files do not need it.
    from apache_beam.io.filesystem import BeamIOError
    from apache_beam.io.filesystems import FileSystems

    found: dict[str, Stored] = {}
    try:
        results = FileSystems.match([pattern]) + FileSystems.match([pattern.rstrip("/") + "/**"])
    except (BeamIOError, ValueError) as error:
        raise InputError(f"{pattern}: {error}") from error
    for meta in (meta for result in results for meta in result.metadata_list):
        if meta.path.endswith(FORMATS):
            found[meta.path] = Stored(
                meta.size_in_bytes, round(meta.last_updated_in_seconds * 1e9) or None
            )
    return found


def shown(name: str) -> str:
    """A file's name as it is written to outputs: what is no UTF-8 in it as backslashes and digits."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def open_file(name: str) -> BinaryIO:
    """A file as stored, for reading. Raises OSError."""
    if "://" not in name:
        return Path(name).open("rb")
    from apache_beam.io.filesystem import CompressionTypes
    from apache_beam.io.filesystems import FileSystems

    return FileSystems.open(name, compression_type=CompressionTypes.UNCOMPRESSED)


def blocks(file: str, first: int = 0, offset: int | None = None) -> Iterator[Block]:
    """The blocks of a file in order; from record `first` at byte `offset` on where an earlier Block
    said so.

    Raises OSError where the device fails.
    """
    # A local name lives as long as the generator, which may be closed when the process ends
    faults = FAULTS
    with open_file(file) as raw:
        file = shown(file)
        try:
            if file.endswith(".parquet"):
                for rows, stored in row_groups(raw, BLOCK_BYTES, BLOCK_RECORDS):
                    yield Block(file, first, [], stored, rows=rows)
                    first += rows.num_rows
            elif file.endswith(".txt"):
                text = raw.read(RECORD_BYTES + 1)
                cut = {0: len(text)} if len(text) > RECORD_BYTES else {}
                yield Block(file, 0, [text[:KEPT_BYTES] if cut else text], raw.tell(), cut=cut)
                first = 1
            else:
                at = offset or 0
                if at:
                    raw.seek(at)
                plain = file.endswith(SEEKABLE)
                for records, cut in _lines(
                    raw if plain else _Gunzip(raw) if file.endswith(".gz") else _Unzstd(raw)
                ):
                    yield Block(
                        file, first, records, raw.tell(), offset=at if plain else None, cut=cut
                    )
                    first += len(records)
                    at += sum(map(len, records)) + len(records)
                    at += sum(length - KEPT_BYTES for length in cut.values())
        except faults as error:
            yield Block(
                file, first, [], raw.tell(), fault=f"cannot be read further: {_said(error)}"
            )


def together(source: Iterable[Block]) -> Iterator[Block]:
    """The blocks, whole texts that follow each other as one: each alone costs as much. `position`
    tells whose a record is.
    """
    texts: list[Block] = []
    size = 0
    for block in source:
        is_text = block.file.endswith(".txt") and block.fault is None and not block.cut
        if texts and (
            not is_text or size + len(block.records[0]) > BLOCK_BYTES or len(texts) == BLOCK_RECORDS
        ):
            yield _joined(texts)
            texts, size = [], 0
        if is_text:
            texts.append(block)
            size += len(block.records[0])
        else:
            yield block
    if texts:
        yield _joined(texts)


def _joined(texts: list[Block]) -> Block:
    names, records = BETWEEN.join(each.file for each in texts), [each.records[0] for each in texts]
    return Block(names, 0, records, texts[-1].stored)


def position(file: str, place: int) -> tuple[str, int]:
    """The file and the ordinal of a record, by what its block has for them."""
    return (_names(file)[place], 0) if BETWEEN in file else (file, place)


@lru_cache(maxsize=4)
def _names(file: str) -> list[str]:
    return file.split(BETWEEN)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".replace("\n", " ")


class FileReader:
    """Reads segments of files, and keeps a file open where a segment ended.

    Panes come in order, so that nothing is read twice; a step back begins anew.
    """

    def __init__(self) -> None:
        self._open: dict[str, tuple[int, Iterator[Block], Block | None]] = {}

    def segment(self, file: str, first: int, last: int, offset: int | None) -> Iterator[Block]:
        """Blocks of records first..last; offset: the byte where the first one begins, if a reader
        may begin there.
        """
        at, source, ahead = self._open.pop(file, (0, iter(()), None))
        # Going on is best, unless the start lies well ahead: another process read what is between.
        if ahead is None or at > first or (offset is not None and first > ahead.last):
            source = blocks(file) if offset is None else blocks(file, first, offset)
            ahead = next(source, None)
        while ahead is not None and ahead.first <= last:
            if part := ahead.clip(first, last):
                yield part
            if ahead.last > last:
                break
            ahead = next(source, None)
        self._open.clear()  # files come one after the other: one handle is enough
        if ahead is not None:
            self._open[file] = (last + 1, source, ahead)


def _lines(stream: Any) -> Iterator[tuple[list[bytes], dict[int, int]]]:
    """Lists of whole lines without their ends, with the lengths of those that were cut.

    What was read before a fault is given before it is raised.
    """
    parts: list[bytes] = []
    held = 0
    fault: Exception | None = None
    while True:
        try:
            chunk = stream.read(BLOCK_BYTES)
        except FAULTS as error:
            fault, chunk = error, b""
        if not chunk:
            break
        end = chunk.rfind(b"\n")
        if end < 0:
            held += len(chunk)
            if held <= RECORD_BYTES or sum(map(len, parts)) < KEPT_BYTES:
                parts.append(chunk)
            elif len(parts) > 1:
                parts = [b"".join(parts)[:KEPT_BYTES]]
            continue
        if held > RECORD_BYTES:
            begin = chunk.find(b"\n") + 1
            yield [b"".join(parts)[:KEPT_BYTES]], {0: held + begin - 1}
            parts = []
            lines = chunk[begin:end].split(b"\n") if begin <= end else []
        else:
            lines = b"".join((*parts, chunk[:end])).split(b"\n")
        parts, held = [chunk[end + 1 :]], len(chunk) - end - 1
        for i in range(0, len(lines), BLOCK_RECORDS):
            yield lines[i : i + BLOCK_RECORDS], {}
    if held > RECORD_BYTES:
        yield [b"".join(parts)[:KEPT_BYTES]], {0: held}
    elif rest := b"".join(parts):
        yield [rest], {}
    if fault is not None:
        raise fault


class _Gunzip:
    """A gzip stream of one or more members, whose truncated end is an error."""

    def __init__(self, raw: BinaryIO):
        self._raw = raw
        self._unzip = zlib.decompressobj(wbits=31)
        self._begun = False

    def read(self, size: int) -> bytes:
        while True:
            data = self._unzip.unconsumed_tail or self._unzip.unused_data or self._raw.read(1 << 20)
            if self._unzip.eof:
                data = data.lstrip(b"\0")  # some writers pad the file with zeros
                if not data:
                    return b""
                self._unzip = zlib.decompressobj(wbits=31)
            elif not data:
                if self._begun:
                    raise EOFError("the gzip stream is cut off")
                return b""
            self._begun = True
            if out := self._unzip.decompress(data, size):
                return out


class _Unzstd:
    """A Zstandard stream of one or more frames, whose truncated end is an error; memory is bounded
    by what is asked for.
    """

    def __init__(self, raw: BinaryIO):
        self._stream = pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")

    def read(self, size: int) -> bytes:
        with broken_data():
            return self._stream.read(size)
