"""Commits the panes of a topic that the graph has staged, in order.

A pane is committed when the list of its blocks is in its folder in staged/, unless an earlier one
is still being filled.

A run restarts from the ledger's last position of each partition. The group's offsets in Kafka are
committed after the ledger entry, for other tools to see. At the start they are compared with the
ledger, which wins.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenflow.gates.expectations.checks import PaneChecks
from evenflow.gates.ledger.totals import Totals
from evenflow.pipelines.panes import commit
from evenflow.pipelines.panes.closing import Staged, close_pane
from evenflow.pipelines.stream.graph import BLOCKS, StagedRange, read_pieces
from evenflow.schemas.ledger import PaneEntry, Position, SourceRange, StreamPane
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.kafka import records
from evenflow.transforms.kafka.options import Start
from evenflow.transforms.kafka.panes import PaneCutter, PaneId

HELD = "held"  # in gate/: while it is there, the source does not read


class GapError(RuntimeError):
    """The blocks of a pane do not continue what the ledger holds: the run must not go on."""


def positions(totals: Totals) -> dict[int, Position]:
    """Return the position of each partition after the panes of a ledger, by its number."""
    return {int(partition): position for partition, position in totals.positions.items()}


def starts(totals: Totals, topic: str, cutter: PaneCutter) -> dict[tuple[str, int], Start]:
    """Find where each partition goes on after the panes of a ledger.

    Args:
        totals: The sums of the ledger.
        topic: The topic.
        cutter: Cuts panes.

    Returns:
        (topic, partition) to the next offset and its pane; empty for an empty ledger.
    """
    if totals.stream is None:
        return {}
    pane = PaneId(*totals.stream)
    return {
        (topic, partition): Start(position.next, cutter.after(pane, position.time))
        for partition, position in positions(totals).items()
    }


def joined(pieces: Sequence[StagedRange], expected: dict[int, int]) -> list[StagedRange]:
    """Select blocks that continue the ledger without a gap, each range of offsets once.

    Beam may process a bundle twice; then its blocks come twice.

    Args:
        pieces: Staged blocks, by partition and offset.
        expected: Partition to the next offset by the ledger.

    Returns:
        The blocks to commit.

    Raises:
        GapError: Offsets are missing.
    """
    kept: list[StagedRange] = []
    next_offsets = dict(expected)
    for piece in pieces:
        due = next_offsets.get(piece.partition)
        if due is not None and piece.next <= due:
            continue
        if due is not None and piece.start != due:
            raise GapError(
                f"partition {piece.partition}: offset {due} was due and offsets {piece.start}"
                f" to {piece.next - 1} came; nothing more is committed: start again, and reading"
                " goes on from the ledger"
            )
        next_offsets[piece.partition] = piece.next
        kept.append(piece)
    return kept


@dataclass
class StreamCommitter:
    """Commits panes as they become whole, in order.

    Attributes:
        output: The output directory.
        topic: The topic that is read.
        committer: Judges and commits a pane.
        annotator: Annotates what closing a pane reads again.
        checks: The checks of panes.
        after_commit: Called with each entry as soon as it is in the ledger.
        on_pane: Called with each entry and its seconds.
    """

    output: Path
    topic: str
    committer: commit.Committer
    annotator: Annotator
    checks: PaneChecks
    after_commit: Callable[[PaneEntry], None] = lambda entry: None
    on_pane: Callable[[PaneEntry, float], None] = lambda entry, seconds: None

    def __post_init__(self) -> None:
        """Take the next offsets from the ledger."""
        self._next_offsets = {
            partition: position.next
            for partition, position in positions(self.committer.entries.totals).items()
        }

    def hold(self) -> str | None:
        """Return why the gate is held, and hold the source by a file in gate/.

        Returns:
            The reason; None where the gate is not held. Then the file goes.
        """
        held = self.committer.held()
        flag = self.output / "gate" / HELD
        if held:
            flag.touch()
        else:
            flag.unlink(missing_ok=True)
        return held

    def commit_whole(self, stop: Callable[[], bool]) -> int:
        """Commit panes in order, up to the first that is not whole or until the gate is held.

        Args:
            stop: Asked before each pane; True: commit no more.

        Returns:
            How many were committed.

        Raises:
            GapError: A pane does not continue the ledger.
        """
        count = 0
        for folder in sorted((self.output / "staged").iterdir()):
            if stop() or not (folder / BLOCKS).exists() or self.hold():
                break
            self._commit(folder)
            count += 1
        return count

    def _commit(self, folder: Path) -> None:
        """Close and commit the pane in a folder of staged/."""
        began = time.perf_counter()
        span, part = (int(piece) for piece in folder.name.split("-"))
        pieces = joined(read_pieces(folder), self._next_offsets)
        number = len(self.committer.entries)
        staged = [
            Staged((piece.partition, piece.start), piece.stem, piece.figures) for piece in pieces
        ]
        ready = close_pane(
            number, staged, folder, self.annotator, self.checks, self.committer.index
        )
        timings = {"shards": time.perf_counter() - began}
        ends: dict[int, Position] = {}
        ranges: dict[int, SourceRange] = {}
        for piece in pieces:
            ends[piece.partition] = Position(next=piece.next, time=piece.time)
            file = records.source(self.topic, piece.partition)
            first = ranges[piece.partition].first if piece.partition in ranges else piece.start
            ranges[piece.partition] = SourceRange(file=file, first=first, last=piece.next - 1)
        stream = StreamPane(
            span=span, part=part, positions={str(key): each for key, each in ends.items()}
        )
        entry = self.committer.commit(
            f"staged/{folder.name}", ready, list(ranges.values()), timings, stream
        )
        self._next_offsets |= {key: each.next for key, each in ends.items()}
        self.after_commit(entry)
        seconds = time.perf_counter() - began
        self.committer.note_timings(entry, seconds, timings)
        self.on_pane(entry, seconds)
