"""Cuts a topic into panes by what the broker says of it, without reading a record.

A pane is a span of time [S, T), and of each partition a range of offsets. `offsets_for_times` says
where a range ends: at the first record whose timestamp is at least T. This is where the effective
time of the partition's records reaches T, whatever the order of their timestamps. Of a partition
that has no such record the range ends at the partition's end.

1. A pane is cut when each partition has a record from T on, or when the clock has passed T by
   kafka.grace. A record that is dated more than an hour ahead of the clock counts as none.
2. A partition that is read to its end stands at the clock's time. So old records that come later
   are in the present span.
3. A cut pane is noted in ledger/cuts/ by a write that only creates, before it is made. A run that
   goes on, or takes over, reads the same ranges again. A note goes once its pane is committed; one
   that says what is left of its span goes with the pane after it.
4. A span with more offsets than a pane may hold is cut into parts, of each partition in proportion.
5. When a broker is back, its producers still have records of the time when it was away. Nothing is
   cut by the clock until they had as long again, at most RETURN_SECONDS.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from evenflow.gates.ledger.history import History
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import Position, SourceRange
from evenflow.transforms.kafka.client import PATIENCE_SECONDS
from evenflow.transforms.kafka.errors import BeyondEndError, UnreachableError
from evenflow.transforms.kafka.lookups import Lookups
from evenflow.transforms.kafka.panes import FUTURE_MS, OffsetRange, PaneId
from evenflow.transforms.storage.storage import Storage

CUTS = "ledger/cuts"
# Records in a MiB of pane.mib: nobody knows the bytes of a range before it is read
MIB_RECORDS = 1024
LOOK_SECONDS = 0.1  # between two looks at a pane that is due: short compared to the span of a pane
STORE_LOOK_SECONDS = 0.5  # in an object store, where a look costs requests
IDLE_SECONDS = 1.0  # between two looks while no pane is due
WATCH_SECONDS = 2.0  # between two questions for new partitions
AWAY_SECONDS = 5.0  # without an answer; then the broker was away
RETURN_SECONDS = 30.0  # the longest time that its producers are waited for


@dataclass(frozen=True)
class TopicPane:
    """A pane of a topic, as it was cut.

    Attributes:
        rest: What is left of the span for the parts behind it.
    """

    number: int
    id: PaneId
    ranges: tuple[OffsetRange, ...]
    span_ms: int
    rest: tuple[OffsetRange, ...] = ()

    def note(self) -> bytes:
        """What is noted of it."""
        ranges, rest = map(list, self.ranges), map(list, self.rest)
        data = {"id": list(self.id), "ms": self.span_ms}
        return orjson.dumps({**data, "ranges": list(ranges), "rest": list(rest)})

    @classmethod
    def read(cls, number: int, noted: bytes) -> TopicPane:
        """Read what was noted."""
        data = orjson.loads(noted)
        ranges, rest = (
            tuple(OffsetRange(*each) for each in data[name]) for name in ("ranges", "rest")
        )
        return cls(number, PaneId(*data["id"]), ranges, data["ms"], rest)


def cut_name(pane: int) -> str:
    """The file of a note."""
    return f"{CUTS}/{pane:08d}.json"


def read_cut(output: Storage, pane: int) -> TopicPane | None:
    """Read what is noted of a pane; None: it is not cut yet."""
    try:
        return TopicPane.read(pane, output.read(cut_name(pane)))
    except FileNotFoundError:
        return None


def positions(given: Mapping[str, Position]) -> dict[int, int]:
    """The next offset of each partition, by its number."""
    return {int(partition): position.next for partition, position in given.items()}


def most_records(config: Config) -> tuple[int, str]:
    """How many records a pane of a topic may have, and the key that says so."""
    docs = config.pane.docs
    return (docs, "pane.docs") if docs else (config.pane.mib * MIB_RECORDS, "pane.mib")


class At(NamedTuple):
    """How far a topic is cut.

    Attributes:
        next: The next offset of each partition that is not in a pane.
        number: The number of the next pane.
        last: The last pane; None: there is none.
        rest: What is left of its span.
        floor: No later pane begins before this time, in milliseconds since 1970.
    """

    next: dict[int, int]
    number: int = 0
    last: PaneId | None = None
    rest: tuple[OffsetRange, ...] = ()
    floor: int = 0

    def behind(self, pane: TopicPane) -> At:
        """Where cutting goes on behind a pane."""
        now = self.next | {each.partition: each.next for each in pane.ranges}
        floor = max(self.floor, pane.id.span + (0 if pane.rest else pane.span_ms))
        return At(now, pane.number + 1, pane.id, pane.rest, floor)


START = At({})


class Cutter:
    """Cuts a topic.

    Args:
        partitions: Says how many partitions the topic has.
        stops: Where each partition ends; None: they have no end.
        note: Called with what a user should know.
        at: How far the topic is cut.
        patience: How many seconds a broker may be away.

    Attributes:
        at: How far the topic is cut.
        pause: How many seconds to wait before the next look.
    """

    def __init__(
        self,
        lookups: Lookups,
        partitions: Callable[[], int],
        span_ms: int,
        config: Config,
        stops: Sequence[int] | None = None,
        note: Callable[[str], None] = lambda text: None,
        clock: Callable[[], float] = time.time,
        look: float = LOOK_SECONDS,
        at: At = START,
        patience: float = PATIENCE_SECONDS,
    ):
        self._lookups, self._count, self.at = lookups, partitions, at
        self._span_ms, self._grace_ms = span_ms, int(config.kafka.grace * 1000)
        self._most = most_records(config)[0]
        self._stops, self._note, self._clock, self._look = stops, note, clock, look
        self._patience = patience
        self._partitions, self._counted = 0, -WATCH_SECONDS
        self._ends: dict[int, int] = {}
        self._answered = time.monotonic()
        self._failing: float | None = None
        self._wait_until = 0.0
        self.pause = 0.0

    def silence(self) -> float:
        """Return for how many seconds the topic has not answered."""
        return 0.0 if self._failing is None else time.monotonic() - self._failing

    @property
    def over(self) -> bool:
        """Whether all is cut, up to the stops."""
        return self._stops is not None and all(
            self.at.next.get(number, 0) >= stop for number, stop in enumerate(self._stops)
        )

    def _fail(self, error: UnreachableError) -> None:
        """Note that the broker does not answer; raise it once that has lasted too long."""
        now = time.monotonic()
        if self._failing is None:
            self._failing = now
            self._note(f"{error}; trying on")
        if now - self._failing > self._patience:
            raise error
        self.pause = IDLE_SECONDS

    def look(self) -> None:
        """Ask for the partitions and their ends. Raises KafkaSourceError."""
        if self._stops is not None:
            self._partitions = len(self._stops)
        elif time.monotonic() - self._counted > WATCH_SECONDS:
            self._partitions, self._counted = self._count(), time.monotonic()
        if fresh := [each for each in range(self._partitions) if each not in self.at.next]:
            self.at = self.at._replace(next=self.at.next | self._lookups.firsts(fresh))
        ends = self._lookups.ends(range(self._partitions))
        for number, end in ends.items():
            stop = end if self._stops is None else min(self._stops[number], end)
            due = self.at.next[number]
            if end < due or (self._stops is not None and stop < self._stops[number]):
                raise BeyondEndError(
                    f"{self._lookups.topic} partition {number}: offset {due} is due"
                    f" but the partition ends at {end}: was the topic deleted and made anew, or its"
                    " log cut? Go on with a new output directory"
                )
            ends[number] = stop
        self._ends = ends
        now = time.monotonic()
        away = now - self._answered if self._failing is None else now - self._failing
        if self._failing is not None and away > AWAY_SECONDS:
            self._wait_until = now + min(away, RETURN_SECONDS)
        self._answered, self._failing = now, None

    def cut(self) -> TopicPane | None:
        """Cut the next pane; None: none is due, and `pause` says for how long.

        Raises:
            KafkaSourceError: Cutting cannot go on.
        """
        try:
            return self._cut()
        except UnreachableError as error:
            self._fail(error)
            return None

    def _cut(self) -> TopicPane | None:
        if self.at.rest:
            assert self.at.last is not None
            return self._part(PaneId(self.at.last.span, self.at.last.part + 1), self.at.rest)
        now = int(self._clock() * 1000)  # before the ends: records that come later are of later
        self.look()
        due = self.at.next
        sure = now - self._grace_ms if time.monotonic() >= self._wait_until else 0
        if all(end <= due[number] for number, end in self._ends.items()):
            if self._stops is None:
                passed = max(self.at.floor, sure - sure % self._span_ms)
                self.at = self.at._replace(floor=passed)
            self.pause = self._until(self.at.floor + self._span_ms, now)
            return None
        span, ends, known = self._first(now)
        until = span + self._span_ms
        if not known and self._stops is None and sure < until:
            self.pause = self._until(until, now)
            return None
        ranges = (OffsetRange(each, due[each], end) for each, end in sorted(ends.items()))
        return self._part(PaneId(span, 0), [each for each in ranges if each.next > each.first])

    def _until(self, due: int, now: int) -> float:
        """Seconds to wait for a pane that is due at a time."""
        return min(max((due - now) / 1000, self._look), max(IDLE_SECONDS, self._look))

    def _first(self, now: int) -> tuple[int, dict[int, int], bool]:
        """Find the first span with records.

        Returns its start, the offset of each partition at which it ends, and whether each partition
        has a record behind it.
        """
        asked: dict[int, tuple[dict[int, int], bool]] = {}
        floor, due = self.at.floor, self.at.next

        def has_records(spans: int) -> bool:
            asked[spans] = found = self._bounds(floor + spans * self._span_ms, now)
            return any(end > due[number] for number, end in found[0].items())

        most = max((now + FUTURE_MS - floor) // self._span_ms + 1, 1)
        low, high = 0, 1  # spans from the floor on: without records, and perhaps with some
        while high < most and not has_records(high):
            low, high = high, high * 2
        high = min(high, most)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if has_records(middle) else (middle, high)
        ends, known = asked.get(high) or self._bounds(floor + high * self._span_ms, now)
        return floor + (high - 1) * self._span_ms, ends, known

    def _bounds(self, until: int, now: int) -> tuple[dict[int, int], bool]:
        """Where each partition reaches a time, and whether each has."""
        found = self._lookups.since(until, range(self._partitions))
        ends, known = dict(self._ends), True
        for number, end in self._ends.items():
            each = found.get(number)
            if each is None or each.time > now + FUTURE_MS or each.offset >= end:
                known = False
            else:
                ends[number] = max(each.offset, self.at.next[number])
        return ends, known

    def _part(self, id: PaneId, due: Sequence[OffsetRange]) -> TopicPane:
        """Take as many offsets of a span as a pane may hold."""
        total = sum(each.next - each.first for each in due)
        taken = -(-total // -(-total // self._most))
        ranges, rest, before = [], [], 0
        for number, first, end in due:
            begin, before = before * taken // total, before + end - first
            middle = first + before * taken // total - begin
            ranges.append(OffsetRange(number, first, middle))
            rest.append(OffsetRange(number, middle, end))
        given, left = (
            tuple(each for each in parts if each.next > each.first) for parts in (ranges, rest)
        )
        return TopicPane(self.at.number, id, given, self._span_ms, left)


class TopicSource(Cutter):
    """Cuts the panes of a topic that a ledger lacks, and notes each in the output.

    Arguments are those of `Cutter`.

    Attributes:
        given: The panes that are cut and not committed.
    """

    def __init__(self, output: Storage, entries: History, *arguments: Any, **named: Any):
        totals = entries.totals
        number, next_ = len(entries), positions(totals.positions)
        last = None if totals.stream is None else PaneId(*totals.stream)
        look = LOOK_SECONDS if output.local is not None else STORE_LOOK_SECONDS
        super().__init__(*arguments, look=look, **named)
        rest: tuple[OffsetRange, ...] = ()
        if number and (cut := read_cut(output, number - 1)) is not None:
            at_end = all(next_.get(each.partition) == each.next for each in cut.ranges)
            if at_end and cut.id == last:
                rest = cut.rest
        floor = 0 if last is None else last.span + (0 if rest else self._span_ms)
        self.at = At(next_, number, last, rest, floor)
        self._output = output
        self.given: dict[int, TopicPane] = {}

    def backlog(self) -> dict[int, int]:
        """Count the records of each partition that are not committed yet, cut or not."""
        due = dict(self.at.next)
        for pane in reversed(self.given.values()):  # the earliest pane has the last word
            due |= {each.partition: each.first for each in pane.ranges}
        return {number: max(0, end - due.get(number, 0)) for number, end in self._ends.items()}

    def panes(self) -> Iterator[TopicPane | None]:
        """Cut panes in order; None where none is due, and `pause` says for how long."""
        while (pane := self._noted()) is not None:
            yield self._taken(pane)
        while not self.over:
            pane = self.cut()
            if pane is not None and not self._output.create(cut_name(pane.number), pane.note()):
                pane = self._noted()  # of a run that is to lose, or has lost, the lease
            yield None if pane is None else self._taken(pane)

    def _noted(self) -> TopicPane | None:
        """The next pane as it is noted; None where nothing is.

        A run that has lost the lease may note a pane that does not go on from the last one here.
        """
        pane = read_cut(self._output, self.at.number)
        if pane is None:
            return None
        goes_on = all(
            self.at.next.get(each.partition, each.first) == each.first for each in pane.ranges
        )
        if goes_on and (self.at.last is None or pane.id > self.at.last):
            return pane
        self._output.remove([cut_name(self.at.number)])
        return None

    def was_given(self, pane: int, ranges: Sequence[SourceRange]) -> bool:
        """Whether a pane was made of the ranges that were cut for it."""
        cut = self.given[pane].ranges
        return [(each.first, each.next - 1) for each in cut] == [
            (each.first, each.last) for each in ranges
        ]

    def committed(self, pane: int) -> None:
        """Delete notes that no start needs, once a pane is committed. Raises OSError."""
        done = [] if self.given.pop(pane).rest else [cut_name(pane)]
        self._output.remove([cut_name(pane - 1), *done])

    def _taken(self, pane: TopicPane) -> TopicPane:
        """Go on behind a pane."""
        self.at = self.at.behind(pane)
        self.given[pane.number] = pane
        return pane
