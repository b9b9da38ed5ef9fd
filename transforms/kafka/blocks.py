"""What the Kafka source gives: blocks of many records of one partition and one pane, and ranges of
offsets that are lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenflow.transforms.kafka.panes import PaneCutter, PaneId, PaneSlice, Point

BLOCK_BYTES = 4 << 20  # of keys, values and headers; a larger record makes a block of its own
# Bytes counted for each record beside its own, so that panes of empty records end too
RECORD_OVERHEAD = 16

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True)
class PartitionBlock:
    """n records of one partition and one pane, in the order of their offsets.

    start, next: the offsets that the partition's reading stood at before and after; between them
    are all its records (in a compacted or transactional topic not every offset has one). offsets,
    timestamps (n,): timestamps as the producer or the broker set them, ms since 1970, -1 for none.
    keys, values, headers (n,): as stored; a value of None is a tombstone. first: effective time of
    the first record, ms. end: where the partition stands after the block; end.time is that of the
    last record.
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
    """Offsets start..next (next excluded) of a partition that were due and are gone from the
    broker: retention, most often.

    first: effective time of the loss in the partition, ms; pane: where it is to be reported.
    """

    topic: str
    partition: int
    pane: PaneId
    start: int
    next: int
    first: int
    end: Point

    def __str__(self) -> str:
        return (
            f"{self.topic} partition {self.partition}: offsets {self.start} to {self.next - 1} are"
            f" no longer on the broker (retention or deletion); reading went on at {self.next}"
        )


Item = PartitionBlock | Lost


def weight(record: Any) -> int:
    """Bytes of a record as panes and blocks count them: key, value, headers, and RECORD_OVERHEAD."""
    size = RECORD_OVERHEAD + len(record.value or b"") + len(record.key or b"")
    for name, value in record.headers:
        size += len(name) + len(value or b"")
    return size


def blocks(
    records: Sequence[Any], start: int, next_: int, point: Point, cutter: PaneCutter, now: int
) -> list[PartitionBlock]:
    """Blocks of the records that one poll gave of a partition, which stood at offset start and
    stands at next_ after them.

    records: of kafka-python, n of them in order. now: the clock, ms since 1970.
    """
    out: list[PartitionBlock] = []
    for batch in _batches(records):
        pieces = cutter.cut(
            point, [record.timestamp for record in batch], [weight(record) for record in batch], now
        )
        for piece in pieces:
            out.append(_block(batch[piece.begin : piece.end], start, piece))
            start, point = out[-1].next, piece.after
    # What comes after a block's last record may be no record: a mark of a transaction, or one that
    # was compacted away.
    out[-1:] = [replace(each, next=next_) for each in out[-1:]]
    return out


def _batches(records: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """The records in runs of at most BLOCK_BYTES; a larger record is a run of its own."""
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
