"""What is read of a partition: blocks of records, and ranges of offsets that are lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenflow.transforms.kafka.batches import BATCH_BYTES

# Most bytes of a block's keys, values and headers; a larger record makes a block of its own
BLOCK_BYTES = 4 << 20
RECORD_OVERHEAD = 16  # bytes that are counted for each record and header beside its own

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True)
class PartitionBlock:
    """Records of one partition, n of them, in the order of their offsets.

    All records between `start` and `next` are in the block. In a compacted or transactional topic
    not every offset has a record.

    `offsets`: Offsets of the records (n,). `timestamps`: Timestamps (n,) as the producer or the
    broker set them, in milliseconds since 1970; -1 for none. `keys`: Keys (n,) as stored. `values`:
    Values (n,) as stored; None is a tombstone. `headers`: Headers (n,) as stored.
    """

    topic: str
    partition: int
    start: int
    next: int
    offsets: list[int]
    timestamps: list[int]
    keys: list[bytes | None]
    values: list[bytes | None]
    headers: list[Headers]

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
        is_too_large: Whether they are in a batch that is too large.
    """

    topic: str
    partition: int
    start: int
    next: int
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
    """Return the bytes that a record counts for in blocks.

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


def block(records: Sequence[Any], start: int, next_: int) -> PartitionBlock:
    """Make a block of records of a partition.

    `records`: Records of kafka-python (n,), in order, n > 0. `start`, `next_`: The offsets they are
    of. Offsets after the last record may have none: marks of transactions, or records that were
    compacted away.
    """
    return PartitionBlock(
        topic=records[0].topic,
        partition=records[0].partition,
        start=start,
        next=next_,
        offsets=[record.offset for record in records],
        timestamps=[record.timestamp for record in records],
        keys=[record.key for record in records],
        values=[record.value for record in records],
        headers=[tuple(record.headers) for record in records],
    )
