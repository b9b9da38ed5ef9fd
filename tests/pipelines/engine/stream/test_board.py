"""Whatever readers do, and in whatever order their marks come, every record is in exactly one pane,
in order.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.pipelines.engine.stream.board import TopicBoard
from evenflow.pipelines.engine.stream.marks import Mark, StagedRange, read_marks, write_marks
from evenflow.schemas.ledger import Position
from evenflow.transforms.kafka.panes import END, PaneCutter, PaneId, Point, Start

CUTTER = PaneCutter(span_ms=10, part_bytes=4)


@dataclass
class Reader:
    """Reads a partition's records (their times; each of one byte) as a worker does."""

    partition: int
    session: int
    at: int
    point: Point
    quick: bool
    pieces: list[StagedRange] = field(default_factory=list)
    told: int = -1

    def __post_init__(self) -> None:
        self.told = self.at

    def read(self, records: list[int], upto: int, clock: int) -> None:
        """Read some records that are there; the clock counts where there are none."""
        batch = records[self.at : upto]
        for piece in CUTTER.cut(self.point, batch, [1] * len(batch), now=clock):
            begin, end = self.at + piece.begin, self.at + piece.end
            self.pieces.append(
                StagedRange(
                    self.partition, self.session, begin, end, piece.after.time, piece.pane, ""
                )
            )
            self.point = piece.after
        self.at += len(batch)
        if self.at == len(records) and self.quick:
            self.point = CUTTER.advance(self.point, clock)

    def mark(self, over: bool) -> Mark:
        """What is new since the last mark."""
        mark = Mark(
            self.partition,
            self.session,
            self.told,
            self.at,
            END if over else self.point.pane,
            tuple(self.pieces),
        )
        self.told, self.pieces = self.at, []
        return mark


class World:
    """Partitions that grow, readers that come and go, marks under way, and a committer."""

    def __init__(self, seed: int, late: bool):
        self.random = random.Random(seed)
        self.late = late
        self.clock = 0
        self.records: list[list[int]] = [[] for _ in range(self.random.randint(1, 4))]
        self.board = TopicBoard({}, None)
        self.readers: list[Reader] = []
        self.marks: list[bytes] = []
        self.taken: dict[int, list[tuple[PaneId, PaneId, int]]] = {}
        self.panes: list[PaneId] = []
        self.sessions = 0

    def open(self, partition: int) -> None:
        """Give a partition to a new reader."""
        self.sessions += 1
        start = self.board.start(partition, Start(0, CUTTER.start()), CUTTER)
        self.board.open(partition, self.sessions, start)
        self.readers.append(
            Reader(partition, self.sessions, start.offset, start.point, self.random.random() < 0.7)
        )

    def commit(self, until: PaneId) -> None:
        """Commit what is whole."""
        while found := self.board.whole(len(self.records), until):
            pane, pieces = found
            assert pieces
            self.panes.append(pane)
            for piece in pieces:
                self.taken.setdefault(piece.partition, []).extend(
                    (pane, piece.pane, offset) for offset in range(piece.start, piece.next)
                )
            self.board.take(pane, pieces)
        for partition in self.board.stuck():
            self.open(partition)

    def step(self) -> None:
        """Let something happen."""
        chance, self.clock = self.random.random(), self.clock + self.random.randint(0, 6)
        if chance < 0.35:
            back = self.random.randint(0, 15) if self.late else 0
            self.random.choice(self.records).extend(
                [max(self.clock - back, 1)] * self.random.randint(1, 5)
            )
        elif chance < 0.6 and self.readers:
            reader = self.random.choice(self.readers)
            records = self.records[reader.partition]
            reader.read(records, self.random.randint(reader.at, len(records)), self.clock)
        elif chance < 0.75 and self.readers:
            self.marks.append(write_marks([self.random.choice(self.readers).mark(over=False)]))
        elif chance < 0.85 and self.marks:
            position = self.random.randrange(len(self.marks))
            # A stale listing gives a mark again
            again = self.random.random() < 0.1
            data = self.marks[position] if again else self.marks.pop(position)
            for mark in read_marks(data):
                self.board.add(mark)
        elif chance < 0.9:
            self.open(self.random.randrange(len(self.records)))
        elif chance < 0.92 and self.readers:
            self.readers.pop(self.random.randrange(len(self.readers)))
        elif chance < 0.93 and len(self.records) < 6:
            self.records.append([])
        else:
            self.commit(END if self.late else PaneId(CUTTER.span(self.clock), 0))

    def end(self) -> None:
        """All marks come, and new readers read what is there to its end."""
        for data in self.random.sample(self.marks, len(self.marks)):
            for mark in read_marks(data):
                self.board.add(mark)
        for partition in range(len(self.records)):
            self.open(partition)
        for _ in range(3):  # a partition that is stuck gets a new session, which reads too
            for reader in list(self.readers):
                reader.read(self.records[reader.partition], 1 << 30, self.clock)
                self.board.add(reader.mark(over=True))
            self.commit(END)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), late=st.booleans())
