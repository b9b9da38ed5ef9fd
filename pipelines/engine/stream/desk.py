"""The committer's side of what is shared with readers: gives them partitions, takes their marks.

A reader that is silent for GONE_SECONDS counts as gone, and its partitions are given to the others.
It may go on nevertheless: the board takes every record once (see `board`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import orjson

from evenflow.pipelines.engine.stream.board import TopicBoard
from evenflow.pipelines.engine.stream.marks import (
    ALIVE,
    ERROR,
    MARKS,
    READERS,
    STATE,
    TASKS,
    ReadTask,
    State,
    read_marks,
    write_state,
    write_tasks,
)
from evenflow.transforms.kafka import errors
from evenflow.transforms.kafka.panes import PaneCutter, Start
from evenflow.transforms.storage.storage import Storage

GONE_SECONDS = 15.0
TELL_SECONDS = 0.25  # between two files that say how far the committer is

SHARE_SECONDS = 0.5  # between two looks which readers are there


def spread(partitions: int, readers: Sequence[str], given: Mapping[int, str]) -> dict[int, str]:
    """Spread partitions evenly over readers; as few as possible change their reader."""
    if not readers:
        return dict(given)
    kept: dict[str, list[int]] = {name: [] for name in readers}
    free: list[int] = []
    for number in range(partitions):
        kept.get(given.get(number, ""), free).append(number)
    least, more = divmod(partitions, len(readers))
    by_load = sorted(readers, key=lambda name: -len(kept[name]))
    room = {name: least + (place < more) for place, name in enumerate(by_load)}
    for name in by_load:
        free += kept[name][room[name] :]
        del kept[name][room[name] :]
    for name in by_load:
        while len(kept[name]) < room[name]:
            kept[name].append(free.pop())
    return {number: name for name, numbers in kept.items() for number in numbers}


class Desk:
    """Gives partitions to readers, takes their marks, and says how far the committer is."""

    def __init__(
        self,
        run: Storage,
        board: TopicBoard,
        cutter: PaneCutter,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._run, self.board, self._cutter, self._clock = run, board, cutter, clock
        self._signs: dict[str, tuple[object, float]] = {}
        self._given: dict[int, str] = {}
        self.tasks: dict[int, ReadTask] = {}
        self._sessions = 0
        self._turn = 0
        self._told: State | None = None
        self._told_at = 0.0
        self._shared_at = -SHARE_SECONDS

    def tell(self, held: bool) -> None:
        """Tell readers how far the committer is, if it is new. The first call begins the run."""
        state, now = State(self.board.last, held, self._turn), self._clock()
        urgent = self._told is None or state[1:] != self._told[1:]
        if state != self._told and (urgent or now - self._told_at >= TELL_SECONDS):
            self._run.write(STATE, write_state(state))
            self._told, self._told_at = state, now

    def close(self) -> None:
        """End the run: readers end when they see it. Raises OSError."""
        self._run.remove([STATE])

    def share(self, firsts: Sequence[Start], stops: Sequence[int] | None) -> None:
        """Look which readers are there, and give them partitions.

        `stops`: Where each partition ends; None: they have no end.
        """
        if self._clock() - self._shared_at < SHARE_SECONDS:
            return
        self._shared_at = self._clock()
        readers = self._readers()
        wanted = spread(len(firsts), readers, self._given)
        stuck = set(self.board.stuck())
        changed: set[str] = set()
        for number, name in wanted.items():
            if self._given.get(number) == name and number not in stuck:
                continue
            changed |= {name, self._given.get(number, name)}
            self._sessions += 1
            start = self.board.start(number, firsts[number], self._cutter)
            self.board.open(number, self._sessions, start)
            self.tasks[number] = ReadTask(self._sessions, start, stops[number] if stops else None)
        self._given = wanted
        for name in changed:
            mine = {number: self.tasks[number] for number, each in wanted.items() if each == name}
            self._run.write(f"{TASKS}/{name}.json", write_tasks(mine))
        self._turn += bool(changed)

    def _readers(self) -> list[str]:
        """Names of the readers that are there. Raises what one of them gave up for."""
        now = self._clock()
        found: list[str] = []
        for each in self._run.tree(READERS):
            name = each.name.removeprefix(f"{READERS}/")
            if name.endswith(ERROR):
                self._raise(each.name)
            if not name.endswith(ALIVE):
                continue
            name, sign = name.removesuffix(ALIVE), (each.modified, each.identity)
            if self._signs.get(name, (None, 0.0))[0] != sign:
                self._signs[name] = (sign, now)
            if now - self._signs[name][1] < GONE_SECONDS:
                found.append(name)
        return sorted(found)

    def _raise(self, name: str) -> None:
        """Raise what a reader has written to its file of errors."""
        try:
            kind, message = orjson.loads(self._run.read(name))
        except FileNotFoundError:  # it was listed late
            return
        found = getattr(errors, kind, None)
        if isinstance(found, type) and issubclass(found, errors.KafkaSourceError):
            raise found(message)
        raise errors.KafkaSourceError(message)

    def take(self) -> int:
        """Take the marks that have come."""
        names = [f"{MARKS}/{name}" for name in self._run.names(MARKS)]
        if not names:
            return 0
        for data in self._run.read_all(names):
            for mark in read_marks(data) if data is not None else ():  # None: listed late
                self.board.add(mark)
        self._run.remove(names)
        return len(names)
