"""A Kafka source for Beam in Python alone: a splittable DoFn over kafka-python that gives blocks of records, in panes.

What is guaranteed, and by what:

1. A restriction is a range of offsets of one partition; no two overlap. It is split nowhere but where reading stands, so a
   partition is read in order, and every offset of the range belongs to exactly one block or `Lost`.
2. A block is claimed before it is put out. What was not claimed when the runner takes the rest back is read again there.
3. A block's records are of one partition and one pane. A record's effective time is the greatest of its own timestamp, that
   of the record before it, and the partition's watermark: a partition's time never runs backwards and nothing is late.
4. The watermark of a partition is the effective time of its last record. When the broker has said that there is no more,
   it follows the clock at QUIET_SECONDS' distance; while the broker does not answer it stands still. What is reported is
   the least of the partitions that the process reads.
5. The next call goes on from the point at which the last one stopped (offset, time, pane, bytes in the pane): so panes do
   not depend on how polls, blocks, bundles or calls fell. Given the offsets and points of a ledger, reading goes on there.
   A partition that was quiet is the exception to «the same again»: records that come later than the clock allows go into
   a later pane than if they had come in time. Each is in exactly one pane all the same.
6. Partitions that appear while reading are read from their beginning. The watermark waits until a look at the topic's
   partitions has been answered, so none of their records is late.
7. Offsets that the broker no longer has are put out as `Lost`, with the range; a topic that is gone, refused or made anew
   is an error. Nothing is skipped in silence. Records of aborted transactions do not count as records.
8. Offsets are never committed here: that is for the owner of the ledger, after the pane's entry (see kafka_offsets.py).

On a bundle's failure the runner reads from the last checkpoint again; a consumer of the blocks that writes files names them
by partition and offset. Reading is at least once for what a failed bundle did, and exactly once for what a ledger holds.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import apache_beam as beam
from apache_beam.io.watermark_estimators import ManualWatermarkEstimator
from apache_beam.transforms.core import RestrictionProvider
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.shared import Shared
from apache_beam.utils.timestamp import Duration, Timestamp

from evenflow.transforms.kafka_blocks import Item, Lost, blocks
from evenflow.transforms.kafka_client import (
    PATIENCE_SECONDS,
    BeyondEndError,
    Cluster,
    OutOfRangeError,
    PartitionReader,
    UnreachableError,
)
from evenflow.transforms.kafka_panes import PaneCutter, Point
from evenflow.transforms.kafka_pool import ReaderPool
from evenflow.transforms.kafka_ranges import CountTracker, OffsetRange, OffsetTracker
from evenflow.transforms.kafka_settings import KafkaSettings

SLICE_SECONDS = 0.5  # one call's work on a partition: others wait as long for their turn, and its results for their way on
WAIT_SECONDS = 0.05  # for data that the broker is known to have
DELAYS = (0.05, 0.1, 0.2, 0.4)  # until a quiet partition is looked at again, in seconds; its fetch goes on meanwhile
AWAY_SECONDS = 1.0  # until a broker that does not answer is asked again
HELD_SECONDS = 0.25  # until a source that is held is asked again whether it still is
WATCH_SECONDS = 2.0  # between two looks for new partitions; the watermark follows the clock at this distance
# Producers gather records before they send them: the clock may pass a record's timestamp by this much before it arrives.
QUIET_SECONDS = 1.0
# How Beam knows the arguments that it is to give.
RESTRICTION: Any = beam.DoFn.RestrictionParam()
WATERMARK: Any = beam.DoFn.WatermarkEstimatorParam(ManualWatermarkEstimator.default_provider())

_LOG = logging.getLogger(__name__)


class Handler(Protocol):
    """What is done to a block where it is read, so that records need not travel: travels itself, pickled, to the workers."""

    def setup(self) -> None:
        """Called once before the first item, in each worker."""

    def process(self, item: Item) -> Iterable[Any]:
        """What goes on into the pipeline in place of the item."""
        ...


class AsIs:
    """Hands items on as they are."""

    def setup(self) -> None:
        """Nothing to do."""

    def process(self, item: Item) -> Iterable[Item]:
        """The item."""
        return (item,)


def never() -> bool:
    """The source is not held."""
    return False


@dataclass(frozen=True)
class Start:
    """Where a partition's reading begins: an offset, and the point that cutting goes on from (see PaneCutter.after)."""

    offset: int
    point: Point


