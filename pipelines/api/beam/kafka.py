"""Documents of a Kafka topic, read by the ranges of offsets that the engine cuts.

The time of a document is the effective time of its record within the span of its pane. So none is
late, and a fixed window as long as a pane of `evenflow stream` has the same documents.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.io.iobase import RestrictionProgress, RestrictionTracker
from apache_beam.io.watermark_estimators import ManualWatermarkEstimator
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.core import RestrictionProvider
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import Duration, Timestamp

from evenflow.beam.elements import Configured, Document
from evenflow.pipelines.engine.topics.source import START, At, Cutter, TopicPane
from evenflow.schemas.config import Config
from evenflow.settings import Configuration
from evenflow.transforms.kafka import records
from evenflow.transforms.kafka.blocks import Item, Lost
from evenflow.transforms.kafka.client import PATIENCE_SECONDS
from evenflow.transforms.kafka.cluster import Cluster
from evenflow.transforms.kafka.lookups import Lookups
from evenflow.transforms.kafka.panes import effective
from evenflow.transforms.kafka.reading import RangeReader
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.transforms.kafka.topics import KnownTopic, TopicFacts, decided_ends

DEAD = "dead_letters"  # the output of records that become no document
WAIT_SECONDS = 20.0  # that one call waits for the next pane: Flink keeps something of each deferral
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
    topic: str
    config: dict[str, Any]
    span_ms: int
    values: records.Values
    until_end: bool
    patience: float


class Left(NamedTuple):
    """What is left to cut of a topic.

    Attributes:
        stops: Where each partition ends; None: they have no end.
    """

    at: At
    stops: Sequence[int] | None


class ReadKafkaDocuments(Configured):
    """Read the documents of a topic, from the first offset of each partition on.

    A topic is cut into panes as `evenflow stream` does it, and each pane is read by one worker.
    There are two outputs: the documents, as dicts with the time of their record, and under the tag
    `dead_letters` what is no document or was lost, with its offset and the reason. Offsets are not
    committed: a runner reads from its last checkpoint again after a failure.

    Args:
        servers: Bootstrap servers as HOST:PORT, separated by commas; or the settings with secrets.
        config: As for `AnnotateDocuments`; fields names the fields of a document.
        seconds: Span of a pane. Its documents come when it has ended.
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
        seconds: float = 60.0,
        *,
        until_end: bool = True,
        values: records.Values = "json",
        patience: float = PATIENCE_SECONDS,
    ):
        super().__init__(config)
        settings = KafkaSettings(servers) if isinstance(servers, str) else servers
        self._source = Source(
            settings, topic, self.settings, int(seconds * 1000), values, until_end, patience
        )

    def expand(self, input_or_inputs: Any) -> Any:
        """Apply the transform.

        Returns:
            The outputs `documents` and `dead_letters`.
        """
        cut = _Cut if self._source.until_end else _CutForEver
        return (
            input_or_inputs
            | "Topic" >> beam.Create([self._source.topic], reshuffle=False)
            | "Cut panes" >> beam.ParDo(cut(self._source))
            | "Spread panes" >> beam.Reshuffle()
            | "Read" >> beam.ParDo(_Read(self._source)).with_outputs(DEAD, main="documents")
        )


class _Tracker(RestrictionTracker):
    """Claims panes one after the other; what is left is where cutting stands."""

    def __init__(self, left: Left):
        self._left, self._at, self._is_over = left, left.at, False

    def current_restriction(self) -> Left:
        return self._left

    def try_claim(self, position: At | None) -> bool:
        """Claim what is cut; None: all."""
        if self._is_over:
            return False
        self._at, self._is_over = position or self._at, position is None
        return True

    def try_split(self, fraction_of_remainder: float) -> tuple[Left, Left] | None:
        """Give the rest back: panes are in order, so no part of it can be."""
        if fraction_of_remainder or self._is_over:
            return None
        self._is_over = True
        return self._left, self._left._replace(at=self._at)

    def check_done(self) -> bool:
        if not self._is_over:
            raise ValueError("panes were neither claimed nor given back")
        return True

    def current_progress(self) -> RestrictionProgress:
        return RestrictionProgress(completed=float(self._is_over), remaining=1.0)

    def is_bounded(self) -> bool:
        return self._left.stops is not None


