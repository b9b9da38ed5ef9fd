"""What readers of a topic and the committer tell each other, in files of the storage.

No message of a runner is needed for it, so any runner will do. All is below staged/RUN/, where RUN
is of one driver and never used again:

    state.json        the committer's: the last committed pane, whether the gate is held, and the
                      format of what is staged. The run goes on as long as this file is there;
                      readers end when it goes.
    tasks/ID.json     the committer's: the partitions that a reader is to read, and from where
    readers/ID.json   a reader's sign of life
    readers/ID.error  why a reader gave up
    marks/ID-N.json   a reader's marks: what it has staged, and which panes it has passed
    blocks/PANE/…     the staged blocks

A mark is written once and read once: the committer deletes it. So a look at the marks costs as many
requests as there are new marks, however many panes there were.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import orjson

from evenflow.schemas.ledger import FORMAT
from evenflow.transforms.kafka.errors import KafkaSourceError
from evenflow.transforms.kafka.panes import PaneId, Point, Start

STATE = "state.json"
TASKS, READERS, MARKS, BLOCKS = "tasks", "readers", "marks", "blocks"
ALIVE, ERROR = ".json", ".error"  # suffixes in readers/


class StagedRange(NamedTuple):
    """A staged block of a partition.

    `time`: Time of the last record, in milliseconds since 1970.
    """

    partition: int
    session: int
    start: int
    next: int
    time: int
    pane: PaneId
    figures: str

    @property
    def stem(self) -> str:
        """The name of its files, without suffix; no other session has it."""
        return f"{self.partition:06d}-{self.start:020d}-{self.session:08d}"


class Mark(NamedTuple):
    """What a session has done with a partition since its last mark."""

    partition: int
    session: int
    start: int
    next: int
    passed: PaneId
    pieces: tuple[StagedRange, ...] = ()


class ReadTask(NamedTuple):
    """A partition to be read, in one session.

    `stop`: The offset at which it ends; None: never.
    """

    session: int
    start: Start
    stop: int | None


class State(NamedTuple):
    """How far the committer is.

    `pane`: The last committed pane; None: there is none.
    """

    pane: PaneId | None
    held: bool
    turn: int


def write_marks(marks: Iterable[Mark]) -> bytes:
    """Return marks as the bytes of a file."""
    return orjson.dumps(
        [
            [
                each.partition,
                each.session,
                each.start,
                each.next,
                list(each.passed),
                [
                    [piece.start, piece.next, piece.time, list(piece.pane), piece.figures]
                    for piece in each.pieces
                ],
            ]
            for each in marks
        ]
    )


def read_marks(data: bytes) -> list[Mark]:
    """Read what write_marks returned."""
    return [
        Mark(
            partition,
            session,
            start,
            next_,
            PaneId(*passed),
            tuple(
                [
                    StagedRange(partition, session, first, after, time, PaneId(*pane), figures)
                    for first, after, time, pane, figures in pieces
                ]
            ),
        )
        for partition, session, start, next_, passed, pieces in orjson.loads(data)
    ]


def write_tasks(tasks: dict[int, ReadTask]) -> bytes:
    """Return the partitions that a reader is to read as the bytes of a file."""
    return orjson.dumps(
        [
            [number, task.session, task.start.offset, _flat(task.start.point), task.stop]
            for number, task in sorted(tasks.items())
        ]
    )


def read_tasks(data: bytes) -> dict[int, ReadTask]:
    """Read what write_tasks returned."""
    return {
        number: ReadTask(session, Start(offset, Point(time, PaneId(span, part), filled)), stop)
        for number, session, offset, (time, span, part, filled), stop in orjson.loads(data)
    }


def write_state(state: State) -> bytes:
    """Return how far the committer is as the bytes of a file."""
    return orjson.dumps([None if state.pane is None else list(state.pane), *state[1:], FORMAT])


def read_state(data: bytes) -> State:
    """Read what write_state returned."""
    pane, held, turn, *told = orjson.loads(data)
    if told != [FORMAT]:
        raise KafkaSourceError(
            f"the committer's staged data have format {told}, those of this reader [{FORMAT}];"
            " start the readers with the committer's version of Evenflow"
        )
    return State(None if pane is None else PaneId(*pane), held, turn)


def _flat(point: Point) -> list[int]:
    """A point as a list."""
    return [point.time, *point.pane, point.filled]
