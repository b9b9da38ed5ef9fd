"""Ranges are read whole, whatever polls give, and partitions with the times of their records."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from evenflow.transforms.kafka import client, reading
from evenflow.transforms.kafka.batches import BatchTooLargeError
from evenflow.transforms.kafka.blocks import BLOCK_BYTES, Lost, PartitionBlock
from evenflow.transforms.kafka.client import PartitionReader
from evenflow.transforms.kafka.errors import BeyondEndError, OutOfRangeError
from evenflow.transforms.kafka.panes import OffsetRange
from evenflow.transforms.kafka.reading import PartitionReading, RangeReader
from evenflow.transforms.kafka.settings import KafkaSettings

BEGIN = 1_700_000_000  # seconds since 1970, where the clock begins


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

    def sleep(self, seconds: float) -> None:
        """Go on."""
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(client, "time", found)
    monkeypatch.setattr(reading, "time", found)
    return found


class Answers:
    """A reader that gives what a test says, and notes how long it was to wait."""

    topic, partition, name = "t", 0, "t[0]"

    def __init__(self, *reads: Any, known: int | None = None, end: tuple[float, int] | None = None):
        self._reads, self._known, self._end = list(reads), known, end
        self.waited: list[float] = []

    def known_end(self) -> int | None:
        """The end that the last fetch told."""
        return self._known

    def read(self, at: int, wait: float, most: int = 0) -> Any:
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
    return PartitionReading(cast(PartitionReader, reader), 0, 0, stop)


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
    assert (lost.item.start, lost.item.next) == (0, gone)


def test_a_reader_that_has_lost_nothing_is_read_again(clock: Clock) -> None:
    assert answered(Answers(OutOfRangeError(0), end=(BEGIN, 1)), None).read() == []


def record(offset: int, size: int = 1) -> SimpleNamespace:
    """A record of kafka-python."""
    plain = {"topic": "t", "partition": 0, "key": None, "headers": [], "timestamp": offset}
    return SimpleNamespace(**plain, offset=offset, value=bytes(size))


def items(*reads: Any, first: int = 0, last: int = 8, end: int = 8) -> list[Any]:
    """A range of a partition whose reader gives what a test says."""
    reader = RangeReader(KafkaSettings("h:1"), "t")
    reader._readers[0] = cast(PartitionReader, Answers(*reads, end=(BEGIN, end)))
    return list(reader.read(OffsetRange(0, first, last)))


def test_blocks_of_a_range_do_not_depend_on_polls() -> None:
    sizes = [BLOCK_BYTES // 3] * 8
    each = [([record(i, size)], i + 1) for i, size in enumerate(sizes)]
    all_ = ([record(i, size) for i, size in enumerate(sizes)], 8)
    more = ([*all_[0], record(8), record(9)], 10)
    assert items(*each) == items(all_) == items(more)
    found = items(all_)
    assert [block.offsets for block in found] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert [(block.start, block.next) for block in found] == [(0, 2), (2, 4), (4, 6), (6, 8)]


def test_offsets_without_records_are_of_the_block_before() -> None:
    [block] = items(([record(2)], 3), ([], 6), ([], 8))
    assert isinstance(block, PartitionBlock) and (block.start, block.next) == (0, 8)
    assert items(([], 8)) == []


def test_what_is_gone_is_lost_up_to_the_end_of_the_range() -> None:
    found = items(OutOfRangeError(3), ([record(3)], 4), BatchTooLargeError(20))
    assert [(each.start, each.next) for each in found] == [(0, 3), (3, 4), (4, 8)]
    assert [isinstance(each, Lost) for each in found] == [True, False, True]


def test_a_range_that_ends_behind_its_log_is_an_error(clock: Clock) -> None:
    with pytest.raises(BeyondEndError, match="ended at 8 and ends at 2 now"):
        items(([], 0), end=2)


def test_a_quiet_partition_follows_the_clock(clock: Clock) -> None:
    clock.now = 50.0
    partition = answered(Answers(([], 0), end=(BEGIN + 50.0, 0)), None)
    partition.read()
    assert partition.time == (BEGIN + 49) * 1000