class _Cut(beam.DoFn, RestrictionProvider):
    """Step topic -> panes, with the start of their span as their time."""

    def __init__(self, source: Source):
        self._source = source

    def setup(self) -> None:
        """Connect to the brokers."""
        settings, topic = self._source.settings, self._source.topic
        self._config = Config.model_validate(self._source.config)
        self._lookups = Lookups(settings, topic)
        self._known = KnownTopic(settings, topic, TopicFacts(None, 0))
        self._cutter: Cutter | None = None

    def teardown(self) -> None:
        """Close the connections."""
        self._lookups.close()
        self._known.close()

    def initial_restriction(self, element: str) -> Left:
        """Return all of the topic."""
        if not self._source.until_end:
            return Left(START, None)
        settings, total = self._source.settings, Cluster(self._source.settings).partitions(element)
        return Left(START, decided_ends(settings, element, total, lambda text: None)[0])

    def create_tracker(self, restriction: Left) -> _Tracker:
        """Make the tracker of what is left."""
        return _Tracker(restriction)

    def restriction_size(self, element: str, restriction: Left) -> int:
        """Return 1: nobody knows."""
        return 1

    def process(
        self, element: str, tracker: Any = RESTRICTION, estimator: Any = WATERMARK
    ) -> Iterator[Any]:
        """Give the panes that are due, or the next one that comes."""
        cutter = self._cutter_of(tracker.current_restriction())
        until, given = time.monotonic() + WAIT_SECONDS, False
        while not cutter.over:
            if (pane := cutter.cut()) is not None:
                cutter.at = cutter.at.behind(pane)
            if not tracker.try_claim(cutter.at):
                return
            if pane is not None:
                given = True
                yield TimestampedValue(pane, _time(pane.id.span))
            mark, known = _time(cutter.at.floor), estimator.current_watermark()
            if known is None or mark > known:
                estimator.set_watermark(mark)
            if pane is None and (given or time.monotonic() > until):
                tracker.defer_remainder(Duration(cutter.pause))
                return
            time.sleep(cutter.pause if pane is None else 0)
        tracker.try_claim(None)

    def _cutter_of(self, left: Left) -> Cutter:
        """What cuts the rest of the topic."""

        def partitions() -> int:
            self._known.check()
            return self._known.facts.partitions

        if self._cutter is None or self._cutter.at != left.at:
            self._cutter = Cutter(
                self._lookups,
                partitions,
                self._source.span_ms,
                self._config,
                left.stops,
                at=left.at,
                patience=self._source.patience,
            )
        return self._cutter


class _CutForEver(_Cut):
    """Cuts a topic without an end."""

    @beam.DoFn.unbounded_per_element()
    def process(
        self, element: str, tracker: Any = RESTRICTION, estimator: Any = WATERMARK
    ) -> Iterator[Any]:
        """Give the panes that are due, or the next one that comes."""
        return super().process(element, tracker, estimator)


class _Read(beam.DoFn):
    """Step pane -> its documents and dead letters; connections are kept between panes."""

    def __init__(self, source: Source):
        self._source = source

    def setup(self) -> None:
        """Read the configuration."""
        source = self._source
        self._config = Config.model_validate(source.config)
        self._reader = RangeReader(source.settings, source.topic, source.patience)

    def teardown(self) -> None:
        """Close all connections."""
        self._reader.close()

    def process(self, element: TopicPane) -> Iterator[Any]:
        """Read a pane."""
        until = element.id.span + element.span_ms
        for part in element.ranges:
            last = element.id.span
            for item in self._reader.read(part):
                times = [last]
                if not isinstance(item, Lost):
                    times = effective(item.timestamps, last, until)
                yield from self._values(item, times)
                last = times[-1]

    def _values(self, item: Item, times: list[int]) -> Iterator[Any]:
        """The documents and dead letters of a block, with their times."""
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
            yield TimestampedValue(document, _time(times[index]))


def _time(milliseconds: int) -> Timestamp:
    return Timestamp(micros=milliseconds * 1000)


def _tagged(letter: dict[str, Any], milliseconds: int) -> Any:
    """A dead letter with its time, for its own output."""
    return TaggedOutput(DEAD, TimestampedValue(letter, _time(milliseconds)))
