"""What the Kafka source gives: blocks of records, and ranges of offsets that are lost.

A block holds many records of one partition and one pane.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenflow.transforms.kafka.batches import BATCH_BYTES
from evenflow.transforms.kafka.panes import PaneCutter, PaneId, PaneSlice, Point

# Most bytes of a block's keys, values and headers; a larger record makes a block of its own
BLOCK_BYTES = 4 << 20
# Bytes that are counted for each record and header beside its own, so that panes of empty ones end
RECORD_OVERHEAD = 16

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True)
class PartitionBlock:
    """Records of one partition and one pane, n of them, in the order of their offsets.

    All records between `start` and `next` are in the block. In a compacted or transactional topic
    not every offset has a record.

    `offsets`: Offsets of the records (n,). `timestamps`: Timestamps (n,) as the producer or the
    broker set them, in milliseconds since 1970; -1 for none. `keys`: Keys (n,) as stored. `values`:
    Values (n,) as stored; None is a tombstone. `headers`: Headers (n,) as stored. `first`:
    Effective time of the first record, in milliseconds since 1970.
    """

    topic: str
    partition: int
    pane: PaneId
    start: int
    next: int
    offsets: list[int]
    timestamps: list[int]
    keys: list[bytes | None]
    values: list[bytes | None]
    headers: list[Headers]
    first: int
    end: Point

    @property
    def size(self) -> int:
        """Number of records."""
        return len(self.offsets)


@dataclass(frozen=True)
class Lost:
    """Offsets that are not read: the broker has deleted them, or their batch is too large.

    The broker deletes most often by retention. `batches` says what is too large.

    Attributes:
        next: The offset after the last lost one.
        first: Effective time of the loss in the partition, in milliseconds since 1970.
        end: Where the partition stands after the loss.
        is_too_large: Whether they are in a batch that is too large.
    """

    topic: str
    partition: int
    pane: PaneId
    start: int
    next: int
    first: int
    end: Point
    is_too_large: bool = False

    def __str__(self) -> str:
        why = (
            "in a block of snappy, or a batch of before Kafka 0.11, that holds more than"
            f" {BATCH_BYTES >> 20} MiB once it is decompressed"
            if self.is_too_large
            else "no longer on the broker (retention or deletion)"
        )
        return (
            f"{self.topic} partition {self.partition}: offsets {self.start} to {self.next - 1} are"
            f" {why}; reading went on at {self.next}"
        )

    @property
    def records(self) -> int:
        """How many records are lost, as gate.most_dead counts them; 1 for all that was deleted."""
        return self.next - self.start if self.is_too_large else 1

    @property
    def kind(self) -> str:
        """Kind of reason of its dead letter."""
        return "batch too large" if self.is_too_large else "lost by retention"


Item = PartitionBlock | Lost


def weight(record: Any) -> int:
    """Return the bytes that a record counts for in panes and blocks.

    Returns the bytes of key, value and headers, plus RECORD_OVERHEAD for the record and each
    header.
    """
    size = (
        RECORD_OVERHEAD * (1 + len(record.headers))
        + len(record.value or b"")
        + len(record.key or b"")
    )
    for name, value in record.headers:
        size += len(name) + len(value or b"")
    return size


def blocks(
    records: Sequence[Any], start: int, next_: int, point: Point, cutter: PaneCutter, now: int
) -> list[PartitionBlock]:
    """Cut the records that one poll gave of a partition into blocks.

    `records`: Records of kafka-python (n,), in order. `point`: The point that cutting goes on from.
    `now`: The clock, in milliseconds since 1970.
    """
    out: list[PartitionBlock] = []
    for batch in _batches(records):
        pieces = cutter.cut(
            point, [record.timestamp for record in batch], [weight(record) for record in batch], now
        )
        for piece in pieces:
            out.append(_block(batch[piece.begin : piece.end], start, piece))
            start, point = out[-1].next, piece.after
    # The offsets after a block's last record may have no record: marks of transactions, or records
    # that were compacted away
    out[-1:] = [replace(each, next=next_) for each in out[-1:]]
    return out


def _batches(records: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Split the records into runs of at most BLOCK_BYTES; a larger record is a run of its own."""
    begin = size = 0
    for index, record in enumerate(records):
        own = weight(record)
        if size and size + own > BLOCK_BYTES:
            yield records[begin:index]
            begin, size = index, 0
        size += own
    if records:
        yield records[begin:]


def _block(records: Sequence[Any], start: int, piece: PaneSlice) -> PartitionBlock:
    """Build the block of one pane's records."""
    return PartitionBlock(
        topic=records[0].topic,
        partition=records[0].partition,
        pane=piece.pane,
        start=start,
        next=records[-1].offset + 1,
        offsets=[record.offset for record in records],
        timestamps=[record.timestamp for record in records],
        keys=[record.key for record in records],
        values=[record.value for record in records],
        headers=[tuple(record.headers) for record in records],
        first=piece.first,
        end=piece.after,
    )
