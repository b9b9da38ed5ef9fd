"""A quiet partition's panes are those of a partition that is read at once, also where its broker is
away for a while: producers send later what they have from that time.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from kafka.errors import KafkaConnectionError

from evenflow.transforms.kafka import client, reading
from evenflow.transforms.kafka.client import Ends, PartitionReader
from evenflow.transforms.kafka.errors import BeyondEndError, OutOfRangeError
from evenflow.transforms.kafka.panes import END, PaneCutter, Start
from evenflow.transforms.kafka.reading import PartitionReading
from evenflow.transforms.kafka.settings import KafkaSettings

TP = client.TopicPartition("t", 0)
BEGIN = 1_700_000_000  # seconds since 1970, where the clock begins
CUTTER = PaneCutter(5_000)


class Clock:
    """A clock that goes where it is asked; it stands for the module `time`. ahead: of the time of
    day alone.
    """

    now = ahead = 0.0

    def time(self) -> float:
        """Seconds since 1970."""
        return BEGIN + self.now + self.ahead

    def monotonic(self) -> float:
        """Seconds."""
        return self.now


class Topic:
    """A partition whose broker is away for a while. made: when records are made and when the broker
    has them, in seconds. It stands for a consumer of kafka-python too.
    """

    def __init__(
        self, clock: Clock, made: list[tuple[float, float]], away: tuple[float, float], slow: bool
    ):
        self._clock, self._made, self._away, self._slow, self._at = clock, made, away, slow, 0

    questions = 0

    def connect(self, settings: KafkaSettings, **options: Any) -> Topic:
        """A client, which asks nothing yet."""
        return Topic(self._clock, self._made, self._away, self._slow)

    def assign(self, partitions: Any) -> None:
        """Take the partition."""

    def seek(self, partition: Any, offset: int) -> None:
        """Go there."""
        self._at = offset

    def highwater(self, partition: Any) -> int:
        """What a fetch has told of the end."""
        return self._at

    def position(self, partition: Any, timeout_ms: int) -> int:
        """Where it stands."""
        return self._at

    def poll(self, timeout_ms: int, max_records: int) -> dict[Any, list[Any]]:
        """What is there; nothing while the broker is away."""
        if self._away[0] <= self._clock.now < self._away[1]:
            return {}
        begin, self._at = self._at, self._end()
        plain = {"topic": "t", "partition": 0, "key": None, "value": b"{}", "headers": []}
        return {
            TP: [
                SimpleNamespace(
                    **plain, offset=offset, timestamp=int((BEGIN + self._made[offset][0]) * 1000)
                )
                for offset in range(begin, self._at)
            ]
        }

    def end_offsets(self, partitions: Any, timeout_ms: int) -> dict[Any, int]:
        """The end. While the broker is away there is no answer within 3 s, or a late one."""
        self.questions += 1
        if self._away[0] <= self._clock.now < self._away[1]:
            self._clock.now = min(self._clock.now + 3.0, self._away[1])
            if not (self._slow and self._clock.now == self._away[1]):
                raise KafkaConnectionError("nobody listens")
        return {TP: self._end()}

    def close(self, autocommit: bool, timeout_ms: int) -> None:
        """End."""

    def _end(self) -> int:
        return sum(arrives <= self._clock.now for _, arrives in self._made)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(client, "time", found)
    monkeypatch.setattr(reading, "time", found)
    return found


def reads(monkeypatch: pytest.MonkeyPatch, topic: Topic) -> PartitionReading:
    """A partition that is read from its begin on."""
    monkeypatch.setattr(client, "connect", topic.connect)
    settings = KafkaSettings("h:1")
    reader = PartitionReader(settings, "t", 0, Ends(settings), 300.0)
    return PartitionReading(reader, Start(0, CUTTER.start()), None, CUTTER)


@pytest.mark.parametrize("slow", [False, True])
@pytest.mark.parametrize("away", [2.0, 9.0, 40.0])
def test_records_from_while_a_broker_was_away_are_in_the_panes_of_their_time(
    away: float, slow: bool, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    begins, ends = 11.0, 11.0 + away
    back = ends + min(away / 2, 20.0)  # when the producer tries again
    made = [
        (second, back if begins <= second < back else second) for second in map(float, range(80))
    ]
    partition = reads(monkeypatch, Topic(clock, made, (begins, ends), slow))
    found = dict[int, int]()
    while clock.now < 100.0:
        for item in partition.read():
            span = item.pane.span // 1000 - BEGIN
            found |= dict.fromkeys(range(item.start, item.next), span)
        clock.now = max(partition.due, clock.now + 0.05)
    assert found == {second: second - second % 5 for second in range(80)}


def test_a_quiet_partition_passes_panes_soon_after_a_broker_is_back(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = reads(monkeypatch, Topic(clock, [(0.0, 0.0)], (11.0, 20.0), False))
    passed = dict[float, int]()
    while clock.now < 60.0:
        partition.read()
        passed[clock.now] = partition.passed.span // 1000 - BEGIN
        clock.now = max(partition.due, clock.now + 0.05)
    assert passed[max(at for at in passed if at < 20.0)] == 5  # 11 s, less what may be late
    assert 25.0 < min(at for at, span in passed.items() if span > 10) < 35.0
    assert passed[max(passed)] == 55


class Slow(Topic):
    """A partition whose broker takes long for each answer about its end."""

    def connect(self, settings: KafkaSettings, **options: Any) -> Topic:
        return Slow(self._clock, self._made, self._away, self._slow)

    def end_offsets(self, partitions: Any, timeout_ms: int) -> dict[Any, int]:
        self._clock.now += 1.2
        return super().end_offsets(partitions, timeout_ms)


def test_a_quiet_partition_of_a_slow_broker_goes_on(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = reads(monkeypatch, Slow(clock, [(0.0, 0.0)], (0.0, 0.0), False))
    while clock.now < 60.0:
        partition.read()
        clock.now = max(partition.due, clock.now + 0.05)
    assert partition.passed.span // 1000 - BEGIN >= 50


def test_a_clock_that_goes_back_does_not_keep_from_asking(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = Topic(clock, [], (0.0, 0.0), False)
    monkeypatch.setattr(client, "connect", lambda settings, **options: topic)
    ends = Ends(KafkaSettings("h:1"))
    assert ends.end(TP) == (BEGIN, 0)
    clock.now, clock.ahead = 1.0, -300.0
    assert ends.end(TP) == (BEGIN - 299.0, 0) and topic.questions == 2


def test_a_partition_with_a_stop_ends_there_and_asks_nothing_more(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = Topic(clock, [(0.0, 0.0)] * 5, (0.0, 0.0), False)
    monkeypatch.setattr(client, "connect", topic.connect)
    settings = KafkaSettings("h:1")
    reader = PartitionReader(settings, "t", 0, Ends(settings), 300.0)
    partition = PartitionReading(reader, Start(0, CUTTER.start()), 3, CUTTER)
    assert not partition.ended and partition.passed != END
    offsets = [offset for item in partition.read() for offset in range(item.start, item.next)]
    assert offsets == [0, 1, 2] and partition.at == 3
    assert partition.ended and partition.passed == END
    monkeypatch.setattr(reader, "read", lambda *asked: pytest.fail("it asks for more"))
    assert partition.read() == []


def test_a_partition_that_begins_at_its_stop_has_ended() -> None:
    settings = KafkaSettings("h:1")
    reader = PartitionReader(settings, "t", 0, Ends(settings), 300.0)
    partition = PartitionReading(reader, Start(3, CUTTER.start()), 3, CUTTER)
    assert partition.ended and partition.read() == []


class Answers:
    """A reader that gives what a test says, and notes how long it was to wait."""

    topic, partition, name = "t", 0, "t[0]"

    def __init__(self, *reads: Any, known: int | None = None, end: tuple[float, int] | None = None):
        self._reads, self._known, self._end = list(reads), known, end
        self.waited: list[float] = []

    def known_end(self) -> int | None:
        """The end that the last fetch told."""
        return self._known

    def read(self, at: int, wait: float) -> Any:
        """The next answer: records and the offset after them."""
        self.waited.append(wait)
        answer = self._reads.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def end(self) -> tuple[float, int] | None:
        """When the end was asked for, and the end."""
        return self._end


def answered(reader: Answers, stop: int | None) -> PartitionReading:
    """A partition of a reader that a test made, from its begin on."""
    return PartitionReading(cast(PartitionReader, reader), Start(0, CUTTER.start()), stop, CUTTER)


def test_last_offsets_without_records_end_a_partition(clock: Clock) -> None:
    """Marks of transactions have offsets, and are no records."""
    partition = answered(Answers(([], 3), end=(BEGIN, 3)), 3)
    assert partition.read() == [] and partition.ended and partition.at == 3
    open_ended = answered(Answers(([], 3), end=(BEGIN, 3)), None)
    assert open_ended.read() == [] and not open_ended.ended and open_ended.at == 0


def test_offsets_without_records_before_the_stop_do_not_end_a_partition(clock: Clock) -> None:
    clock.now = 7.0
    partition = answered(Answers(([], 2), end=(BEGIN, 5)), 5)
    assert partition.read() == [] and not partition.ended
    assert partition.due == 7.0  # there is more: at once


def test_an_end_before_the_stop_is_an_error(clock: Clock) -> None:
    partition = answered(Answers(([], 2), end=(BEGIN, 2)), 5)
    with pytest.raises(BeyondEndError, match="ended at 5 and ends at 2 now"):
        partition.read()


def test_a_reader_that_knows_no_end_is_asked_later(clock: Clock) -> None:
    clock.now = 7.0
    partition = answered(Answers(([], 0)), None)
    assert partition.read() == [] and partition.due == 7.0 + client.AGAIN_SECONDS


@pytest.mark.parametrize(
    ("stop", "known", "waits"),
    [(None, 0, False), (None, 1, True), (None, None, True), (5, 0, True)],
)
def test_data_are_waited_for_where_there_are_some(
    stop: int | None, known: int | None, waits: bool, clock: Clock
) -> None:
    reader = Answers(([], 0), known=known, end=(BEGIN, 9))
    answered(reader, stop).read()
    assert reader.waited == [reading.WAIT_SECONDS if waits else 0.0]


@pytest.mark.parametrize(("stop", "gone"), [(None, 9), (4, 4), (9, 9)])
def test_offsets_that_are_gone_are_lost_up_to_the_stop(
    stop: int | None, gone: int, clock: Clock
) -> None:
    [lost] = answered(Answers(OutOfRangeError(9)), stop).read()
    assert (lost.start, lost.next) == (0, gone)


def test_a_reader_that_has_lost_nothing_is_read_again(clock: Clock) -> None:
    assert answered(Answers(OutOfRangeError(0), end=(BEGIN, 1)), None).read() == []
