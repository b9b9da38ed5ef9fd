"""Commits the panes of a topic that readers have staged, in order.

A pane is committed when every partition has passed it (see `board`).

A run begins at the ledger's last position of each partition. The group's offsets in Kafka are
committed after the ledger entry, for other tools to see. At the start they are compared with the
ledger, which wins.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import uuid4

from evenflow.gates.expectations.checks import PaneChecks
from evenflow.gates.ledger.totals import Totals
from evenflow.pipelines.engine.panes import columns, commit
from evenflow.pipelines.engine.panes.closing import Staged, Staging, mend_pane
from evenflow.pipelines.engine.stream import parcels
from evenflow.pipelines.engine.stream.board import Board
from evenflow.pipelines.engine.stream.desk import Desk
from evenflow.pipelines.engine.stream.marks import StagedRange
from evenflow.schemas.documents import Figures
from evenflow.schemas.ledger import PaneEntry, Position, SourceRange, StreamPane
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.kafka import records
from evenflow.transforms.kafka.panes import PaneId
from evenflow.transforms.staging.block import Part, StagedBlock
from evenflow.transforms.staging.shards import unify_inputs


def positions(totals: Totals) -> dict[int, Position]:
    """Return the position of each partition after the panes of a ledger, by its number."""
    return {int(partition): position for partition, position in totals.positions.items()}


def board(totals: Totals) -> Board:
    """Return a board of what is known after the panes of a ledger."""
    last = None if totals.stream is None else PaneId(*totals.stream)
    return Board(positions(totals), last)


@dataclass
class StreamCommitter:
    """Commits panes as they become whole, in order.

    Attributes:
        staging: The output, and the name of the run.
        topic: The topic that is read.
        desk: Knows what readers have staged.
        committer: Judges and commits a pane.
        annotator: Annotates what closing a pane reads again.
        checks: The checks of panes.
        after_commit: Called with each entry as soon as it is in the ledger.
        on_pane: Called with each entry and its seconds.
    """

    staging: Staging
    topic: str
    desk: Desk
    committer: commit.Committer
    annotator: Annotator
    checks: PaneChecks
    after_commit: Callable[[PaneEntry], None] = lambda entry: None
    on_pane: Callable[[PaneEntry, float], None] = lambda entry, seconds: None

    def hold(self) -> str | None:
        """Return why the gate is held, and tell readers whether it is.

        Returns:
            The reason; None where the gate is not held.
        """
        held = self.committer.held()
        self.desk.tell(held is not None)
        return held

    def commit_whole(self, partitions: int, until: PaneId, stop: Callable[[], bool]) -> None:
        """Commit panes in order, up to the first that is not whole or until the gate is held.

        Args:
            partitions: Number of the topic's partitions.
            until: Panes from this one on are not whole yet.
            stop: Asked before each pane; True: commit no more.
        """
        self.desk.take()
        while (
            not stop()
            and (found := self.desk.board.whole(partitions, until)) is not None
            and not self.hold()
        ):
            self._commit(*found)

    def _commit(self, pane: PaneId, pieces: Sequence[StagedRange]) -> None:
        """Close and commit a pane."""
        began = time.perf_counter()
        output, number = self.staging.output, len(self.committer.entries)
        run = output.below(self.staging.name(""))
        name = self.staging.name(f"{number:012d}.{uuid4().hex[:8]}")
        with output.folder(name) as folder:
            parcels.receive(run, pieces, folder)
            blocks = [
                Staged((each.partition, each.start), each.stem, Figures.read(each.figures))
                for each in pieces
            ]
            mended = mend_pane(number, blocks, folder, self.annotator, self.committer.index)
            staged = [StagedBlock(folder, each.stem) for each in blocks]
            wanted = unify_inputs(
                each.read(Part.DOCUMENTS) for each in staged if each.has(Part.DOCUMENTS)
            )
            annotator = self.annotator
            own = columns.note_pane(output, number, wanted, annotator.config, annotator.own)
            ready = self.committer.close(blocks, folder, annotator, self.checks, mended, own)
        timings = {"shards": time.perf_counter() - began}
        stream = StreamPane(span=pane.span, part=pane.part, positions=_ends(pieces))
        entry = self.committer.commit(name, ready, self._ranges(pieces), timings, stream)
        self.desk.board.commit(pane, list(pieces))
        self.after_commit(entry)
        if output.local is None:
            parcels.discard(run, pieces)
        parcels.discard(run, self.desk.board.spent)
        self.desk.board.spent.clear()
        seconds = time.perf_counter() - began
        self.committer.note_timings(entry, seconds, timings)
        self.on_pane(entry, seconds)

    def _ranges(self, pieces: Sequence[StagedRange]) -> list[SourceRange]:
        """The offsets of each partition that a pane holds."""
        ranges: dict[int, SourceRange] = {}
        for piece in pieces:
            file = records.source(self.topic, piece.partition)
            first = ranges[piece.partition].first if piece.partition in ranges else piece.start
            ranges[piece.partition] = SourceRange(file=file, first=first, last=piece.next - 1)
        return list(ranges.values())


def _ends(pieces: Sequence[StagedRange]) -> dict[str, Position]:
    """Where partitions stand after a pane."""
    return {str(each.partition): Position(next=each.next, time=each.time) for each in pieces}
