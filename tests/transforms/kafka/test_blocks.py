"""Blocks of what a poll gives: all records once, in order, joined up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from kafka.consumer.fetcher import ConsumerRecord

from evenflow.transforms.kafka.blocks import (
    BLOCK_BYTES,
    RECORD_OVERHEAD,
    Lost,
    PartitionBlock,
    blocks,
    weight,
)


def record(
    offset: int,
    time: int = 0,
    value: bytes | None = b"x",
    key: bytes | None = None,
    headers: object = (),
) -> ConsumerRecord:
    """Make a record of kafka-python."""
    return ConsumerRecord("t", 3, 0, offset, time, 0, key, value, list(headers), None, -1, -1, -1)  # type: ignore[call-overload]


def test_key_value_headers_timestamp_and_offset_are_kept() -> None:
    given_ = [record(7, 100, b"v", b"k", [("h", b"1"), ("h", None)]), record(9, 50, None)]
    (block,) = blocks(given_, 5, 12)
    assert block == PartitionBlock(
        topic="t",
        partition=3,
        start=5,
        next=12,
        offsets=[7, 9],
        timestamps=[100, 50],
        keys=[b"k", None],
        values=[b"v", None],
        headers=[(("h", b"1"), ("h", None)), ()],
    )
    assert block.size == 2


def test_a_record_larger_than_a_block_is_alone() -> None:
    sizes = [10, BLOCK_BYTES + 1, 10, BLOCK_BYTES // 2, BLOCK_BYTES // 2, 10]
    got = blocks([record(i, 0, bytes(size)) for i, size in enumerate(sizes)], 0, 6)
    assert [block.offsets for block in got] == [[0], [1], [2, 3], [4, 5]]


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 50)), min_size=1, max_size=40))
def test_all_records_once_in_order_joined_up(data: list[tuple[int, int]]) -> None:
    offset, given_ = 10, []
    for gap, size in data:
        offset += gap
        given_.append(record(offset, 0, bytes(size * BLOCK_BYTES // 60)))
    got = blocks(given_, 10, offset + 5)
    assert [each for block in got for each in block.offsets] == [each.offset for each in given_]
    assert [block.start for block in got] == [10, *(block.next for block in got)][: len(got)]
    assert got[-1].next == offset + 5


def test_no_records_no_blocks() -> None:
    assert blocks([], 0, 4) == []


def test_weight_counts_empty_records_too() -> None:
    assert weight(record(0, value=None)) == RECORD_OVERHEAD
    assert (
        weight(record(0, value=b"ab", key=b"c", headers=[("d", b"ef")])) == 2 * RECORD_OVERHEAD + 6
    )


def test_what_is_lost_is_said_with_topic_partition_and_offsets() -> None:
    lost = Lost("t", 2, 5, 9)
    assert str(lost).startswith("t partition 2: offsets 5 to 8 are no longer on the broker")
