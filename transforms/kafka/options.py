"""What the Kafka source is told: cluster, topics, starts, panes, what is done to a block, and when
to pause.
"""

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
    """What is done to a block where it is read, so that records need not travel: travels itself,
    pickled, to the workers.
    """

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
    """Where a partition's reading begins: an offset, and the point that cutting goes on from (see
    PaneCutter.after).
    """

    offset: int
    point: Point


@dataclass(frozen=True)
class Source:
    """What is read and how.

    topics: names. starts: by topic and partition, from a ledger; other partitions begin at their
    first record. held: asked again and again, in the workers; while it is true nothing is read.
    patience: seconds that a broker may be away.
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
        """Where a partition begins: as the ledger says, or at its first offset and no earlier than
        a time in ms.
        """
        return self.starts.get((topic, partition)) or Start(first, self.cutter.start(time_))


@dataclass(frozen=True)
class Partition:
    """A partition to be read: range and point at the start."""

    topic: str
    number: int
    range: OffsetRange
