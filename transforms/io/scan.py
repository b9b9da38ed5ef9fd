"""Finds where the records of files begin and how long they are; nothing is parsed.

A large file has several parts, which different workers may scan: of plain JSON lines ranges of
bytes, of Parquet row groups. A compressed file is one part; its panes are read from any frame on.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from evenflow.transforms.io import formats
from evenflow.transforms.io.blocks import FAULTS, KEPT_BYTES, csv_header, read_blocks, read_lengths
from evenflow.transforms.io.files import RECORD_BYTES, open_file


@dataclass(frozen=True)
class FilePart:
    """A part of a file.

    Attributes:
        begin: Of plain lines: the records that begin at this byte or later.
        end: Of plain lines: and before this byte; of a compressed file: it is read up to this byte;
            None: to the end of the file.
    """

    file: str
    stored: int
    begin: int = 0
    end: int | None = None
    share: tuple[int, int] = (0, 1)


@dataclass(frozen=True)
class Scanned:
    """Records of a file that follow each other.

    Attributes:
        lengths: Bytes of each record (n,), as uint64; the rows of a table share its bytes.
        begin: Byte where a reader may begin for the first record; None where it may not.
        skip: Of a compressed file: decompressed bytes between the two.
        stored: Bytes of the file that were read to find them.
        fault: Whether the file cannot be read further; what follows in it is no part of the input.
    """

    file: str
    lengths: np.ndarray
    begin: int | None
    stored: int
    fault: bool
    skip: int = 0

    def weights(self) -> np.ndarray:
        """Return the bytes of each record (n,) that are kept in memory, as `Block.weights` does."""
        if formats.of(self.file).is_table:
            return self.lengths
        return np.where(self.lengths > RECORD_BYTES, np.uint64(KEPT_BYTES), self.lengths)

    def start(self, index: int) -> tuple[int | None, int]:
        """Return where to begin reading for a record: a byte (None: the start), bytes to skip."""
        if self.begin is None:
            return None, 0
        ahead = int(self.lengths[:index].sum()) + index
        if formats.of(self.file).is_seekable:
            return self.begin + ahead, 0
        return self.begin, self.skip + ahead


def split(file: str, size: int, most: int, begin: int = 0) -> Iterator[FilePart]:
    """Split a file into parts.

    Args:
        size: Its size as stored, in bytes.
        most: Stored bytes of a part, about.
        begin: Of JSON lines: the byte of the first record that is asked for; else ignored.
    """
    own = formats.of(file)
    if own.is_seekable:
        most = most if own.is_plain else size + 1
        for at in range(begin, max(size, begin + 1), most):
            end = min(at + most, size)  # what a file grows by later is not part of it
            yield FilePart(file, end - at, at, end)
    else:
        count = max(-(-size // most), 1) if own.is_table else 1
        end = None if own.unpack is None else size
        for number in range(count):
            yield FilePart(file, size // count, end=end, share=(number, count))


def scan(part: FilePart) -> Iterator[Scanned]:
    """Find the records of a part.

    Yields:
        The records, some at a time.

    Raises:
        OSError: The file cannot be read.
    """
    own = formats.of(part.file)
    if own.is_text and own.unpack is None:
        yield Scanned(part.file, np.array([part.stored], np.uint64), None, part.stored, False)
        return
    if own.lines is None:
        for block in read_blocks(part.file, part=part.share, end=part.end):
            lengths = np.array(block.weights(), np.uint64)
            for index, length in block.cut.items():
                lengths[index] = length
            yield Scanned(part.file, lengths, None, block.stored, block.fault is not None)
        return
    try:
        begin = _first_record(part) if own.is_seekable else None
    except FAULTS:
        yield Scanned(part.file, np.array([], np.uint64), None, part.stored, True)
        return
    end = None if own.is_seekable else part.end
    for found, (at, skip), stored, fault in read_lengths(part.file, begin, end):
        size = len(found)
        # A file of one frame is read from its start; so is what lies in the first frame of more
        first = begin if own.is_seekable else at or None
        if begin is not None:
            nexts = begin + np.cumsum(found + 1)
            begin = int(nexts[-1]) if size else begin
            if part.end is not None:
                found = found[nexts - found - 1 < part.end]
        whole = len(found) == size  # else what is at fault is behind the part
        yield Scanned(part.file, found.astype(np.uint64), first, stored, fault and whole, skip)
        if not whole:
            return


def _first_record(part: FilePart) -> int:
    """The byte of the first record of a part of JSON lines; if it has none, one behind the part."""
    own = formats.of(part.file)
    if own.has_header and not part.begin:
        with open_file(part.file) as raw:
            return len(csv_header(raw, own)) + 1
    if not (part.begin and own.is_plain):
        return part.begin
    at = part.begin - 1  # a newline there ends the record before
    with open_file(part.file) as raw:
        raw.seek(at)
        while part.end is None or at < part.end:
            data = raw.read(1 << 20)
            found = data.find(b"\n")
            if found >= 0:
                return at + found + 1
            if not data:
                break
            at += len(data)
    return at


def pack(found: Iterable[Scanned]) -> bytes:
    """Write what a scan found as a compressed Arrow file."""
    rows = list(found)
    table = pa.table(
        {
            "file": pa.array([os.fsencode(each.file) for each in rows], pa.binary()),
            "lengths": pa.array([each.lengths for each in rows], pa.large_list(pa.uint64())),
            "begin": pa.array([each.begin for each in rows], pa.int64()),
            "stored": pa.array([each.stored for each in rows], pa.int64()),
            "fault": pa.array([each.fault for each in rows], pa.bool_()),
            "skip": pa.array([each.skip for each in rows], pa.int64()),
        }
    )
    sink = pa.BufferOutputStream()
    compressed = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(sink, table.schema, options=compressed) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def unpack(data: bytes) -> Iterator[Scanned]:
    """Read what `pack` wrote."""
    table = pa.ipc.open_file(data).read_all()
    lengths = table["lengths"]
    for each, row in zip(lengths, table.drop_columns("lengths").to_pylist(), strict=True):
        row["file"] = os.fsdecode(row["file"])
        yield Scanned(lengths=each.values.to_numpy(), **row)