@dataclass(frozen=True)
class Source:
    """What is read and how.

    topics: names. starts: by topic and partition, from a ledger; other partitions begin at their first record. held: asked
    again and again, in the workers; while it is true nothing is read. patience: seconds that a broker may be away.
    """

    settings: KafkaSettings
    topics: tuple[str, ...]
    cutter: PaneCutter = field(default_factory=PaneCutter)
    handler: Handler = field(default_factory=AsIs)
    starts: Mapping[tuple[str, int], Start] = field(default_factory=dict)
    held: Callable[[], bool] = never
    patience: float = PATIENCE_SECONDS
    shared: Shared = field(default_factory=Shared, repr=False)

    def pool(self) -> ReaderPool:
        """What this process keeps between calls."""
        return self.shared.acquire(lambda: ReaderPool(self.settings, self.patience))

    def start(self, topic: str, partition: int, first: int, time_: int) -> Start:
        """Where a partition begins: as the ledger says, or at its first offset and no earlier than a time in ms."""
        return self.starts.get((topic, partition)) or Start(first, self.cutter.start(time_))


@dataclass(frozen=True)
class Partition:
    """A partition to be read: range and point at the start."""

    topic: str
    number: int
    range: OffsetRange


class ReadFromKafka(beam.PTransform):
    """Reads topics for ever: from the starts given, new partitions as they come. Gives what the handler makes of items."""

    def __init__(self, source: Source):
        super().__init__()
        self._source = source

    def expand(self, input_or_inputs: Any) -> Any:
        return (
            input_or_inputs
            | "Topics" >> beam.Create(self._source.topics)
            | "Watch partitions" >> beam.ParDo(_WatchPartitions(self._source))
            | "Read partitions" >> beam.ParDo(_ReadForEver(self._source))
        )


class ReadFromKafkaToEnd(beam.PTransform):
    """Reads topics up to the end offsets of the start. Gives what the handler makes of items."""

    def __init__(self, source: Source):
        super().__init__()
        self._source = source

    def expand(self, input_or_inputs: Any) -> Any:
        return (
            input_or_inputs
            | "Topics" >> beam.Create(self._source.topics)
            | "Find partitions" >> beam.ParDo(_FindPartitions(self._source))
            | "Spread partitions" >> beam.Reshuffle()
            | "Read partitions" >> beam.ParDo(_ReadToEnd(self._source))
        )


class _FindPartitions(beam.DoFn):
    """topic -> its partitions, from their starts to their ends as they are now."""

    def __init__(self, source: Source):
        self._source = source

    def process(self, element: str) -> Iterator[Partition]:
        began, bounds = time.time(), None
        while bounds is None:
            bounds = _bounds(self._source, element, 0, began)
            if bounds is None:
                time.sleep(AWAY_SECONDS)
        found = [
            Partition(element, number, OffsetRange(start.offset, end, start.point))
            for number, (first, end) in enumerate(bounds)
            if (start := self._source.start(element, number, first, 0)).offset < end
        ]
        self._source.pool().progress.found(element, [(each.number, each.range.point.time) for each in found])
        yield from found


def _bounds(source: Source, topic: str, known: int, since: float) -> list[tuple[int, int]] | None:
    """First offsets and ends of a topic's partitions from number `known` on; None if no broker answers, until patience ends.

    since: when one last answered, seconds since 1970.
    """
    try:
        return Cluster(source.settings).bounds(topic, known)
    except UnreachableError as error:
        if time.time() - since > source.patience:
            raise
        _LOG.warning("%s; trying on", error)
        return None