def test_every_record_is_in_one_pane_and_in_order(seed: int, late: bool) -> None:
    world = World(seed, late)
    for _ in range(world.random.randint(10, 300)):
        world.step()
    world.end()
    assert world.panes == sorted(set(world.panes))
    for partition, records in enumerate(world.records):
        taken = world.taken.get(partition, [])
        assert [offset for _, _, offset in taken] == list(range(len(records)))
        assert [pane for pane, _, _ in taken] == sorted(pane for pane, _, _ in taken)
        assert all(own <= pane for pane, own, _ in taken)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_panes_are_those_of_one_reader_where_nothing_is_late(seed: int) -> None:
    world = World(seed, late=False)
    for _ in range(200):
        world.step()
        # A record has the time at which it is written; the clock does not pass it before
        for reader in world.readers:
            assert reader.point.time <= world.clock
    world.end()
    for partition, times in enumerate(world.records):
        whole = CUTTER.cut(CUTTER.start(), times, [1] * len(times), now=1 << 40)
        alone = [piece.pane for piece in whole for _ in range(piece.begin, piece.end)]
        spans = [pane.span for pane, _, _ in world.taken.get(partition, [])]
        assert spans == [pane.span for pane in alone]


def _piece(session: int, start: int, next_: int, pane: PaneId) -> StagedRange:
    return StagedRange(0, session, start, next_, pane.span, pane, "")


def _mark(session: int, start: int, passed: PaneId, *pieces: StagedRange) -> Mark:
    return Mark(0, session, start, pieces[-1].next if pieces else start, passed, pieces)


FIRST, SECOND, THIRD = PaneId(10, 0), PaneId(20, 0), PaneId(30, 0)
BEGIN = Start(0, CUTTER.start())


def test_a_mark_that_is_missing_holds_back_what_follows() -> None:
    board = TopicBoard({}, None)
    board.open(0, 1, BEGIN)
    board.add(_mark(1, 3, THIRD, _piece(1, 3, 6, SECOND)))
    board.add(_mark(1, 8, END, _piece(1, 8, 9, THIRD)))
    assert board.whole(1) is None
    board.add(_mark(1, 0, SECOND, _piece(1, 0, 3, FIRST)))
    found = board.whole(1)
    assert found is not None and found[0] == FIRST
    board.take(*found)
    assert board.whole(1) == (SECOND, [_piece(1, 3, 6, SECOND)])
    board.take(SECOND, [_piece(1, 3, 6, SECOND)])
    assert board.whole(1) is None
    board.add(_mark(1, 6, THIRD, _piece(1, 6, 8, THIRD)))
    assert board.whole(1) == (THIRD, [_piece(1, 6, 8, THIRD), _piece(1, 8, 9, THIRD)])


def test_a_partition_of_which_nothing_is_known_holds_back_all() -> None:
    board = TopicBoard({}, None)
    board.open(0, 1, BEGIN)
    board.add(_mark(1, 0, END, _piece(1, 0, 3, FIRST)))
    assert board.whole(2) is None
    board.open(1, 2, BEGIN)
    assert board.whole(2) is None
    board.add(Mark(1, 2, 0, 0, SECOND))
    assert board.whole(2) == (FIRST, [_piece(1, 0, 3, FIRST)])
    assert board.whole(2, until=FIRST) is None


