"""Cuts the input into panes and reads them; checks that what committed panes read is unchanged."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby
from typing import Any

import numpy as np
import pyarrow as pa

from evenflow.gates.ledger.files import read_meta
from evenflow.pipelines.engine.make import Piece, Worker
from evenflow.pipelines.engine.panes import columns
from evenflow.pipelines.engine.panes.closing import Source
from evenflow.schemas.config import Config
from evenflow.schemas.errors import USAGE, EvenflowError
from evenflow.schemas.ledger import PaneEntry, SourceRange
from evenflow.transforms.io import files, formats
from evenflow.transforms.io.blocks import Block, FileReader, join_files
from evenflow.transforms.io.record_digest import RecordDigest
from evenflow.transforms.io.scan import FilePart, Scanned, scan, split
from evenflow.transforms.staging.block import StagedBlock
from evenflow.transforms.storage.storage import Storage

PART_BYTES = 256 << 20  # of a file that one worker scans
# Records of a pane that pane.docs does not limit: each takes up to a kilobyte of memory, however
# short it is, and a file of 25 kB can hold millions
MOST_RECORDS = 1 << 18


@dataclass(frozen=True)
class Segment:
    """Records of a file that are part of a pane.

    `skip`: Of a compressed file: decompressed bytes between the two.
    """

    file: str
    first: int
    last: int
    offset: int | None = None
    skip: int = 0


@dataclass(frozen=True)
class Pane:
    """A pane as cut from the input; the same input and configuration cut the same panes."""

    number: int
    segments: tuple[Segment, ...]
    size: int
    stored: int
    look: int = 0


@dataclass(frozen=True)
class Begin:
    """Where the cutting of panes goes on."""

    pane: int = 0
    read: Mapping[str, Segment] = field(default_factory=dict[str, Segment])


class ChangedError(EvenflowError, RuntimeError):
    """A file has changed since a committed pane read it; the message names the file."""

    status = USAGE

    def __init__(self, source: SourceRange, pane: int):
        super().__init__(
            f"{source.file}: changed since pane {pane} read it (its records {source.first} to"
            f" {source.last} are others now); put the file back as it was and run the same command"
            " again, or begin in another --output"
        )
        self.file, self.pane = source.file, pane

    def grown(self) -> ChangedError:
        """The same error of a file whose last line had no end when it was read."""
        self.args = (
            f"{self.file}: its last line had no end when pane {self.pane} read it, and goes on now;"
            " put the file back as it was and run the same command again, or begin in another"
            " --output",
        )
        return self


START = Begin()


def parts(
    names: Mapping[str, int], begin: Begin = START, most: int = PART_BYTES
) -> Iterator[FilePart]:
    """Split what is left to read of files into parts.

    `names`: Paths of the files that are left, in order, with their stored sizes in bytes. `most`:
    Stored bytes of a part, about.
    """
    for file, stored in names.items():
        last = begin.read.get(file)
        yield from split(file, stored, most, (last.offset or 0) if last is not None else 0)


def cut(
    found: Iterable[Scanned], config: Config, begin: Begin = START, whole: bool = False
) -> Iterator[Pane]:
    """Cut files into panes by documents and MiB of input.

    A record larger than a pane makes a pane of its own.
    """
    limit_docs = config.pane.docs or MOST_RECORDS
    limit_bytes = config.pane.mib * (1 << 20)
    number = begin.pane
    docs = size = stored = 0
    segments: list[Segment] = []
    for file, pieces in groupby(found, lambda each: each.file):
        # Ordinal of the next record; of the segment's first record, and its byte; records to skip
        at = first = skip = 0
        start = (0 if formats.of(file).is_seekable else None, 0)
        if (last := begin.read.get(file)) is not None:
            at, first = last.first if last.offset is not None else 0, last.last + 1
            skip, start = first - at, (None, 0)
        broken, before = False, 0
        for piece in pieces:
            if broken:
                continue
            count, done = len(piece.lengths), min(skip, len(piece.lengths))
            broken, is_new = piece.fault, piece.fault and skip <= count
            at, skip = at + done, skip - done
            if at == first and first:
                start = piece.start(done)
            sums = piece.weights().cumsum(dtype=np.int64)
            taken = int(sums[done - 1]) if done else 0
            while True:
                fits = int(np.searchsorted(sums, limit_bytes - size + taken, "right"))
                until = min(max(fits, done + (not docs)), done + max(limit_docs - docs, 0), count)
                more = int(sums[until - 1]) - taken if until > done else 0
                at, docs, size, taken = (
                    at + until - done,
                    docs + until - done,
                    size + more,
                    taken + more,
                )
                done = until
                if done == count:
                    break
                segments += _segment(file, first, at, start)
                if before or taken:  # else the pane ends with the file before
                    stored = before + (piece.stored - before) * taken // max(int(sums[-1]), 1)
                yield Pane(number, tuple(segments), size, stored, begin.pane)
                number, docs, size, segments = number + 1, 0, 0, []
                # Before its first record a file begins at its start, as after a restart
                first, start = at, piece.start(done) if at else start
            before = stored = piece.stored
            if is_new:  # the fault stands where the next record would
                at, docs = at + 1, docs + 1
        segments += _segment(file, first, at, start)
    if segments and (docs >= limit_docs or size >= limit_bytes or not whole):
        yield Pane(number, tuple(segments), size, stored, begin.pane)


def panes(
    names: Mapping[str, int], config: Config, begin: Begin = START, whole: bool = False
) -> Iterator[Pane]:
    """Scan and cut files in this process, no further than panes are asked for.

    `names`: Paths of the files that are left, in order, with their stored sizes in bytes.
    """
    found = (each for part in parts(names, begin) for each in scan(part))
    return cut(found, config, begin, whole)


def _segment(file: str, first: int, until: int, start: tuple[int | None, int]) -> list[Segment]:
    """Records first..until (excluded) as a segment; none where there are no records."""
    return [Segment(file, first, until - 1, *start)] if until > first else []


def check_unchanged(changed: Collection[str], entries: Iterable[PaneEntry]) -> None:
    """Read again what panes have read of some files."""
    reader = FileReader()
    names = {files.printable(name): name for name in changed}
    for entry in entries if changed else ():
        for source in entry.source:
            if source.file in names and source.sha256 is not None:
                digest = RecordDigest()
                for block in reader.segment(
                    names[source.file], source.first, source.last, source.offset
                ):
                    digest.add(block)
                if digest.hexdigest() != source.sha256:
                    raise ChangedError(source, entry.pane)


@dataclass
class _Kept:
    """What a process keeps of one look at the files.

    `meta`: What meta.json says; None: it was not read yet.
    """

    look: int
    reader: FileReader = field(default_factory=FileReader)
    meta: dict[str, Any] | None = None


@dataclass(frozen=True)
class FileReads:
    """How panes of files are read.

    Attributes:
        root: The folder that made ids hold the path below.
    """

    root: str | None = None

    def read(self, pane: Pane, worker: Worker, source: Source) -> Iterator[Piece]:
        """Read and annotate the blocks of a pane, in order."""
        if worker.kept is None or worker.kept.look != pane.look:
            worker.kept = _Kept(pane.look)  # files may have grown: what was read ahead is old
        source.stored = pane.stored
        blocks = join_files(_read(worker.kept.reader, pane.segments, source.ranges))
        numbers = count()  # enumerate would keep a block while the next one is read
        for block in worker.each("read", blocks):
            with worker.timed("annotate"):
                done = worker.annotator.annotate(block, self.root)
            number = next(numbers)
            yield Piece((0, number), f"{number:06d}", done)
            del block, done  # a large block goes before the next one is read

    def columns(
        self, pane: int, worker: Worker, output: Storage, blocks: Iterable[StagedBlock]
    ) -> list[pa.Field] | None:
        """The columns of a pane's shards: those of its round."""
        if worker.kept is None:  # the driver closes, and reads no files
            return columns.columns(read_meta(output), pane)
        if worker.kept.meta is None:
            worker.kept.meta = read_meta(output) or {}
        return columns.columns(worker.kept.meta, pane)


def _read(
    reader: FileReader, segments: Sequence[Segment], ranges: list[SourceRange]
) -> Iterator[Block]:
    """The blocks of segments; adds the range that was read of each segment."""
    for each in segments:
        digest = RecordDigest()
        for block in reader.segment(each.file, each.first, each.last, each.offset, each.skip):
            digest.add(block)
            yield block
        ranges.append(
            SourceRange(
                file=files.printable(each.file),
                first=each.first,
                last=each.last,
                offset=each.offset if formats.of(each.file).is_seekable else None,
                sha256=digest.hexdigest(),
            )
        )