class _WatchPartitions(beam.DoFn, RestrictionProvider):
    """topic -> its partitions as they are found, for ever. The watermark is the time of the last question answered."""

    def __init__(self, source: Source):
        self._source = source

    def initial_restriction(self, element: str) -> int:
        return 0

    def create_tracker(self, restriction: int) -> CountTracker:
        return CountTracker(restriction)

    def restriction_size(self, element: str, restriction: int) -> int:
        return 1

    @beam.DoFn.unbounded_per_element()
    def process(
        self,
        element: str,
        tracker: Any = RESTRICTION,
        estimator: Any = WATERMARK,
    ) -> Iterator[TimestampedValue]:
        known = tracker.current_restriction()
        asked = Timestamp.now()
        seen = estimator.current_watermark() or Timestamp(0)
        pool = self._source.pool()
        found = _bounds(self._source, element, known, max(seen.micros / 1e6, pool.made))
        if found is None:
            return tracker.defer_remainder(Duration(AWAY_SECONDS))
        if not tracker.try_claim(known + len(found)):
            return
        for number, (first, _) in enumerate(found, known):
            # Partitions of the start may hold records of any age; later ones are younger than the last look.
            start = self._source.start(element, number, first, 0 if known == 0 else seen.micros // 1000)
            pool.progress.found(element, [(number, start.point.time)])
            yield TimestampedValue(Partition(element, number, OffsetRange(start.offset, None, start.point)), seen)
        pool.progress.watched(element, asked.micros // 1000)
        estimator.set_watermark(asked)
        tracker.defer_remainder(Duration(WATCH_SECONDS))


class _ReadPartition(beam.DoFn, RestrictionProvider):
    """Partition -> what the handler makes of its blocks."""

    def __init__(self, source: Source):
        self._source = source
        self._pool: ReaderPool | None = None

    def setup(self) -> None:
        self._pool = pool = self._source.pool()
        pool.enter()
        self._source.handler.setup()

    def teardown(self) -> None:
        if self._pool is not None:
            self._pool.leave()

    def initial_restriction(self, element: Partition) -> OffsetRange:
        return element.range

    def create_tracker(self, restriction: OffsetRange) -> OffsetTracker:
        return OffsetTracker(restriction)

    def restriction_size(self, element: Partition, restriction: OffsetRange) -> int:
        """The backlog, in records."""
        if restriction.stop is not None:
            return restriction.stop - restriction.start
        return self._pool.backlog(element.topic, element.number, restriction.start) if self._pool is not None else 1

    def _slice(self, partition: Partition, tracker: Any, estimator: Any) -> Iterator[TimestampedValue]:
        """Read for SLICE_SECONDS, or to the range's end, or until nothing more is there."""
        pool = self._pool
        assert pool is not None
        until = time.monotonic() + SLICE_SECONDS
        restriction: OffsetRange = tracker.current_restriction()
        point = restriction.point
        at, stop = restriction.start, restriction.stop
        pool.progress.began(partition.topic, partition.number, point.time)
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
                if after > at:  # marks of transactions, compacted records: offsets without a record
                    if not tracker.try_claim((after, point)):
                        return
                    at = after
                elif not items:
                    delay, point = self._rest(reader, at, point, stop)
                    if not tracker.try_claim((at, point)):
                        return
                    _report(pool, partition, point, estimator)
                    if delay:
                        return tracker.defer_remainder(Duration(delay))
                if time.monotonic() > until and at != stop:
                    return tracker.defer_remainder()
        pool.progress.done(partition.topic, partition.number)

    def _next(self, reader: PartitionReader, at: int, stop: int | None, point: Point) -> tuple[list[Item], int]:
        """What there is from an offset on, up to a stop, and the offset after it."""
        end = reader.known_end()
        try:
            records, after = reader.read(at, WAIT_SECONDS if stop is not None or end is None or end > at else 0.0)
        except OutOfRangeError as error:
            gone = error.first if stop is None else min(error.first, stop)
            lost = Lost(reader.topic, reader.partition, point.pane, at, gone, point.time, point)
            return ([lost], gone) if gone > at else ([], at)
        if stop is not None and after > stop:
            records, after = [record for record in records if record.offset < stop], stop
        now = int(time.time() * 1000)
        return list(blocks(records, at, after, point, self._source.cutter, now)), after

    def _rest(self, reader: PartitionReader, at: int, point: Point, stop: int | None) -> tuple[float, Point]:
        """How long to leave a partition that gave nothing, in seconds, and its point, moved on by the clock if it is quiet."""
        answer = reader.end()
        if answer is None:
            return AWAY_SECONDS, point
        asked, end = answer
        if end > at:
            return 0.0, point
        if stop is not None:
            raise BeyondEndError(f"{reader.name} ended at {stop} and ends at {end} now: was the topic deleted and made anew?")
        reader.quiet += 1
        delay = DELAYS[min(reader.quiet, len(DELAYS)) - 1]
        return delay, self._source.cutter.advance(point, int((asked - QUIET_SECONDS) * 1000))


def _report(pool: ReaderPool, partition: Partition, point: Point, estimator: Any) -> None:
    """Give the watermark up to which all partitions of the process are read."""
    behind = pool.progress.behind(partition.topic, partition.number, point.time)
    known = estimator.current_watermark()
    if known is None or behind * 1000 > known.micros:
        estimator.set_watermark(Timestamp(micros=behind * 1000))


class _ReadForEver(_ReadPartition):
    """Ranges without an end."""

    @beam.DoFn.unbounded_per_element()
    def process(
        self,
        element: Partition,
        tracker: Any = RESTRICTION,
        estimator: Any = WATERMARK,
    ) -> Iterator[TimestampedValue]:
        return self._slice(element, tracker, estimator)


class _ReadToEnd(_ReadPartition):
    """Ranges with an end."""

    def process(
        self,
        element: Partition,
        tracker: Any = RESTRICTION,
        estimator: Any = WATERMARK,
    ) -> Iterator[TimestampedValue]:
        return self._slice(element, tracker, estimator)
