"""Reads ranges of offsets, and whole partitions with the times of their records.

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
from typing import Any, NamedTuple

from evenflow.transforms.kafka.batches import BatchTooLargeError
from evenflow.transforms.kafka.blocks import BLOCK_BYTES, Item, Lost, block, blocks, weight
from evenflow.transforms.kafka.client import AGAIN_SECONDS, PATIENCE_SECONDS, PartitionReader
from evenflow.transforms.kafka.errors import BeyondEndError, OutOfRangeError
from evenflow.transforms.kafka.panes import OffsetRange, effective
from evenflow.transforms.kafka.settings import KafkaSettings

WAIT_SECONDS = 0.05  # how long to wait for data that the broker is known to have
MOST_OPEN = 16  # partitions whose connections are kept
# Seconds until a quiet partition is read again, longer each time; its fetch goes on meanwhile
DELAYS = (0.05, 0.1, 0.2, 0.4)
# How much later than its timestamp a record may arrive, because producers gather records before
# they send them
QUIET_SECONDS = 1.0


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
        reader = self._readers.pop(part.partition, None) or PartitionReader(
            self._settings, self._topic, part.partition, self._patience
        )
        self._readers[part.partition] = reader  # as the last one that was used
        if len(self._readers) > MOST_OPEN:
            self._readers.pop(next(iter(self._readers))).close()
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
                yield gone, _lost(reader, at, gone, error)
                at = gone
            continue
        if after > at:
            at = min(after, part.next)
            yield at, [record for record in records if record.offset < part.next]
        elif (answer := reader.end()) is None:
            time.sleep(AGAIN_SECONDS)
        elif answer[1] < part.next:
            raise _shortened(reader, part.next, answer[1])


def _lost(
    reader: PartitionReader, at: int, gone: int, error: OutOfRangeError | BatchTooLargeError
) -> Lost:
    large = isinstance(error, BatchTooLargeError)
    return Lost(reader.topic, reader.partition, at, gone, large)


def _shortened(reader: PartitionReader, stop: int, end: int) -> BeyondEndError:
    return BeyondEndError(
        f"{reader.name} ended at {stop} and ends at {end} now: was the topic deleted and made anew?"
    )


class Timed(NamedTuple):
    """An item with effective times, in milliseconds since 1970.

    Attributes:
        times: Of the records of a block; of a loss one time.
    """

    item: Item
    times: list[int]


class PartitionReading:
    """Reads one partition with the times of its records; not thread-safe.

    The clock of a partition is the effective time of its last record. When the broker has said that
    there is no more, it follows the machine's clock at a distance of QUIET_SECONDS.

    Args:
        stop: The offset at which it ends; None: it has no end.

    Attributes:
        time: The partition's clock, in milliseconds since 1970.
        due: When to read again, on the monotonic clock in seconds.
    """

    def __init__(self, reader: PartitionReader, start: int, time: int, stop: int | None):
        self._reader, self._stop = reader, stop
        self.at, self.time = start, time
        self.due = 0.0
        self._quiet = 0

    @property
    def ended(self) -> bool:
        """Whether all is read."""
        return self._stop is not None and self.at >= self._stop

    def read(self) -> list[Timed]:
        """Read what is there.

        Returns:
            Blocks of records, and ranges of lost offsets, in order; none where nothing is there.

        Raises:
            KafkaSourceError: Reading cannot go on.
        """
        if self.ended:
            return []
        items, after = self._next()
        out = []
        for item in items:
            times = [self.time]
            if not isinstance(item, Lost):
                now = int(time.time() * 1000)
                times = effective(item.timestamps, self.time, now).tolist()
            self.at, self.time, self._quiet = item.next, times[-1], 0
            out.append(Timed(item, times))
        if self._stop is not None and after == self._stop:  # the last offsets have no records
            self.at = self._stop
        elif not items:
            self.due = time.monotonic() + self._rest(after)
        return out

    def close(self) -> None:
        """Close the connection."""
        self._reader.close()

    def _next(self) -> tuple[list[Item], int]:
        """Read up to the stop; return the items and the offset after them."""
        reader, at, stop = self._reader, self.at, self._stop
        end = reader.known_end()
        try:
            records, after = reader.read(
                at, WAIT_SECONDS if stop is not None or end is None or end > at else 0.0
            )
        except (OutOfRangeError, BatchTooLargeError) as error:
            gone = error.next if stop is None else min(error.next, stop)
            return ([_lost(reader, at, gone, error)], gone) if gone > at else ([], at)
        if stop is not None and after > stop:
            records, after = [record for record in records if record.offset < stop], stop
        return list(blocks(records, at, after)), after

    def _rest(self, after: int) -> float:
        """Decide how many seconds to wait for a partition that gave nothing.

        Its clock follows the machine's if the partition is quiet.
        """
        answer = self._reader.end()
        if answer is None:
            return AGAIN_SECONDS
        asked, end = answer
        if end > after:
            return 0.0
        if self._stop is not None:
            raise _shortened(self._reader, self._stop, end)
        self._quiet += 1
        self.time = max(self.time, int((asked - QUIET_SECONDS) * 1000))
        return DELAYS[min(self._quiet, len(DELAYS)) - 1]
