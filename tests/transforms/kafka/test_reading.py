"""A quiet partition's panes are those of a partition that is read at once, also where its broker is
away for a while: producers send later what they have from that time.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from kafka.errors import KafkaConnectionError

from evenflow.transforms.kafka import client, reading
from evenflow.transforms.kafka.client import Ends, PartitionReader
from evenflow.transforms.kafka.panes import PaneCutter, Start
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
