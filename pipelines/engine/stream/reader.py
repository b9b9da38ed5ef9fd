"""Reads, annotates and stages partitions of a topic in a worker, until the run is over.

A reader asks the committer for partitions, by files (see `marks`). It reads them in turn. What it
has staged it says in marks, soon after a partition has left a pane. It does not depend on the
runner for more than being started.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import uuid4

import orjson

from evenflow.pipelines.engine.panes.closing import stage
from evenflow.pipelines.engine.stream import parcels
from evenflow.pipelines.engine.stream.marks import (
    ALIVE,
    ERROR,
    MARKS,
    READERS,
    STATE,
    TASKS,
    Mark,
    ReadTask,
    StagedRange,
    State,
    read_state,
    read_tasks,
    write_marks,
)
from evenflow.transforms.annotation.annotate import Annotated, Annotator
from evenflow.transforms.io.records import Documents
from evenflow.transforms.io.unforeseen import Spoilt, without_spoilt
from evenflow.transforms.kafka import records
from evenflow.transforms.kafka.blocks import Item, Lost
from evenflow.transforms.kafka.client import PATIENCE_SECONDS, Ends, PartitionReader
from evenflow.transforms.kafka.errors import KafkaSourceError
from evenflow.transforms.kafka.panes import PaneCutter, PaneId
from evenflow.transforms.kafka.reading import PartitionReading
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.transforms.storage.storage import Storage

# A partition that has this many panes with records beyond the last committed one waits, so that a
# slow partition does not let the others fill staged/. In MiB it is as many times pane.mib.
OPEN_PANES = 64
SIGN_SECONDS = 2.0  # between two signs of life
LOOK_SECONDS = 0.2  # between two looks at the committer's files, in a local directory
STORE_LOOK_SECONDS = 1.0  # and in an object store, where a look costs a request
MARK_SECONDS = 0.25  # between two files of marks
REST_SECONDS = 0.1  # the longest sleep while nothing is there


@dataclass(frozen=True)
class Reads:
    """What is read and how; it travels to the workers.

    `patience`: How many seconds a broker may be away. `publishes`: Whether accepted documents are
    published.
    """

    settings: KafkaSettings
    topic: str
    cutter: PaneCutter
    values: records.Values
    run: Storage
    patience: float = PATIENCE_SECONDS
    publishes: bool = False


@dataclass
class _Sitting:
    """A session of a partition in this reader.

    `told_passed`: What marks have told of `passed`; None: nothing yet.
    """

    partition: int
    session: int
    reading: PartitionReading
    next: int
    passed: PaneId
    told: int
    told_passed: PaneId | None = None
    pieces: list[StagedRange] = field(default_factory=list[StagedRange])
    open: list[PaneId] = field(default_factory=list[PaneId])

    @property
    def has_left(self) -> bool:
        """Whether it has left a pane since its last mark."""
        return self.passed != self.told_passed

    def waits(self, last: PaneId | None) -> bool:
        """Whether it is too far ahead of the last committed pane."""
        if last is not None:
            self.open = [pane for pane in self.open if pane > last]
        return len(self.open) > OPEN_PANES

    def add(self, piece: StagedRange) -> None:
        """Note a staged block."""
        self.pieces.append(piece)
        self.next, self.passed = piece.next, piece.pane
        if not self.open or self.open[-1] != piece.pane:
            self.open.append(piece.pane)

    def mark(self) -> Mark:
        """What is new since the last mark."""
        mark = Mark(
            self.partition, self.session, self.told, self.next, self.passed, tuple(self.pieces)
        )
        self.told, self.told_passed, self.pieces = self.next, self.passed, []
        return mark


class TopicReader:
    """Reads the partitions that the committer gives it."""

    def __init__(self, reads: Reads, annotator: Annotator):
        self._reads, self._annotator, self._run = reads, annotator, reads.run
        self._name = uuid4().hex
        self._ends = Ends(reads.settings)
        self._sittings: dict[int, _Sitting] = {}
        self._left: list[Mark] = []
        self._state = State(None, False, -1)
        self._look_at = self._mark_at = 0.0
        self._marks = 0
        self._look_seconds = LOOK_SECONDS if self._run.local is not None else STORE_LOOK_SECONDS

    def read(self) -> None:
        """Read until the run is over."""
        with self._signs():
            try:
                while self._go_on():
                    if not self._read_all():
                        self._rest()
            except KafkaSourceError as error:
                words = orjson.dumps([type(error).__name__, str(error)])
                self._run.write(f"{READERS}/{self._name}{ERROR}", words)
                raise
            finally:
                for each in self._sittings.values():
                    each.reading.close()
                self._ends.close()

    @contextlib.contextmanager
    def _signs(self) -> Iterator[None]:
        """Give signs of life during the with-block, from a thread of its own."""
        name, ended = f"{READERS}/{self._name}{ALIVE}", threading.Event()
        self._run.write(name, b"0")

        def give() -> None:
            count = 0
            while not ended.wait(SIGN_SECONDS):
                count += 1
                with contextlib.suppress(OSError):  # the committer waits for GONE_SECONDS
                    self._run.write(name, str(count).encode())

        thread = threading.Thread(target=give, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(SIGN_SECONDS)
            with contextlib.suppress(OSError):
                self._run.remove([name])

    def _go_on(self) -> bool:
        """Do what is due between two blocks: tell what was done, ask how things stand."""
        now = time.monotonic()
        if now >= self._mark_at and (
            self._left or any(each.has_left for each in self._sittings.values())
        ):
            self._tell()
            self._mark_at = time.monotonic() + MARK_SECONDS
        if now < self._look_at:
            return True
        self._look_at = now + self._look_seconds
        try:
            state = read_state(self._run.read(STATE))
            if state.turn != self._state.turn:
                self._take(self._run.read(f"{TASKS}/{self._name}.json"))
        except FileNotFoundError:
            # Without a task there is nothing to read yet; without a state, nothing any more
            return self._run.exists(STATE)
        self._state = state
        return True

    def _tell(self) -> None:
        """Write a file of marks."""
        marks = [
            *self._left,
            *(each.mark() for each in self._sittings.values() if each.pieces or each.has_left),
        ]
        name = f"{MARKS}/{self._name}-{self._marks:012d}.json"
        self._run.create(name, write_marks(marks), durable=False)
        self._marks, self._left = self._marks + 1, []

    def _take(self, data: bytes) -> None:
        """Take over new partitions, and give up others."""
        tasks = read_tasks(data)
        for number, sitting in list(self._sittings.items()):
            if number not in tasks or tasks[number].session != sitting.session:
                self._left.append(sitting.mark())  # perhaps it is of use
                del self._sittings[number]
                sitting.reading.close()
        for number, task in tasks.items():
            if number not in self._sittings:
                self._sittings[number] = self._sit(number, task)

    def _sit(self, number: int, task: ReadTask) -> _Sitting:
        """Begin a session of a partition."""
        reads = self._reads
        reader = PartitionReader(reads.settings, reads.topic, number, self._ends, reads.patience)
        reading = PartitionReading(reader, task.start, task.stop, reads.cutter)
        offset = task.start.offset
        return _Sitting(number, task.session, reading, offset, reading.passed, offset)

    def _read_all(self) -> bool:
        """Read once of each partition; return whether there was something."""
        found = False
        for sitting in list(self._sittings.values()):
            if self._state.held:
                break
            if sitting.reading.due > time.monotonic() or sitting.waits(self._state.pane):
                continue
            items = sitting.reading.read()
            for item in items:
                found = True
                sitting.add(
                    stage_item(
                        item,
                        sitting.session,
                        self._run,
                        self._reads.values,
                        self._annotator,
                        self._reads.publishes,
                    )
                )
                if not self._go_on():
                    self._look_at = 0.0
                    return True
                if self._sittings.get(sitting.partition) is not sitting:
                    break  # it was given to another reader
            else:
                sitting.next, sitting.passed = sitting.reading.at, sitting.reading.passed
        return found

    def _rest(self) -> None:
        """Sleep until something may be there."""
        dues = [each.reading.due for each in self._sittings.values()]
        seconds = min(dues, default=0.0) - time.monotonic()
        time.sleep(min(max(seconds, REST_SECONDS / 10), REST_SECONDS))


def stage_item(
    item: Item,
    session: int,
    run: Storage,
    values: records.Values,
    annotator: Annotator,
    publishes: bool = False,
) -> StagedRange:
    """Annotate and stage a block, or offsets that are lost."""
    piece = StagedRange(
        item.partition, session, item.start, item.next, item.end.time, item.pane, ""
    )
    done = _annotated(item, values, annotator, publishes)
    with parcels.sending(run, piece) as block:
        stage(done, block, annotator)
    return piece._replace(figures=orjson.dumps(done.figures).decode())


def _annotated(
    item: Item, values: records.Values, annotator: Annotator, publishes: bool
) -> Annotated:
    """A block annotated; a gap becomes one dead letter."""
    if isinstance(item, Lost):
        nothing = annotator.annotate_documents(Documents(""), 0)
        nothing.figures.dead_reasons = {item.kind: item.records}
        return Annotated(nothing.table, [records.lost(item)], nothing.figures)

    def done(spoilt: Spoilt) -> Annotated:
        found = records.validate(item, annotator.config, annotator.own, values, spoilt, publishes)
        return annotator.annotate_documents(found, sum(len(value or b"") for value in item.values))

    return without_spoilt(done, item.size, annotator.probe)
