"""Finds the partitions of topics: once, with their ends, or repeatedly while others are read."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
from apache_beam.io.watermark_estimators import ManualWatermarkEstimator
from apache_beam.transforms.core import RestrictionProvider
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Duration, Timestamp

from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.errors import UnreachableError
from evenflow.transforms.kafka.options import Partition, Source
from evenflow.transforms.kafka.ranges import CountTracker, OffsetRange

# Time between two questions for new partitions: the watermark is at most this far behind the clock
WATCH_SECONDS = 1.0
AWAY_SECONDS = 1.0  # time until a broker that does not answer is asked again
# Beam recognises by these defaults which arguments of `process` it must supply
RESTRICTION: Any = beam.DoFn.RestrictionParam()
WATERMARK: Any = beam.DoFn.WatermarkEstimatorParam(ManualWatermarkEstimator.default_provider())

_LOG = logging.getLogger(__name__)


class FindPartitions(beam.DoFn):
    """Maps a topic to its partitions, from their starts to their ends as they are now.

    Args:
        source: What is read and how.
    """

    def __init__(self, source: Source):
        self._source = source

    def process(self, element: str) -> Iterator[Partition]:
        """Find the partitions of a topic.

        Args:
            element: The topic.

        Yields:
            Its partitions that have something to read.

        Raises:
            KafkaSourceError: The topic is not there, or no broker answers for too long.
        """
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
        self._source.pool().progress.add(
            element, [(each.number, each.range.point.time) for each in found]
        )
        yield from found


def _bounds(source: Source, topic: str, known: int, since: float) -> list[tuple[int, int]] | None:
    """Find first offsets and ends of a topic's partitions from number `known` on.

    None if no broker answers, until patience ends, counted from `since` (seconds since 1970).
    """
    try:
        return Cluster(source.settings).bounds(topic, known)
    except UnreachableError as error:
        if time.time() - since > source.patience:
            raise
        _LOG.warning("%s; trying on", error)
        return None


class WatchPartitions(beam.DoFn, RestrictionProvider):
    """Maps a topic to its partitions as they are found, without an end.

    The watermark is the time of the last answered question.

    Args:
        source: What is read and how.
    """

    def __init__(self, source: Source):
        self._source = source

    def initial_restriction(self, element: str) -> int:
        """Start with no known partition."""
        return 0

    def create_tracker(self, restriction: int) -> CountTracker:
        """Make the tracker of a restriction."""
        return CountTracker(restriction)

    def restriction_size(self, element: str, restriction: int) -> int:
        """Return 1: the work of one question."""
        return 1

    @beam.DoFn.unbounded_per_element()
    def process(
        self,
        element: str,
        tracker: Any = RESTRICTION,
        estimator: Any = WATERMARK,
    ) -> Iterator[TimestampedValue]:
        """Find the partitions of a topic that are new since the last call.

        Args:
            element: The topic.
            tracker: Holds the number of known partitions.
            estimator: Holds the watermark.

        Yields:
            The new partitions.

        Raises:
            KafkaSourceError: The topic is not there, or no broker answers for too long.
        """
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
            # Partitions found at the start may hold records of any age; later partitions are
            # younger than the last question
            start = self._source.start(
                element, number, first, 0 if known == 0 else seen.micros // 1000
            )
            pool.progress.add(element, [(number, start.point.time)])
            yield TimestampedValue(
                Partition(element, number, OffsetRange(start.offset, None, start.point)), seen
            )
        pool.progress.note_question(element, asked.micros // 1000)
        estimator.set_watermark(asked)
        tracker.defer_remainder(Duration(WATCH_SECONDS))
