"""The gate on Kafka as a Beam graph.

The graph: partitions -> blocks, annotated and staged by the reading step itself -> the blocks of a
pane, when the watermark has passed its span -> a list of the blocks, in the pane's folder in
staged/, which `committing` looks for. The elements of the graph hold names and counts, never
documents.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import apache_beam as beam
import orjson
from apache_beam.transforms.window import FixedWindows

from evenflow.pipelines.files.making import GraphContext
from evenflow.pipelines.panes.closing import stage
from evenflow.schemas.documents import Figures
from evenflow.transforms.annotation.annotate import Annotated, Annotator
from evenflow.transforms.io.records import Documents
from evenflow.transforms.io.unforeseen import Spoilt, without_spoilt
from evenflow.transforms.kafka import records
from evenflow.transforms.kafka.blocks import Item, Lost
from evenflow.transforms.kafka.options import Source
from evenflow.transforms.kafka.panes import PaneId
from evenflow.transforms.kafka.source import ReadFromKafka, ReadFromKafkaToEnd
from evenflow.transforms.staging.block import StagedBlock

BLOCKS = "blocks.json"  # in a pane's folder in staged/: the blocks of a pane that is whole
LOST = "lost by retention"


@dataclass(frozen=True)
class StagedRange:
    """A staged block of a partition.

    Attributes:
        partition: The partition's number.
        start: Offset of the first record.
        next: Offset after the last record.
        time: Time of the last record, in milliseconds since 1970.
        figures: The block's figures.
    """

    partition: int
    start: int
    next: int
    time: int
    figures: Figures

    @property
    def stem(self) -> str:
        """The name of its files in the pane's folder, without suffix."""
        return f"{self.partition:06d}-{self.start:020d}"


def folder_of(staged: Path, pane: PaneId) -> Path:
    """Return the folder of a pane; the names sort in the order of the panes.

    Args:
        staged: The folder staged/.
        pane: The pane.

    Returns:
        The folder's path.
    """
    return staged / f"{pane.span:015d}-{pane.part:012d}"


def staged(context: GraphContext) -> Path:
    """Return the folder staged/."""
    root = context.staging.output.local
    assert root is not None
    return root / "staged"


class StageItems:
    """Annotates and stages what the source reads, in the worker that reads it.

    Args:
        context: What the steps of the graph need.
        values: What a record's value is: a JSON object, or a text.
    """

    def __init__(self, context: GraphContext, values: records.Values):
        self._context = context
        self._values: records.Values = values

    def setup(self) -> None:
        """Build the tables of the word lists, once a process."""
        self._context.worker()

    def process(self, item: Item) -> Iterator[tuple[tuple[int, int], StagedRange]]:
        """Stage a block, or a gap that retention made.

        The names of the files depend on partition and offset alone, so that a replay overwrites
        them.

        Args:
            item: What the source read.

        Yields:
            The pane as (span, part), and the staged block.
        """
        worker = self._context.worker()
        folder = folder_of(staged(self._context), item.pane)
        with self._context.noting_failure():
            folder.mkdir(parents=True, exist_ok=True)
            done = self._read(item, worker.annotator)
            piece = StagedRange(item.partition, item.start, item.next, item.end.time, done.figures)
            block = StagedBlock(folder, piece.stem)
            block.remove()  # what an earlier try left
            stage(done, block, worker.annotator)
        yield (item.pane.span, item.pane.part), piece

    def _read(self, item: Item, annotator: Annotator) -> Annotated:
        """A block annotated; a gap becomes one dead letter."""
        if isinstance(item, Lost):
            nothing = annotator.annotate_documents(Documents(""), 0)
            nothing.figures.dead_reasons = {LOST: 1}
            return Annotated(nothing.table, [records.lost(item)], nothing.figures)

        def done(spoilt: Spoilt) -> Annotated:
            found = records.validate(item, annotator.config, annotator.own, self._values, spoilt)
            return annotator.annotate_documents(
                found, sum(len(value or b"") for value in item.values)
            )

        return without_spoilt(done, item.size, annotator.probe)


class ListBlocks(beam.DoFn):
    """Step (pane, its staged blocks) -> nothing; writes blocks.json in the pane's folder.

    The file appears by an atomic rename. It marks that the pane is whole.
    """

    def __init__(self, context: GraphContext):
        self._context = context

    def process(self, element: tuple[tuple[int, int], Iterable[StagedRange]]) -> None:
        """List the blocks of a pane.

        Args:
            element: The pane as (span, part), and its blocks, in any order.
        """
        pane, pieces = element
        folder = folder_of(staged(self._context), PaneId(*pane))
        part = folder / f".{BLOCKS}"
        with self._context.noting_failure():
            part.write_bytes(orjson.dumps([dataclasses.asdict(piece) for piece in pieces]))
            part.replace(folder / BLOCKS)


def build_graph(
    pipeline: beam.Pipeline, source: Source, context: GraphContext, to_end: bool
) -> None:
    """Build the graph: read, annotate, stage -> spans of time -> the blocks of a pane -> a list.

    Args:
        pipeline: The pipeline that gets the steps.
        source: What is read.
        context: What the steps need.
        to_end: Whether reading stops at the end offsets of the start.
    """
    read = ReadFromKafkaToEnd(source) if to_end else ReadFromKafka(source)
    _ = (
        pipeline
        | "Read, annotate, stage" >> read
        | "Spans" >> beam.WindowInto(FixedWindows(source.cutter.span_ms / 1000))
        | "Blocks of a pane" >> beam.GroupByKey()
        | "List blocks" >> beam.ParDo(ListBlocks(context))
    )


@dataclass(frozen=True)
class HeldFile:
    """Whether gate/held is there; called by the source in its workers.

    Attributes:
        path: Path of gate/held.
    """

    path: str

    def __call__(self) -> bool:
        """Whether the gate is held."""
        return Path(self.path).exists()


def read_pieces(folder: Path) -> list[StagedRange]:
    """Read the blocks of a pane, as ListBlocks wrote them, by partition and offset."""
    found = orjson.loads((folder / BLOCKS).read_bytes())
    pieces = [StagedRange(**{**data, "figures": Figures.read(data["figures"])}) for data in found]
    return sorted(pieces, key=lambda piece: (piece.partition, piece.start, piece.next))
