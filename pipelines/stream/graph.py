"""The gate on Kafka as a Beam graph: readers, spread over the workers, and nothing after them.

Readers stage blocks and write marks into the storage, and the committer closes panes by these (see
`marks` and `board`). So a runner need not fire windows, keep watermarks or checkpoint. It starts
readers, and starts them again when a worker is lost. How many of them run does not matter: the
committer gives the partitions to those that do.
"""

from __future__ import annotations

import threading

import apache_beam as beam

<<<<<<< HEAD
from evenflow.pipelines.files.graph import GraphContext
from evenflow.pipelines.stream.marks import STATE
from evenflow.pipelines.stream.reader import Reads, TopicReader
=======
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
>>>>>>> main

WAIT_SECONDS = 1.0  # between two attempts of a second reader of a process
_READING = threading.Lock()


class ReadTopic(beam.DoFn):
    """Step number -> nothing; reads until the run is over.

    Of a process one reader works. The others of the process wait, and take over when it fails.
    """

    def __init__(self, reads: Reads, context: GraphContext):
        self._reads, self._context = reads, context

    def process(self, element: int) -> None:
        """Read until the run is over.

        Args:
            element: The reader's number.
        """
<<<<<<< HEAD
        while not _READING.acquire(timeout=WAIT_SECONDS):
            if not self._reads.run.exists(STATE):
                return
        try:
            worker = self._context.worker()
            with worker.noting_failure():
                TopicReader(self._reads, worker).read()
        finally:
            _READING.release()


def build_graph(pipeline: beam.Pipeline, reads: Reads, context: GraphContext, readers: int) -> None:
    """Build the graph: numbers -> spread over the workers -> read, annotate, stage.
=======
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
>>>>>>> main

    Args:
        pipeline: The pipeline that gets the steps.
        reads: What is read.
        context: What the steps need.
        readers: Number of readers; more than there are workers do no harm.
    """
    _ = (
        pipeline
        | "Readers" >> beam.Create(range(readers), reshuffle=False)
        | "Spread" >> beam.Reshuffle()
        | "Read, annotate, stage" >> beam.ParDo(ReadTopic(reads, context))
    )


def readers(options: list[str], partitions: int) -> int:
    """Return how many readers to start.

    Args:
        options: Beam's options; none for a run in this process.
        partitions: Number of the topic's partitions.

    Returns:
        One where all workers are of one process, else as many as partitions.
    """
    single = not options or "--runner=PrismRunner" in options
    return 1 if single else max(partitions, 1)
