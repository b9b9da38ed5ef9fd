"""Settings of the Kafka source: cluster, topics, starts, panes, handling of blocks, and pausing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from apache_beam.utils.shared import Shared

from evenflow.transforms.kafka.blocks import Item
from evenflow.transforms.kafka.client import PATIENCE_SECONDS
from evenflow.transforms.kafka.panes import PaneCutter, Point
from evenflow.transforms.kafka.pool import ReaderPool
from evenflow.transforms.kafka.ranges import OffsetRange
from evenflow.transforms.kafka.settings import KafkaSettings


class Handler(Protocol):
    """Handles a block where it is read, so that records need not travel between workers.

    The handler itself travels to the workers, pickled.
    """

    def setup(self) -> None:
        """Prepare; called once in each worker, before the first item."""

    def process(self, item: Item) -> Iterable[Any]:
        """Handle one item.

        Args:
            item: A block of records, or a range of lost offsets.

        Returns:
            What goes on into the pipeline in place of the item.
        """
        ...


class AsIs:
    """Passes items on unchanged."""

    def setup(self) -> None:
        """Do nothing."""

    def process(self, item: Item) -> Iterable[Item]:
        """Return the item alone.

        Args:
            item: A block of records, or a range of lost offsets.

        Returns:
            The item.
        """
        return (item,)


def never() -> bool:
    """Return False: the source is not held."""
    return False


@dataclass(frozen=True)
class Start:
    """Where a partition's reading begins.

    Attributes:
        offset: The first offset to read.
        point: The point that cutting goes on from (see PaneCutter.after).
    """

    offset: int
    point: Point


@dataclass(frozen=True)
class Source:
    """What is read and how.

    Attributes:
        settings: The cluster.
        topics: Names of the topics.
        cutter: Cuts records into panes.
        handler: Handles blocks in the workers.
        starts: Starts by topic and partition, from a ledger. Other partitions begin at their first
            record.
        held: Called repeatedly in the workers; nothing is read while it returns True.
        patience: How many seconds a broker may be away.
        shared: Holds the pool of readers once per process.
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
        """Return the readers and progress that this process keeps between calls."""
        return self.shared.acquire(lambda: ReaderPool(self.settings, self.patience))

    def start(self, topic: str, partition: int, first: int, time_: int) -> Start:
        """Find where a partition's reading begins.

        Args:
            topic: The topic.
            partition: The partition's number.
            first: The partition's first offset.
            time_: The earliest time of its records, in milliseconds since 1970.

        Returns:
            The start from the ledger; without one, the first offset at that time.
        """
        return self.starts.get((topic, partition)) or Start(first, self.cutter.start(time_))


@dataclass(frozen=True)
class Partition:
    """A partition to be read.

    Attributes:
        topic: The topic.
        number: The partition's number.
        range: The offsets to read, and the point at their start.
    """

    topic: str
    number: int
    range: OffsetRange
