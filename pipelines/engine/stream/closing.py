"""Closes a pane of a topic, in two steps that workers take.

A worker mends the pane. Then the driver notes the columns of its shards, in the order of the panes,
since a version of columns begins with a pane. Then a worker closes it. Where closing depends on
earlier panes (`Committer.closes`), the driver closes it in its turn.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import orjson
import pyarrow as pa

from evenflow.pipelines.engine.files.making import GraphContext
from evenflow.pipelines.engine.files.workers import result, submit
from evenflow.pipelines.engine.panes import columns
from evenflow.pipelines.engine.panes.closing import Ready, Staged, close_pane, mend_pane
from evenflow.pipelines.engine.panes.commit import Committer
from evenflow.pipelines.engine.stream import parcels
from evenflow.pipelines.engine.stream.marks import StagedRange
from evenflow.schemas.documents import Figures, RepairedPane
from evenflow.transforms.kafka.panes import PaneId
from evenflow.transforms.staging.block import Part, StagedBlock
from evenflow.transforms.staging.shards import unify_inputs

if TYPE_CHECKING:
    from evenflow.gates.ledger.id_index import IdIndex


class Closing:
    """A pane of a topic that is being closed."""

    def __init__(
        self,
        number: int,
        pane: PaneId,
        pieces: list[StagedRange],
        context: GraphContext,
        committer: Committer,
        executor: Executor,
    ):
        self._number, self.pane, self.pieces = number, pane, pieces
        self._context, self._committer, self._executor = context, committer, executor
        self.name = context.staging.name(f"{number:012d}.{uuid4().hex[:8]}")
        self.ready: Ready | None = None
        self.seconds = 0.0
        self._began = time.perf_counter()
        self._noted = False
        self._steps = self._close()
        self._waits_for: Future[Any] | _Turn = next(self._steps)

    def advance(self) -> bool:
        """Go on without waiting."""
        try:
            while self.ready is None and self._waits_for.done():
                found = self._waits_for
                done = result(self._number, found) if isinstance(found, Future) else None
                self._waits_for = self._steps.send(done)
        except StopIteration as end:
            self.ready, self.seconds = end.value, time.perf_counter() - self._began
        return self._noted

    def drop(self) -> None:
        """Give it up; nothing of it is uploaded."""
        self._steps.close()

    def _close(self) -> Generator[Future[Any] | _Turn, Any, Ready]:
        """The steps; yields what the next one waits for, and gets its result."""
        context, committer, number = self._context, self._committer, self._number
        output, turn = context.staging.output, _Turn(committer, number)
        with output.folder(self.name) as folder:
            given = (context, number, self.pieces, folder)
            if committer.index is None:
                mended, wanted = yield submit(self._executor, number, _mend, *given)
            else:
                yield turn
                mended, wanted = _mend(*given, committer.index)
            annotator = context.worker().annotator
            own = columns.note_pane(output, number, wanted, annotator.config, annotator.own)
            self._noted = True
            if not committer.closes:
                return (yield submit(self._executor, number, _shut, *given, mended, own))
            yield turn
            checks = context.worker().checks
            return committer.close(_blocks(self.pieces), folder, annotator, checks, mended, own)


class _Turn:
    """Waits until a pane is the next one of the ledger."""

    def __init__(self, committer: Committer, number: int):
        self._committer, self._number = committer, number

    def done(self) -> bool:
        return len(self._committer.entries) == self._number


def _blocks(pieces: list[StagedRange]) -> list[Staged]:
    return [
        Staged(
            (piece.partition, piece.start), piece.stem, Figures.read(orjson.loads(piece.figures))
        )
        for piece in pieces
    ]


def _mend(
    context: GraphContext,
    number: int,
    pieces: list[StagedRange],
    folder: Path,
    index: IdIndex | None = None,
) -> tuple[RepairedPane, list[pa.Field]]:
    """Bring a pane's blocks, and mend it; returns the columns that its documents ask for too."""
    worker, staging = context.worker(), context.staging
    parcels.receive(staging.output.below(staging.name("")), pieces, folder)
    blocks = _blocks(pieces)
    # Without `worker.busy`: a reader in the driver's process holds it for as long as it reads
    mended = mend_pane(number, blocks, folder, worker.annotator, index)
    staged = [StagedBlock(folder, block.stem) for block in blocks]
    tables = (block.read(Part.DOCUMENTS) for block in staged if block.has(Part.DOCUMENTS))
    return mended, unify_inputs(tables)


def _shut(
    context: GraphContext,
    number: int,
    pieces: list[StagedRange],
    folder: Path,
    mended: RepairedPane,
    own: list[pa.Field],
) -> Ready:
    """Close a pane that was mended."""
    worker = context.worker()
    blocks, annotator = _blocks(pieces), worker.annotator
    return close_pane(number, blocks, folder, annotator, worker.checks, mended, own)
