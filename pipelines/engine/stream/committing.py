"""Commits the panes of a topic that readers have staged, in order.

A pane is committed when every partition has passed it (see `board`).

A run begins at the ledger's last position of each partition. The group's offsets in Kafka are
committed after the ledger entry, for other tools to see. At the start they are compared with the
ledger, which wins.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from evenflow.gates.ledger.totals import Totals
from evenflow.pipelines.engine.files.making import GraphContext
from evenflow.pipelines.engine.panes import commit
from evenflow.pipelines.engine.stream import parcels
from evenflow.pipelines.engine.stream.board import TopicBoard
from evenflow.pipelines.engine.stream.closing import Closing
from evenflow.pipelines.engine.stream.desk import Desk
from evenflow.pipelines.engine.stream.marks import StagedRange
from evenflow.pipelines.terminal.outcome import PaneProgress
from evenflow.schemas.ledger import PaneEntry, Position, SourceRange, StreamPane
from evenflow.transforms.kafka import records
from evenflow.transforms.kafka.panes import PaneId, Start

# A pane may have thousands of these: together they are made in a fifth of the time
RANGES, POSITIONS = TypeAdapter(list[SourceRange]), TypeAdapter(dict[str, Position])


def positions(totals: Totals) -> dict[int, Position]:
    """Return the position of each partition after the panes of a ledger, by its number."""
    return {int(partition): position for partition, position in totals.positions.items()}


def board(totals: Totals) -> TopicBoard:
    """Return a board of what is known after the panes of a ledger."""
    last = None if totals.stream is None else PaneId(*totals.stream)
    return TopicBoard(positions(totals), last)


@dataclass
class StreamCommitter:
    """Closes panes as they become whole, ahead of their commits, and commits them in order."""

    context: GraphContext
    topic: str
    desk: Desk
    committer: commit.Committer
    executor: Executor
    ahead: int = 1
    before_commit: Callable[[], None] = lambda: None
    after_commit: Callable[[PaneEntry], None] = lambda entry: None
    on_pane: Callable[[PaneProgress], None] = lambda done: None
    _taken: deque[Closing] = field(default_factory=deque[Closing])

    @property
    def waiting(self) -> bool:
        """Whether panes were taken that are not committed yet."""
        return bool(self._taken)

    def hold(self) -> str | None:
        """Return why the gate is held, and tell readers whether it is."""
        held = self.committer.held()
        self.desk.tell(held is not None)
        return held

    def commit_whole(self, partitions: int, until: PaneId, stop: Callable[[], bool]) -> None:
        """Commit panes in order, up to the first that is not closed or until the gate is held."""
        self.desk.take()
        while not stop() and not self.hold():
            self._take(partitions, until)
            for closing in self._taken:
                if not closing.advance():
                    break
            if not self._taken or self._taken[0].ready is None:
                return
            self._commit(self._taken.popleft())

    def _take(self, partitions: int, until: PaneId) -> None:
        """Begin to close the next whole panes."""
        while len(self._taken) < self.ahead:
            found = self.desk.board.whole(partitions, until)
            if found is None:
                return
            number = len(self.committer.entries) + len(self._taken)
            closing = Closing(number, *found, self.context, self.committer, self.executor)
            self.desk.board.take(*found)
            self._taken.append(closing)

    def close(self) -> None:
        """End the workers, and give up what is not committed: the next run reads it again."""
        self.executor.shutdown(cancel_futures=True)
        while self._taken:
            self._taken.pop().drop()

    def _commit(self, closing: Closing) -> None:
        """Commit a pane that is closed."""
        assert closing.ready is not None
        began = time.perf_counter()
        output, pieces = self.context.staging.output, closing.pieces
        run = output.below(self.context.staging.name(""))
        timings = {"shards": closing.seconds}
        stream = StreamPane(
            span=closing.pane.span, part=closing.pane.part, positions=ends_of(pieces)
        )
        ranges = ranges_of(self.topic, pieces)
        self.before_commit()
        entry = self.committer.commit(closing.name, closing.ready, ranges, timings, stream)
        self.after_commit(entry)
        if output.local is None:
            parcels.discard(run, pieces)
        parcels.discard(run, self.desk.board.spent)
        self.desk.board.spent.clear()
        seconds = time.perf_counter() - began + closing.seconds
        self.committer.note_timings(entry, seconds, timings)
        self.on_pane(PaneProgress(entry, seconds))

    def backlog(self, firsts: Sequence[Start], ends: Sequence[int]) -> dict[int, int]:
        """Count the records of each partition that are not committed yet."""
        counts = self.desk.board.backlog(firsts, ends)
        for closing in self._taken:
            for piece in closing.pieces:
                counts[piece.partition] += piece.next - piece.start
        return counts


def ranges_of(topic: str, pieces: Sequence[StagedRange]) -> list[SourceRange]:
    """The offsets of each partition of a topic that a pane's blocks hold."""
    firsts: dict[int, int] = {}
    for piece in pieces:
        firsts.setdefault(piece.partition, piece.start)
    lasts = {piece.partition: piece.next - 1 for piece in pieces}
    return RANGES.validate_python(
        [
            {"file": records.source(topic, number), "first": first, "last": lasts[number]}
            for number, first in firsts.items()
        ]
    )


def ends_of(pieces: Sequence[StagedRange]) -> dict[str, Position]:
    """Where partitions stand after a pane of some blocks."""
    ends = {str(each.partition): {"next": each.next, "time": each.time} for each in pieces}
    return POSITIONS.validate_python(ends)
