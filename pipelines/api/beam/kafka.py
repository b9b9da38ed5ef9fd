"""Documents of a Kafka topic, by a splittable DoFn around the reader of the engine.

The time of a document is the effective time of its record (`transforms.kafka.panes`), so none is
late, and a fixed window as long as a pane of `evenflow stream` has the same documents.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.io.watermark_estimators import ManualWatermarkEstimator
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.core import RestrictionProvider
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Duration, Timestamp

from evenflow.beam.elements import Configured, Document
from evenflow.beam.offsets import OffsetRange, OffsetTracker, Partition
from evenflow.schemas.config import Config
from evenflow.settings import Configuration
from evenflow.transforms.kafka import records
from evenflow.transforms.kafka.blocks import Lost
from evenflow.transforms.kafka.client import PATIENCE_SECONDS, PartitionReader
from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.reading import PartitionReading, Timed
from evenflow.transforms.kafka.settings import KafkaSettings

DEAD = "dead_letters"  # the output of records that become no document
SLICE_SECONDS = 0.5  # of one call that reads a topic without an end; others wait meanwhile
RESTRICTION = beam.DoFn.RestrictionParam()
WATERMARK = beam.DoFn.WatermarkEstimatorParam(ManualWatermarkEstimator.default_provider())


class Source(NamedTuple):
    """What is read and how; it travels to the workers.

    Attributes:
        values: What a record's value is.
        until_end: Whether reading stops at the end offsets of the start.
        patience: How many seconds a broker may be away.
    """

    settings: KafkaSettings
    config: dict[str, Any]
    values: records.Values
    until_end: bool
    patience: float


class ReadKafkaDocuments(Configured):
    """Read the documents of a topic, from the first offset of each partition on.

    There are two outputs: the documents, as dicts with the time of their record, and under the tag
    `dead_letters` what is no document or was lost, with its offset and the reason. Partitions that
    appear later are not read. Offsets are not committed: a runner reads from its last checkpoint
    again after a failure.

    Args:
        servers: Bootstrap servers as HOST:PORT, separated by commas; or the settings with secrets.
        config: As for `AnnotateDocuments`; fields names the fields of a document.
        until_end: Whether reading stops at the end offsets of the start. In-process runners fire no
            windows of a topic without an end.
        values: What a record's value is: a JSON object, or a text with the key as its id.
        patience: How many seconds a broker may be away.

    Raises:
        ConfigError: The configuration cannot be used.
        KafkaSettingsError: A setting of the cluster is wrong.
    """

    def __init__(
        self,
        servers: str | KafkaSettings,
        topic: str,
        config: Configuration = None,
        *,
        until_end: bool = True,
        values: records.Values = "json",
        patience: float = PATIENCE_SECONDS,
    ):
        super().__init__(config)
        settings = KafkaSettings(servers) if isinstance(servers, str) else servers
        self._topic = topic
        self._source = Source(settings, self.settings, values, until_end, patience)

    def expand(self, input_or_inputs: Any) -> Any:
        """Apply the transform.

        Returns:
            The outputs `documents` and `dead_letters`.
        """
        read = _ReadPartition if self._source.until_end else _ReadForEver
        return (
            input_or_inputs
            | "Topic" >> beam.Create([self._topic])
            | "Partitions" >> beam.FlatMap(_partitions, self._source)
            | "Spread" >> beam.Reshuffle()
            | "Read" >> beam.ParDo(read(self._source)).with_outputs(DEAD, main="documents")
        )


def _partitions(topic: str, source: Source) -> Iterator[Partition]:
    """The partitions of a topic, from their first offsets on."""
    for number, (first, end) in enumerate(Cluster(source.settings).bounds(topic, 0)):
        yield Partition(topic, number, first, end if source.until_end else None)


class _ReadPartition(beam.DoFn, RestrictionProvider):
    """Maps a partition to its documents; a partition's connection is kept between calls."""

    def __init__(self, source: Source):
        self._source = source

    def setup(self) -> None:
        """Read the configuration."""
        self._config = Config.model_validate(self._source.config)
        self._readings: dict[Partition, PartitionReading] = {}

    def teardown(self) -> None:
        """Close all connections."""
        for each in self._readings.values():
            each.close()

    def initial_restriction(self, element: Partition) -> OffsetRange:
        """Return the partition's range."""
        return OffsetRange(element.first, element.stop, 0)

    def create_tracker(self, restriction: OffsetRange) -> OffsetTracker:
        """Make the tracker of a range."""
        return OffsetTracker(restriction)

    def restriction_size(self, element: Partition, restriction: OffsetRange) -> int:
        """Return the number of offsets that are left; 1 where nobody knows."""
        return 1 if restriction.stop is None else restriction.stop - restriction.start

    def process(
        self, element: Partition, tracker: Any = RESTRICTION, estimator: Any = WATERMARK
    ) -> Iterator[Any]:
        """Read to the range's end, or for SLICE_SECONDS where it has none."""
        partition = element  # the name that Beam passes
        reading = self._reading(partition, tracker.current_restriction())
        until = time.monotonic() + SLICE_SECONDS
        while not reading.ended:
            items = reading.read()
            for found in items:
                if not tracker.try_claim((found.item.next, found.times[-1])):
                    self._readings.pop(partition).close()
                    return
                yield from self._values(found)
            if not tracker.try_claim((reading.at, reading.time)):
                self._readings.pop(partition).close()
                return
            self._report(reading.time, estimator)
            rest = reading.due - time.monotonic()
            if partition.stop is not None:
                time.sleep(max(rest, 0.0))
            elif rest > 0 or time.monotonic() > until:
                tracker.defer_remainder(Duration(max(rest, 0.0)))
                return
        self._readings.pop(partition).close()

    def _reading(self, partition: Partition, restriction: OffsetRange) -> PartitionReading:
        """What reads a partition from a restriction's start on."""
        known = self._readings.get(partition)
        if known is not None and known.at == restriction.start:
            return known
        if known is not None:
            known.close()
        reader = PartitionReader(
            self._source.settings,
            partition.topic,
            partition.number,
            self._source.patience,
        )
        new = self._readings[partition] = PartitionReading(
            reader, restriction.start, restriction.time, restriction.stop
        )
        return new

    def _report(self, time: int, estimator: Any) -> None:
        """Report the watermark: no later record has an earlier effective time."""
        mark, known = Timestamp(micros=time * 1000), estimator.current_watermark()
        if known is None or mark > known:
            estimator.set_watermark(mark)

    def _values(self, read: Timed) -> Iterator[Any]:
        """The documents and dead letters of a block, with their times."""
        item, times = read
        if isinstance(item, Lost):
            yield _tagged(records.lost(item), times[0])
            return
        found, kept, rests = records.parsed(item, self._config, self._source.values, {})
        when = dict(zip(item.offsets, times, strict=True))
        for letter in found.dead:
            yield _tagged(letter, when[letter["ordinal"]])
        fields = self._config.fields
        for index, identity, text, rest in zip(kept, found.ids, found.texts, rests, strict=True):
            document: Document = {fields.id: identity, fields.column: text, **rest}
            yield TimestampedValue(document, Timestamp(micros=times[index] * 1000))


def _tagged(letter: dict[str, Any], milliseconds: int) -> Any:
    """A dead letter with its time, for its own output."""
    return TaggedOutput(DEAD, TimestampedValue(letter, Timestamp(micros=milliseconds * 1000)))


class _ReadForEver(_ReadPartition):
    """Reads ranges without an end."""

    @beam.DoFn.unbounded_per_element()
    def process(
        self, element: Partition, tracker: Any = RESTRICTION, estimator: Any = WATERMARK
    ) -> Iterator[Any]:
        """Read one slice of a partition."""
        return super().process(element, tracker, estimator)
