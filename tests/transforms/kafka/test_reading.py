"""Ranges are read whole, whatever polls give."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.kafka.batches import BatchTooLargeError
from evenflow.transforms.kafka.blocks import BLOCK_BYTES, Lost, PartitionBlock
from evenflow.transforms.kafka.client import PartitionReader
from evenflow.transforms.kafka.errors import BeyondEndError, OutOfRangeError
from evenflow.transforms.kafka.panes import OffsetRange
from evenflow.transforms.kafka.reading import RangeReader
from evenflow.transforms.kafka.settings import KafkaSettings


class Answers:
    """A reader that gives what a test says, and notes how long it was to wait."""

    topic, partition, name = "t", 0, "t[0]"

    def __init__(self, *reads: Any, end: int):
        self._reads, self._end = list(reads), end

    def read(self, at: int, wait: float, most: int) -> Any:
        """The next answer: records and the offset after them."""
        answer = self._reads.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def end(self) -> int:
        """The end."""
        return self._end


def record(offset: int, size: int = 1) -> SimpleNamespace:
    """A record of kafka-python."""
    plain = {"topic": "t", "partition": 0, "key": None, "headers": [], "timestamp": offset}
    return SimpleNamespace(**plain, offset=offset, value=bytes(size))


def items(*reads: Any, first: int = 0, last: int = 8, end: int = 8) -> list[Any]:
    """A range of a partition whose reader gives what a test says."""
    reader = RangeReader(KafkaSettings("h:1"), "t")
    reader._readers[0] = cast(PartitionReader, Answers(*reads, end=end))
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


def test_a_range_that_ends_behind_its_log_is_an_error() -> None:
    with pytest.raises(BeyondEndError, match="ended at 8 and ends at 2 now"):
        items(([], 0), end=2)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 50)), min_size=1, max_size=40))
def test_all_records_once_in_order_joined_up(data: list[tuple[int, int]]) -> None:
    offset, records = 9, []
    for gap, size in data:
        offset += gap
        records.append(record(offset, size * BLOCK_BYTES // 45))
    got = items((records, offset + 5), first=10, last=offset + 5)
    assert [each for block in got for each in block.offsets] == [each.offset for each in records]
    assert [block.start for block in got] == [10, *(block.next for block in got)][: len(got)]
    assert got[-1].next == offset + 5
    assert all(block.size == 1 or sum(map(len, block.values)) <= BLOCK_BYTES for block in got)
