"""Reads the panes of files in a worker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pyarrow as pa

from evenflow.gates.ledger.files import read_meta
from evenflow.pipelines.engine.files.cutting import Pane, Segment
from evenflow.pipelines.engine.make import Piece, Worker
from evenflow.pipelines.engine.panes import columns
from evenflow.pipelines.engine.panes.closing import Source
from evenflow.schemas.ledger import SourceRange
from evenflow.transforms.io import files, formats
from evenflow.transforms.io.blocks import Block, FileReader, join_files
from evenflow.transforms.io.record_digest import RecordDigest
from evenflow.transforms.staging.block import StagedBlock
from evenflow.transforms.storage.storage import Storage


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
