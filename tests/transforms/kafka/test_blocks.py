"""Blocks of what a poll gives: all records once, in order, joined up."""

from __future__ import annotations

from kafka.consumer.fetcher import ConsumerRecord

from evenflow.transforms.kafka.blocks import RECORD_OVERHEAD, Lost, PartitionBlock, block, weight


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
    found = block(given_, 5, 12)
    assert found == PartitionBlock(
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
    assert found.size == 2


def test_weight_counts_empty_records_too() -> None:
    assert weight(record(0, value=None)) == RECORD_OVERHEAD
    assert (
        weight(record(0, value=b"ab", key=b"c", headers=[("d", b"ef")])) == 2 * RECORD_OVERHEAD + 6
    )


def test_what_is_lost_is_said_with_topic_partition_and_offsets() -> None:
    lost = Lost("t", 2, 5, 9)
    assert str(lost).startswith("t partition 2: offsets 5 to 8 are no longer on the broker")
