"""A Kafka source for Beam in Python alone: a splittable DoFn over kafka-python.

It gives blocks of records, in panes. What is guaranteed, and by what:

1. A restriction is a range of offsets of one partition; no two overlap. It is split only where
   reading stands. So a partition is read in order, and every offset of the range belongs to exactly
   one block or `Lost`.
2. A block is claimed before it is put out. What was not claimed when the runner takes the rest back
   is read again there.
3. A block's records are of one partition and one pane. A record's effective time is the greatest of
   its own timestamp, that of the record before it, and the partition's watermark. So a partition's
   time never runs backwards, and nothing is late.
4. The watermark of a partition is the effective time of its last record. When the broker has said
   that there is no more, it follows the clock at a distance of QUIET_SECONDS. While the broker does
   not answer, it stands still. The reported watermark is the least of the partitions that the
   process reads.
5. The next call goes on from the point at which the last one stopped (offset, time, pane, bytes in
   the pane). So panes do not depend on the sizes of polls, blocks, bundles or calls. Given the
   offsets and points of a ledger, reading goes on there. There is one exception to the same panes:
   in a partition that was quiet, records that come later than the clock allows go into a later pane
   than if they had come in time. Even then, each record is in exactly one pane.
6. Partitions that appear while reading are read from their beginning. The watermark waits until a
   question for the topic's partitions has been answered, so none of their records is late.
7. Offsets that the broker no longer has are put out as `Lost`, with the range. A topic that is
   gone, refused or made anew is an error. Nothing is skipped in silence. Records of aborted
   transactions do not count as records.
8. Offsets are never committed here. The owner of the ledger commits them after the pane's entry
   (see offsets.py).

When a bundle fails, the runner reads from the last checkpoint again. A consumer of the blocks that
writes files names them by partition and offset. Reading is at least once for what a failed bundle
did, and exactly once for what a ledger holds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.transforms.core import RestrictionProvider
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Duration, Timestamp

from evenflow.transforms.kafka.blocks import Item, Lost, blocks
from evenflow.transforms.kafka.client import PartitionReader
from evenflow.transforms.kafka.errors import BeyondEndError, OutOfRangeError
from evenflow.transforms.kafka.options import AsIs, Handler, Partition, Source, Start, never
from evenflow.transforms.kafka.panes import Point
from evenflow.transforms.kafka.partitions import (
    AWAY_SECONDS,
    RESTRICTION,
    WATERMARK,
    FindPartitions,
    WatchPartitions,
)
from evenflow.transforms.kafka.pool import ReaderPool
from evenflow.transforms.kafka.ranges import OffsetRange, OffsetTracker

# How long one call works on a partition. Other partitions wait this long for their turn, and the
# call's results wait this long until they go on.
SLICE_SECONDS = 0.5
WAIT_SECONDS = 0.05  # how long to wait for data that the broker is known to have
# Seconds until a quiet partition is read again, longer each time; its fetch goes on meanwhile
DELAYS = (0.05, 0.1, 0.2, 0.4)
HELD_SECONDS = 0.25  # time until a source that is held is asked again
# How much later than its timestamp a record may arrive, because producers gather records before
# they send them
QUIET_SECONDS = 1.0


__all__ = [
    "AsIs",
    "Handler",
    "Partition",
    "ReadFromKafka",
    "ReadFromKafkaToEnd",
    "Source",
    "Start",
    "never",
]


class ReadFromKafka(beam.PTransform):
    """Reads topics without an end: from the given starts, and new partitions as they come.

    It gives what the source's handler makes of items.

    Args:
        source: What is read and how.
    """

    def __init__(self, source: Source):
        super().__init__()
        self._source = source

    def expand(self, input_or_inputs: Any) -> Any:
        """Apply the transform.

        Args:
            input_or_inputs: The pipeline.

        Returns:
            The collection of what the handler gives.
        """
        return (
            input_or_inputs
            | "Topics" >> beam.Create(self._source.topics)
            | "Watch partitions" >> beam.ParDo(WatchPartitions(self._source))
            | "Read partitions" >> beam.ParDo(_ReadForEver(self._source))
        )


class ReadFromKafkaToEnd(beam.PTransform):
    """Reads topics up to the end offsets that they have at the start.

    It gives what the source's handler makes of items.

    Args:
        source: What is read and how.
    """

    def __init__(self, source: Source):
        super().__init__()
        self._source = source

    def expand(self, input_or_inputs: Any) -> Any:
        """Apply the transform.

        Args:
            input_or_inputs: The pipeline.

        Returns:
            The collection of what the handler gives.
        """
        return (
            input_or_inputs
            | "Topics" >> beam.Create(self._source.topics)
            | "Find partitions" >> beam.ParDo(FindPartitions(self._source))
            | "Spread partitions" >> beam.Reshuffle()
            | "Read partitions" >> beam.ParDo(_ReadToEnd(self._source))
        )


class _ReadPartition(beam.DoFn, RestrictionProvider):
    """Maps a partition to what the handler makes of its blocks."""

    def __init__(self, source: Source):
        self._source = source
        self._pool: ReaderPool | None = None

    def setup(self) -> None:
        """Prepare the process's readers and the handler."""
        self._pool = pool = self._source.pool()
        pool.enter()
        self._source.handler.setup()

    def teardown(self) -> None:
        """Give up the process's readers."""
        if self._pool is not None:
            self._pool.leave()

    def initial_restriction(self, element: Partition) -> OffsetRange:
        """Return the partition's range."""
        return element.range

    def create_tracker(self, restriction: OffsetRange) -> OffsetTracker:
        """Make the tracker of a range."""
        return OffsetTracker(restriction)

    def restriction_size(self, element: Partition, restriction: OffsetRange) -> int:
        """Return the backlog, in records."""
        if restriction.stop is not None:
            return restriction.stop - restriction.start
        return (
            self._pool.backlog(element.topic, element.number, restriction.start)
            if self._pool is not None
            else 1
        )

    def _slice(
        self, partition: Partition, tracker: Any, estimator: Any
    ) -> Iterator[TimestampedValue]:
        """Read for SLICE_SECONDS, or to the range's end, or until nothing more is there."""
        pool = self._pool
        assert pool is not None
        until = time.monotonic() + SLICE_SECONDS
        restriction: OffsetRange = tracker.current_restriction()
        point = restriction.point
        at, stop = restriction.start, restriction.stop
        pool.progress.begin(partition.topic, partition.number, point.time)
        with pool.reader(partition.topic, partition.number) as reader:
            while at != stop:
                if self._source.held():
                    return tracker.defer_remainder(Duration(HELD_SECONDS))
                items, after = self._next(reader, at, stop, point)
                for item in items:
                    if not tracker.try_claim((item.next, item.end)):
                        return
                    at, point = item.next, item.end
                    reader.quiet = 0
                    for value in self._source.handler.process(item):
                        yield TimestampedValue(value, Timestamp(micros=item.first * 1000))
                    _report(pool, partition, point, estimator)
                if stop is not None and after == stop != at:  # the last offsets have no records
                    if not tracker.try_claim((stop, point)):
                        return
                    at = stop
                elif not items:
                    delay, point = self._rest(reader, after, point, stop)
                    if not tracker.try_claim((at, point)):
                        return
                    _report(pool, partition, point, estimator)
                    if delay:
                        return tracker.defer_remainder(Duration(delay))
                if time.monotonic() > until and at != stop:
                    return tracker.defer_remainder()
        pool.progress.finish(partition.topic, partition.number)

    def _next(
        self, reader: PartitionReader, at: int, stop: int | None, point: Point
    ) -> tuple[list[Item], int]:
        """Read from an offset on, up to a stop; return the items and the offset after them."""
        end = reader.known_end()
        try:
            records, after = reader.read(
                at, WAIT_SECONDS if stop is not None or end is None or end > at else 0.0
            )
        except OutOfRangeError as error:
            gone = error.first if stop is None else min(error.first, stop)
            lost = Lost(reader.topic, reader.partition, point.pane, at, gone, point.time, point)
            return ([lost], gone) if gone > at else ([], at)
        if stop is not None and after > stop:
            records, after = [record for record in records if record.offset < stop], stop
        now = int(time.time() * 1000)
        return list(blocks(records, at, after, point, self._source.cutter, now)), after

    def _rest(
        self, reader: PartitionReader, at: int, point: Point, stop: int | None
    ) -> tuple[float, Point]:
        """Decide how many seconds to wait for a partition that gave nothing.

        Also return its point, which follows the clock if the partition is quiet.
        """
        answer = reader.end()
        if answer is None:
            return AWAY_SECONDS, point
        asked, end = answer
        if end > at:
            return 0.0, point
        if stop is not None:
            raise BeyondEndError(
                f"{reader.name} ended at {stop} and ends at {end} now: was the topic deleted and"
                " made anew?"
            )
        reader.quiet += 1
        delay = DELAYS[min(reader.quiet, len(DELAYS)) - 1]
        return delay, self._source.cutter.advance(point, int((asked - QUIET_SECONDS) * 1000))


def _report(pool: ReaderPool, partition: Partition, point: Point, estimator: Any) -> None:
    """Report the watermark up to which all partitions of the process are read."""
    safe = pool.progress.safe_time(partition.topic, partition.number, point.time)
    known = estimator.current_watermark()
    if known is None or safe * 1000 > known.micros:
        estimator.set_watermark(Timestamp(micros=safe * 1000))


class _ReadForEver(_ReadPartition):
    """Reads ranges without an end."""

    @beam.DoFn.unbounded_per_element()
    def process(
        self,
        element: Partition,
        tracker: Any = RESTRICTION,
        estimator: Any = WATERMARK,
    ) -> Iterator[TimestampedValue]:
        """Read one slice of a partition."""
        return self._slice(element, tracker, estimator)


class _ReadToEnd(_ReadPartition):
    """Reads ranges with an end."""

    def process(
        self,
        element: Partition,
        tracker: Any = RESTRICTION,
        estimator: Any = WATERMARK,
    ) -> Iterator[TimestampedValue]:
        """Read one slice of a partition."""
        return self._slice(element, tracker, estimator)