def test_what_a_dead_reader_has_staged_counts_and_what_comes_twice_is_spent() -> None:
    board = TopicBoard({}, None)
    board.open(0, 1, BEGIN)
    board.add(_mark(1, 0, SECOND, _piece(1, 0, 3, FIRST)))
    board.open(0, 2, BEGIN)
    found = board.whole(1)
    assert found == (FIRST, [_piece(1, 0, 3, FIRST)])
    board.take(*found)
    again = (_piece(2, 0, 3, FIRST), _piece(2, 3, 9, SECOND))
    board.add(_mark(2, 0, THIRD, *again))
    found = board.whole(1)
    assert found == (SECOND, [again[1]])
    board.take(*found)
    assert board.spent == [again[0]] and board.whole(1) is None


def test_a_chain_that_ends_before_what_is_due_says_nothing() -> None:
    """Its partition was quiet for it; another session has found more records since."""
    board = TopicBoard({}, None)
    board.open(0, 1, BEGIN)
    board.open(0, 2, BEGIN)
    board.open(1, 3, BEGIN)
    board.add(_mark(1, 0, SECOND, _piece(1, 0, 3, FIRST)))
    board.add(Mark(1, 3, 0, 0, END))
    found = board.whole(2)
    assert found == (FIRST, [_piece(1, 0, 3, FIRST)])
    board.take(*found)
    board.add(Mark(0, 2, 0, 0, END))
    assert not board.ended(2) and board.whole(2) is None
    board.add(_mark(1, 3, END, _piece(1, 3, 5, SECOND)))
    assert board.whole(2) == (SECOND, [_piece(1, 3, 5, SECOND)])


def test_a_block_across_what_is_due_needs_a_new_session() -> None:
    board = TopicBoard({0: Position(next=4, time=15)}, FIRST)
    board.open(0, 1, Start(0, CUTTER.start()))
    board.add(_mark(1, 0, THIRD, _piece(1, 0, 3, FIRST), _piece(1, 3, 6, SECOND)))
    assert board.whole(1) is None and board.stuck() == [0]
    start = board.start(0, BEGIN, CUTTER)
    assert start == Start(4, CUTTER.after(FIRST, 15))
    board.open(0, 2, start)
    assert board.stuck() == []
    board.add(_mark(2, 4, THIRD, _piece(2, 4, 6, SECOND)))
    assert board.whole(1) == (SECOND, [_piece(2, 4, 6, SECOND)])


@pytest.mark.parametrize("late", [FIRST, PaneId(0, 3)])
def test_a_record_for_a_committed_pane_goes_into_the_next_one(late: PaneId) -> None:
    board = TopicBoard({0: Position(next=4, time=15)}, FIRST)
    board.open(0, 1, Start(4, Point(0, PaneId(0, 0), 0)))
    board.add(_mark(1, 4, THIRD, _piece(1, 4, 5, late), _piece(1, 5, 7, SECOND)))
    assert board.whole(1) == (PaneId(10, 1), [_piece(1, 4, 5, late)])


def test_marks_are_as_they_were_written() -> None:
    marks = [
        Mark(3, 7, 5, 9, THIRD, (StagedRange(3, 7, 5, 9, 12, FIRST, '{"documents": 4}'),)),
        Mark(0, 8, 0, 0, END),
    ]
    assert read_marks(write_marks(marks)) == marks
    assert len(Counter(piece.stem for each in marks for piece in each.pieces)) == 1


def test_the_backlog_is_what_no_pane_holds_yet() -> None:
    pane, then = PaneId(0, 0), PaneId(1000, 0)
    board = TopicBoard({1: Position(next=40, time=0)}, None)
    firsts = [Start(5, CUTTER.start()), Start(0, CUTTER.start())]
    assert board.backlog(firsts, [9, 50]) == {0: 4, 1: 10} and not board.waiting
    board.open(0, 1, firsts[0])
    piece = _piece(1, 5, 8, pane)
    board.add(_mark(1, 5, then, piece))
    assert board.waiting
    board.take(pane, [piece])
    assert board.backlog(firsts, [9, 50]) == {0: 1, 1: 10} and not board.waiting
    assert board.backlog(firsts, [7, 50]) == {0: 0, 1: 10}  # the end was asked before
