"""Finds the next whole pane of a topic from what readers say of its partitions.

A partition is read in sessions: each begins at a position of the ledger, reads on from there, and
belongs to one reader. A new one is opened when its reader is gone, or the partition is given to
another reader. Sessions may overlap, and a reader that was given up may go on. That does no harm:

1. The marks of a session form a chain: each says what was staged between two offsets. Marks may
   come in any order, late, twice or never; a chain ends before the first one that is missing.
2. A pane is whole when a chain of every partition holds all that is due and has passed the pane.
   Of several such chains the one that has passed most counts. Which one it is may change with each
   pane, since all chains read the same records.
3. What is taken of a partition begins exactly at the offset that is due by the ledger. So every
   offset is taken once and in order, whichever chain it is taken from.
4. A record that a session has put into a pane which is committed already goes into the next pane.
   It happens where a record came later than its partition's clock allows.
5. Where two sessions have cut such records apart, a block may begin before the offset that is due
   and end after it. Such a chain waits. If no other can go on, the partition is stuck, and needs a
   new session.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import takewhile

from evenflow.pipelines.engine.stream.marks import Mark, StagedRange
from evenflow.schemas.ledger import Position
from evenflow.transforms.kafka.panes import END, PaneCutter, PaneId, Start


class _Chain:
    """What a session has said so far, as far as nothing is missing."""

    __slots__ = ("_early", "end", "passed", "pieces", "session", "start")

    def __init__(self, session: int, start: Start):
        self.session = session
        self.start = self.end = start.offset
        self.passed = start.point.pane
        self.pieces: deque[StagedRange] = deque()
        self._early: list[Mark] = []

    def add(self, mark: Mark) -> None:
        """Add a mark, and those that waited for it."""
        self._early.append(mark)
        if mark.start > self.end:
            return
        waiting = sorted(self._early, key=lambda each: (each.start, each.next, each.passed))
        self._early = [each for each in waiting if not self._join(each)]

    def _join(self, mark: Mark) -> bool:
        """Add a mark if nothing before it is missing."""
        if mark.start > self.end:
            return False
        if mark.start == self.end:
            self.pieces.extend(mark.pieces)
            self.end = mark.next
        self.passed = max(self.passed, mark.passed)
        return True

    def waits(self, due: int) -> bool:
        """Whether the first block begins before the offset that is due."""
        return bool(self.pieces) and self.pieces[0].start < due


class TopicBoard:
    """What is known of the partitions of a topic, beyond the ledger.

    `last`: The last committed pane; None: there is none.
    """

    def __init__(self, positions: Mapping[int, Position], last: PaneId | None):
        # The next offset and the time of the last record
        self._due = {number: (each.next, each.time) for number, each in positions.items()}
        self.last = last
        self.spent: list[StagedRange] = []
        self._chains: dict[int, list[_Chain]] = {}

    def start(self, partition: int, first: Start, cutter: PaneCutter) -> Start:
        """Find where a new session of a partition begins."""
        due = self._due.get(partition)
        offset, time = (first.offset, first.point.time) if due is None else due
        return Start(
            offset, cutter.start(time) if self.last is None else cutter.after(self.last, time)
        )

    def open(self, partition: int, session: int, start: Start) -> None:
        """Note a new session; marks of others are not looked at."""
        self._chains.setdefault(partition, []).append(_Chain(session, start))

    def add(self, mark: Mark) -> None:
        """Add a mark, in any order."""
        for chain in self._chains.get(mark.partition, ()):
            if chain.session == mark.session:
                chain.add(mark)
                if mark.partition in self._due:
                    self._drop(chain, self._due[mark.partition][0])
                return
        self.spent += mark.pieces

    def _drop(self, chain: _Chain, due: int, committed: int | None = None) -> None:
        """Drop a chain's blocks before the offset that is due; committed: of this session."""
        while chain.pieces and chain.pieces[0].next <= due:
            piece = chain.pieces.popleft()
            if piece.session != committed:
                self.spent.append(piece)

    def whole(
        self, partitions: int, until: PaneId = END
    ) -> tuple[PaneId, list[StagedRange]] | None:
        """Find the next pane that is whole."""
        chains: list[_Chain] = []
        for number in range(partitions):
            chain = self._chain(number)
            if chain is None:
                return None
            until = min(until, chain.passed)
            if chain.pieces:
                chains.append(chain)
        if not chains:
            return None
        pane = min(chain.pieces[0].pane for chain in chains)
        if self.last is not None:
            pane = max(pane, PaneId(self.last.span, self.last.part + 1))
        if pane >= until:
            return None
        return pane, [
            piece
            for chain in chains
            for piece in takewhile(lambda piece: piece.pane <= pane, chain.pieces)
        ]

    def _chain(self, partition: int) -> _Chain | None:
        """The chain of a partition that has passed most; None: none can go on."""
        due = self._due.get(partition)
        best: _Chain | None = None
        for chain in self._chains.get(partition, ()):
            ready = due is None or (chain.end >= due[0] and not chain.waits(due[0]))
            if ready and (best is None or chain.passed >= best.passed):
                best = chain
        return best

    def take(self, pane: PaneId, pieces: list[StagedRange]) -> None:
        """Note that a pane is taken, to be closed and committed."""
        self.last = pane
        taken = {piece.partition: piece for piece in pieces}  # the last of each partition
        for partition, piece in taken.items():
            self._due[partition] = (piece.next, piece.time)
            chains = self._chains[partition]
            for chain in chains:
                self._drop(chain, piece.next, piece.session)
            if len(chains) > 1:
                self._chains[partition] = [
                    each for each in chains if each.end >= piece.next or each is chains[-1]
                ]

    def backlog(self, firsts: Sequence[Start], ends: Sequence[int]) -> dict[int, int]:
        """Count the records of each partition that are not taken yet."""
        return {
            number: max(0, end - self._due.get(number, (first.offset, 0))[0])
            for number, (first, end) in enumerate(zip(firsts, ends, strict=False))
        }

    @property
    def waiting(self) -> bool:
        """Whether records are read that are not taken yet."""
        return any(chain.pieces for chains in self._chains.values() for chain in chains)

    def ended(self, partitions: int) -> bool:
        """Whether all partitions are read to their ends, and nothing is left to commit."""
        chains = [self._chain(number) for number in range(partitions)]
        return all(each is not None and each.passed == END and not each.pieces for each in chains)

    def stuck(self) -> list[int]:
        """Return the partitions that need a new session, because no chain can go on."""
        return [
            partition
            for partition, chains in self._chains.items()
            if (due := self._due.get(partition)) is not None
            and chains[-1].waits(due[0])
            and self._chain(partition) is None
        ]
