"""Reads the panes of a topic in a worker."""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from evenflow.gates.ledger.files import read_meta
from evenflow.pipelines.engine.make import GraphContext, Piece, Worker
from evenflow.pipelines.engine.panes import columns
from evenflow.pipelines.engine.panes.closing import RANGES, Source
from evenflow.pipelines.engine.topics.source import TopicPane
from evenflow.schemas.ledger import Position, StreamPane
from evenflow.transforms.annotation.annotate import Annotated, Annotator
from evenflow.transforms.io.records import Documents
from evenflow.transforms.io.unforeseen import Spoilt, without_spoilt
from evenflow.transforms.kafka import records
from evenflow.transforms.kafka.blocks import Item, Lost
from evenflow.transforms.kafka.client import PATIENCE_SECONDS
from evenflow.transforms.kafka.panes import effective
from evenflow.transforms.kafka.reading import RangeReader
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.transforms.staging.block import Part, StagedBlock
from evenflow.transforms.staging.shards import unify_inputs
from evenflow.transforms.storage.storage import Storage


@dataclass(frozen=True)
class TopicReads:
    """How panes of a topic are read.

    Attributes:
        publishes: Whether accepted documents are published.
        patience: How many seconds a broker may be away.
    """

    settings: KafkaSettings
    topic: str
    values: records.Values
    publishes: bool = False
    patience: float = PATIENCE_SECONDS

    def reader(self, worker: Worker) -> RangeReader:
        """What reads the topic in a worker."""
        if worker.kept is None:
            worker.kept = RangeReader(self.settings, self.topic, self.patience)
            atexit.register(worker.kept.close)
        return worker.kept

    def prepare(self, context: GraphContext, partitions: int) -> None:
        """Do in a worker what its first pane would wait for."""
        worker = context.worker()
        _ = worker.checks
        self.reader(worker).open(partitions)

    def read(self, pane: TopicPane, worker: Worker, source: Source) -> Iterator[Piece]:
        """Read and annotate the blocks of a pane, partition by partition."""
        reader = self.reader(worker)
        ends: dict[str, Position] = {}
        until = pane.id.span + pane.span_ms
        for part in pane.ranges:
            last = pane.id.span
            items: Iterator[Item] = reader.read(part)
            for item in worker.each("read", items):
                with worker.timed("annotate"):
                    done = self.annotated(item, worker.annotator)
                if not isinstance(item, Lost):
                    last = effective(item.timestamps, last, until)[-1]
                yield Piece(
                    (part.partition, item.start), f"{part.partition:06d}-{item.start:020d}", done
                )
            ends[str(part.partition)] = Position(next=part.next, time=last)
        source.stream = StreamPane(span=pane.id.span, part=pane.id.part, positions=ends)
        source.ranges = RANGES.validate_python(
            [
                {
                    "file": records.source(self.topic, each.partition),
                    "first": each.first,
                    "last": each.next - 1,
                }
                for each in pane.ranges
            ]
        )

    def columns(
        self, pane: int, worker: Worker, output: Storage, blocks: Iterable[StagedBlock]
    ) -> list[pa.Field]:
        """The columns of a pane's shards: those of the panes before, and what it needs besides."""
        tables = (block.read(Part.DOCUMENTS) for block in blocks if block.has(Part.DOCUMENTS))
        config, own = worker.annotator.config, worker.annotator.own
        return columns.of_pane(read_meta(output), pane, unify_inputs(tables), config, own)

    def annotated(self, item: Item, annotator: Annotator) -> Annotated:
        """A block annotated; a gap becomes one dead letter."""
        if isinstance(item, Lost):
            nothing = annotator.annotate_documents(Documents(""), 0)
            nothing.figures.dead_reasons = {item.kind: item.records}
            return Annotated(nothing.table, [records.lost(item)], nothing.figures)

        def done(spoilt: Spoilt) -> Annotated:
            found = records.validate(
                item, annotator.config, annotator.own, self.values, spoilt, self.publishes
            )
            size = sum(len(value or b"") for value in item.values)
            return annotator.annotate_documents(found, size)

        return without_spoilt(done, item.size, annotator.probe)
