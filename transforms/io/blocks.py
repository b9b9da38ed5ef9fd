"""Reads files in blocks: raw records of one file, in order, with their positions.

Nothing is parsed here. Data that cannot be read further (a cut-off gzip, a Parquet file without its
end) ends the file with a block that carries the fault; the fault becomes a dead letter. A failing
device or network raises, because a second attempt may succeed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evenflow.schemas.plugins import PluginTextError
from evenflow.transforms.io import formats
from evenflow.transforms.io.decompress import FAULTS as PACKED
from evenflow.transforms.io.decompress import Beginning, Frames
from evenflow.transforms.io.files import RECORD_BYTES, open_file, printable
from evenflow.transforms.io.formats import Format
from evenflow.transforms.io.lines import PlainLines
from evenflow.transforms.io.sizes import table_bytes

BLOCK_BYTES = 2 << 20  # so large that the cost of a pipeline's element is small beside its texts
BLOCK_RECORDS = 2000  # limits the Python objects of a block of short records
BETWEEN = "\0"  # begins a further record of a block of several files; no file's name holds it
KEPT_BYTES = 1 << 20  # how much of such a record is kept
Index = npt.NDArray[np.int64]
FAULTS = (*PACKED, pa.ArrowException, PluginTextError)


@dataclass(frozen=True)
class Block:
    """Records of a file, either as raw bytes or as the rows of a table.

    Attributes:
        file: The file's name. A block of several files has several names (see `join_files`).
        first: Ordinal of the first record in the file.
        records: The raw bytes of each record (a JSON object; for .txt a text).
        stored: Bytes of the file that were read when the block was done.
        rows: The table, where the records are rows.
        fault: Why the file ends here; None where it goes on.
        offset: Byte of the first record, where a reader may begin; None where it may not.
        cut: Full length, in bytes, of each record longer than RECORD_BYTES, by its index. The block
            holds only the first KEPT_BYTES of such a record.
        header: The first line of a CSV file, which names the fields; None of other files.
    """

    file: str
    first: int
    records: list[bytes]
    stored: int
    rows: pa.Table | None = None
    fault: str | None = None
    offset: int | None = None
    cut: dict[int, int] = field(default_factory=dict)
    header: bytes | None = None

    @property
    def format(self) -> Format:
        """The format of the file; several files have one."""
        return formats.of(self.file.partition(BETWEEN)[0])

    @property
    def size(self) -> int:
        """Number of records."""
        return len(self.records) if self.rows is None else self.rows.num_rows

    @property
    def last(self) -> int:
        """Ordinal of the last record, or of the fault, which stands where the next record would."""
        return self.first + self.size - (self.fault is None)

    def byte(self, index: int) -> int | None:
        """Find where a record begins in the file."""
        if self.offset is None:
            return None
        longer = sum(
            length - len(self.records[at]) for at, length in self.cut.items() if at < index
        )
        return self.offset + sum(map(len, self.records[:index])) + index + longer

    def weights(self) -> list[int]:
        """Return the bytes of each record; a table's rows share its size evenly."""
        if self.rows is None:
            return [len(raw) for raw in self.records]
        return [table_bytes(self.rows) // max(self.rows.num_rows, 1)] * self.rows.num_rows

    def clip(self, first: int, last: int) -> Block | None:
        """Take the part of the block within a range of ordinals.

        Args:
            last: The last ordinal of the range (included).

        Returns:
            The part; None where the block has no record or fault in the range.
        """
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


def read_blocks(
    file: str,
    first: int = 0,
    offset: int | None = None,
    part: tuple[int, int] = (0, 1),
    skip: int = 0,
    chunk: int | None = None,
    end: int | None = None,
) -> Iterator[Block]:
    """Read the blocks of a file in order.

    Args:
        first: Ordinal of the first record to read. Without an offset, reading begins at the start
            of the file, of Parquet at that of the record's row group.
        offset: Byte of that record, as an earlier Block or a scan gave it; None to read from the
            start. Of a compressed file the byte where a frame begins.
        part: Which row groups, or batches, of a table are read: number from 0, and number of parts.
        skip: Of a compressed file: decompressed bytes between that byte and the record.
        chunk: Bytes that are read at a time where records are lines; None: BLOCK_BYTES.
        end: Byte at which a compressed file ends for the reader; None: where it ends.

    Yields:
        The blocks. The last one carries the fault where the data cannot be read further.

    Raises:
        OSError: The device fails.
    """
    # The local name lives as long as the generator, which may be closed when the process ends and
    # module names are gone
    faults, own = FAULTS, formats.of(file)
    with open_file(file) as raw:
        file = printable(file)
        if offset is None and not own.is_table:
            first = 0
        try:
            seen = raw if end is None else Beginning(raw, end)
            start, size = (offset, skip), chunk or BLOCK_BYTES
            for block in _blocks(seen, own, file, first, start, part, size):
                yield block
                first = block.first + block.size
        except faults as error:
            fault = f"cannot be read further: {type(error).__name__}: {error}".replace("\n", " ")
            yield Block(file, first, [], raw.tell(), fault=fault)


def _blocks(
    raw: Any,
    own: Format,
    file: str,
    first: int,
    start: tuple[int | None, int],
    part: tuple[int, int],
    chunk: int,
) -> Iterator[Block]:
    """The blocks of an open file of a format, up to a fault, which is raised."""
    if own.tables is not None:
        for at, rows, stored in own.tables(raw, BLOCK_BYTES, BLOCK_RECORDS, first, part):
            yield Block(file, at, [], stored, rows=rows)
    elif own.is_text:
        text = own.stream(raw).read(RECORD_BYTES + 1)
        cut = {0: len(text)} if len(text) > RECORD_BYTES else {}
        yield Block(file, 0, [text[:KEPT_BYTES] if cut else text], raw.tell(), cut=cut)
    elif own.lines is None:
        for records, cut in _batches(own.records(own.stream(raw), RECORD_BYTES)):
            yield Block(file, first, records, raw.tell(), cut=cut)
            first += len(records)
    else:
        header = csv_header(raw, own) if own.has_header else None
        at, skip = start[0] or 0, start[1]
        if header is not None and not (at or skip):
            at, skip = (len(header) + 1, 0) if own.is_seekable else (0, len(header) + 1)
        lines = own.cutter(raw, not (at or skip))
        raw.seek(at)
        stream = own.stream(raw)
        while skip and (left := stream.read(min(skip, BLOCK_BYTES))):
            skip -= len(left)
        for records, cut in _lines(stream, lines, chunk):
            begin = at if own.is_seekable else None
            yield Block(file, first, records, stream.tell(), None, None, begin, cut, header)
            first += len(records)
            at += sum(map(len, records)) + len(records)
            at += sum(length - KEPT_BYTES for length in cut.values())


Lengths = tuple[Index, tuple[int, int], int, bool]


def read_lengths(file: str, offset: int | None = None, end: int | None = None) -> Iterator[Lengths]:
    """Find the lengths of a file's lines, without their ends, as `read_blocks` cuts them.

    `offset`, `end`: As of `read_blocks`.

    Yields lengths (n,) in bytes; of a compressed file where to begin reading for the first of them:
    a byte of the file, and bytes to skip (see `read_blocks`); bytes of the file that were read to
    find them; and whether the file cannot be read further.
    """
    faults = FAULTS  # as in read_blocks
    with open_file(file) as raw:
        own = formats.of(file)
        # Where to begin for the next line, and bytes of the text before it
        at, done = (0, 0), 0
        held, faulty, chunk = 0, False, b""
        if own.has_header and not own.is_seekable:
            try:
                done = len(csv_header(raw, own)) + 1
            except faults:
                faulty = True
        lines = own.cutter(raw, not offset)
        raw.seek(offset or 0)
        stream, skip = own.stream(raw if end is None else Beginning(raw, end)), done
        while not faulty:
            try:
                chunk = stream.read(BLOCK_BYTES)
            except faults:
                faulty = True
            if not chunk or faulty:
                faulty = faulty or bool(lines.missing)
                break
            if skip:
                chunk, skip = chunk[skip:], max(skip - len(chunk), 0)
            ends = lines.ends(chunk)
            if len(ends):
                lengths = np.diff(ends, prepend=-1) - 1
                lengths[0] += held
                yield lengths, at, stream.tell(), False
                done += held + int(ends[-1]) + 1
                at = stream.start(done) if isinstance(stream, Frames) else at
                held = -1 - int(ends[-1])
            held += len(chunk)
        if held or faulty:
            yield np.array([held] * bool(held), np.int64), at, raw.tell(), faulty


def join_files(source: Iterable[Block]) -> Iterator[Block]:
    """Join the blocks of small files that follow each other; each block has a fixed cost.

    Files are joined that begin with their block, have one format and one header, and no fault.

    Yields:
        The blocks. `position` says which file a record of a joined block is from.
    """
    parts: list[Block] = []
    size = records = 0
    for block in source:
        is_small = bool(block.records) and not (block.first or block.cut or block.fault)
        more = sum(map(len, block.records)) if is_small else 0
        if parts and not (
            is_small
            and size + more <= BLOCK_BYTES
            and records + block.size <= BLOCK_RECORDS
            and (block.format, block.header) == (parts[0].format, parts[0].header)
        ):
            yield _join(parts)
            parts, size, records = [], 0, 0
        if is_small:
            parts.append(block)
            size, records = size + more, records + block.size
        else:
            yield block
    if parts:
        yield _join(parts)


def _join(parts: list[Block]) -> Block:
    """Join the blocks of several files; of one it is as it was."""
    if len(parts) == 1:
        return parts[0]
    names = BETWEEN.join(BETWEEN.join([each.file, *[""] * (each.size - 1)]) for each in parts)
    records = [record for each in parts for record in each.records]
    return replace(parts[-1], file=names, records=records, offset=None)


def position(file: str, place: int) -> tuple[str, int]:
    """Find the file and the ordinal of a record.

    Args:
        file: The file's name in the record's block.
        place: The record's ordinal in the block.

    Returns:
        The name of the record's own file, and the ordinal in it.
    """
    return _positions(file)[place] if BETWEEN in file else (file, place)


@lru_cache(maxsize=4)
def _positions(file: str) -> list[tuple[str, int]]:
    """The file and the ordinal of each record of a block of several files."""
    out: list[tuple[str, int]] = []
    for name in file.split(BETWEEN):  # an empty one is the file before
        out.append((name, 0) if name else (out[-1][0], out[-1][1] + 1))
    return out


class FileReader:
    """Reads segments of files and keeps a file open where a segment ended.

    Panes come in order, so nothing is read twice. A step back opens the file again.
    """

    def __init__(self) -> None:
        self._open: dict[str, tuple[int, Iterator[Block], Block | None]] = {}

    def segment(
        self, file: str, first: int, last: int, offset: int | None, skip: int = 0
    ) -> Iterator[Block]:
        """Read a range of a file's records.

        Args:
            last: Ordinal of the last record (included).
            offset: Byte where a reader may begin for the first record; None where there is none.
            skip: Bytes to skip from there on (see `read_blocks`).
        """
        at, source, ahead = self._open.pop(file, (0, iter(()), None))
        # Reading on is best, unless a place to begin at lies well ahead: then another process has
        # read the records between.
        if (
            ahead is None
            or at > first
            or (first > ahead.last and (formats.of(file).is_table or (offset or 0) >= ahead.stored))
        ):
            source = read_blocks(file, first, offset, skip=skip)
            ahead = next(source, None)
        while ahead is not None and ahead.first <= last:
            if part := ahead.clip(first, last):
                yield part
            if ahead.last > last:
                break
            ahead = next(source, None)
        self._open.clear()  # files come one after the other, so one handle is enough
        if ahead is not None:
            self._open[file] = (last + 1, source, ahead)


def csv_header(raw: BinaryIO, own: Format) -> bytes:
    """The first line of an open CSV file of a format.

    Raises:
        EOFError: It is longer than a block, so its last fields would get no name; or no line break
            ends it.
    """
    raw.seek(0)
    assert own.lines is not None
    begin = own.stream(raw).read(BLOCK_BYTES + 1)
    header = own.lines().split(begin)[0]
    if len(header) > BLOCK_BYTES:
        raise EOFError(f"its first line is longer than {BLOCK_BYTES >> 20} MiB")
    if header == begin and b"\r" in header.rstrip(b"\r"):  # else all its rows are names of fields
        raise EOFError("its lines end with \\r alone; \\n must end them")
    return header


def _batches(records: Iterable[bytes]) -> Iterator[tuple[list[bytes], dict[int, int]]]:
    """Collect records in lists.

    With each list come the full lengths of records that are cut, by index. What was read before a
    fault is given before the fault is raised.
    """
    parts, cut, size = list[bytes](), dict[int, int](), 0
    fault: Exception | None = None
    try:
        for record in records:
            if len(record) > RECORD_BYTES:
                cut[len(parts)] = len(record)
            parts.append(record[:KEPT_BYTES] if len(record) > RECORD_BYTES else record)
            size += len(parts[-1])
            if size > BLOCK_BYTES or len(parts) == BLOCK_RECORDS:
                yield parts, cut
                parts, cut, size = [], {}, 0
    except FAULTS as error:
        fault = error
    if parts:
        yield parts, cut
    if fault is not None:
        raise fault


def _lines(
    stream: Any, lines: PlainLines, size: int
) -> Iterator[tuple[list[bytes], dict[int, int]]]:
    """Split a stream into lists of whole lines without their ends.

    With each list come the full lengths of lines that are cut, by index. What was read before a
    fault is given before the fault is raised.
    """
    parts: list[bytes] = []
    held = 0
    fault: Exception | None = None
    while True:
        try:
            chunk = stream.read(size)
        except FAULTS as error:
            fault, chunk = error, b""
        if not chunk:
            if lines.missing and fault is None:
                fault = EOFError(f"the file lacks {lines.missing}")
            break
        first, *others = lines.split(chunk)
        if not others:
            held += len(chunk)
            if held <= RECORD_BYTES or sum(map(len, parts)) < KEPT_BYTES:
                parts.append(chunk)
            elif len(parts) > 1:
                parts = [b"".join(parts)[:KEPT_BYTES]]
            continue
        rest = others.pop()
        if held + len(first) > RECORD_BYTES:
            yield [b"".join((*parts, first))[:KEPT_BYTES]], {0: held + len(first)}
        else:
            others.insert(0, b"".join((*parts, first)))
        parts, held = [rest], len(rest)
        for i in range(0, len(others), BLOCK_RECORDS):
            yield others[i : i + BLOCK_RECORDS], {}
    if held > RECORD_BYTES:
        yield [b"".join(parts)[:KEPT_BYTES]], {0: held}
    elif rest := b"".join(parts):
        yield [rest], {}
    if fault is not None:
        raise fault
