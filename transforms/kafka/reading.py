"""Reads ranges of offsets.

What is guaranteed, and by what:

1. A range is read in order, whatever the sizes of polls. Every offset of it belongs to exactly one
   block or `Lost`, and the blocks depend on the records alone.
2. Offsets that the broker no longer has, or whose batch is too large (`batches`), are put out as
   `Lost`, with the range. A topic that is gone, refused or made anew is an error. Nothing is
   skipped in silence. Records of aborted transactions do not count as records.
3. Offsets are never committed here. The owner of the ledger commits them after the pane's entry
   (see offsets.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from evenflow.transforms.kafka.batches import BatchTooLargeError
from evenflow.transforms.kafka.blocks import BLOCK_BYTES, Item, Lost, block, weight
from evenflow.transforms.kafka.client import AGAIN_SECONDS, PATIENCE_SECONDS, PartitionReader
from evenflow.transforms.kafka.errors import BeyondEndError, OutOfRangeError
from evenflow.transforms.kafka.panes import OffsetRange
from evenflow.transforms.kafka.settings import KafkaSettings

WAIT_SECONDS = 0.05  # how long to wait for data that the broker is known to have
MOST_OPEN = 16  # partitions whose connections are kept


class RangeReader:
    """Reads ranges of a topic's partitions; it keeps connections between them. Not thread-safe.

    Args:
        patience: How many seconds a broker may be away.
    """

    def __init__(self, settings: KafkaSettings, topic: str, patience: float = PATIENCE_SECONDS):
        self._settings, self._topic, self._patience = settings, topic, patience
        self._readers: dict[int, PartitionReader] = {}

    def read(self, part: OffsetRange) -> Iterator[Item]:
        """Read a range.

        Yields:
            Blocks of records, and ranges of lost offsets, in order.

        Raises:
            KafkaSourceError: Reading cannot go on.
        """
        reader = self._reader(part.partition)
        held: list[Any] = []
        size, start = 0, part.first
        for at, found in _polls(reader, part):
            for record in found if isinstance(found, list) else ():
                own = weight(record)
                if held and size + own > BLOCK_BYTES:
                    yield block(held, start, record.offset)
                    held, size, start = [], 0, record.offset
                held.append(record)
                size += own
            if isinstance(found, Lost):
                if held:
                    yield block(held, start, found.start)
                yield found
                held, size, start = [], 0, at
        if held:
            yield block(held, start, part.next)

    def open(self, partitions: int) -> None:
        """Connect to the first partitions now. Raises KafkaSourceError."""
        for number in range(min(partitions, MOST_OPEN)):
            self._reader(number).end()

    def _reader(self, partition: int) -> PartitionReader:
        """The connection to a partition."""
        reader = self._readers.pop(partition, None) or PartitionReader(
            self._settings, self._topic, partition, self._patience
        )
        self._readers[partition] = reader  # as the last one that was used
        if len(self._readers) > MOST_OPEN:
            self._readers.pop(next(iter(self._readers))).close()
        return reader

    def close(self) -> None:
        """Close the connections."""
        while self._readers:
            self._readers.popitem()[1].close()


def _polls(reader: PartitionReader, part: OffsetRange) -> Iterator[tuple[int, list[Any] | Lost]]:
    """Read a range as polls give it; with the offset after each."""
    at = part.first
    while at < part.next:
        try:
            records, after = reader.read(at, WAIT_SECONDS, part.next - at)
        except (OutOfRangeError, BatchTooLargeError) as error:
            gone = min(error.next, part.next)
            if gone > at:
                large = isinstance(error, BatchTooLargeError)
                yield gone, Lost(reader.topic, reader.partition, at, gone, large)
                at = gone
            continue
        if after > at:
            at = min(after, part.next)
            yield at, [record for record in records if record.offset < part.next]
        elif (end := reader.end()) is None:
            time.sleep(AGAIN_SECONDS)
        elif end < part.next:
            raise BeyondEndError(
                f"{reader.name} ended at {part.next} and ends at {end} now: was the topic deleted"
                " and made anew?"
            )
