"""The gate on files as a Beam graph: panes are read, validated, annotated, staged and closed.

The elements of the graph hold a pane's number, the names of its staged blocks and their counts.
Documents stay in staged/. What is in staged/ without a ledger entry is deleted at the next start.
"""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, groupby
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.utils.shared import Shared

from evenflow.gates.expectations.checks import PaneChecks
from evenflow.gates.expectations.importing import uncollected
from evenflow.pipelines.files.cutting import Pane, Segment
from evenflow.pipelines.panes.checking import pane_checks
from evenflow.pipelines.panes.closing import Staged, Staging, close_pane, list_staged, stage
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.blocks import Block, FileReader, join_texts
from evenflow.transforms.io.record_digest import RecordDigest
from evenflow.transforms.staging.block import StagedBlock

# New objects between two garbage collections. A block makes many rows and sets, and none of them is
# garbage in a cycle. With Python's default of 700, scanning them takes a tenth of the time.
YOUNG = 50_000


class Worker:
    """What a process keeps from pane to pane.

    Args:
        config: The configuration.

    Attributes:
        annotator: Annotates blocks; holds the tables of the word lists, and models.
        reader: Reads files; keeps the last one open.
        seconds: Time spent in this run of the graph, by stage.
        failure: What a step raised in this run of the graph.
        on_block: Called with the figures of each block that was staged.

    Raises:
        WordListError: A word list cannot be used.
    """

    def __init__(self, config: Config):
        # Tables and models live as long as the process: scanning them for garbage would take a
        # sixth of the time.
        with uncollected():
            self.annotator = Annotator(config)
        gc.set_threshold(YOUNG)
        self.reader = FileReader()
        self.seconds: dict[str, float] = {}
        self.failure: Exception | None = None
        self._checks: PaneChecks | None = None
        self.on_block: Callable[[Figures], None] = lambda figures: None

    @property
    def checks(self) -> PaneChecks:
        """The checks of panes; made for the first pane, since their import is slow."""
        if self._checks is None:
            self._checks = pane_checks(self.annotator.config, self.annotator.lists)
        return self._checks

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of a with-block to the seconds of a stage."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - began

    @contextmanager
    def noting_failure(self) -> Iterator[None]:
        """Keep the error of a with-block: the runner passes on nothing but its text."""
        try:
            yield
        except Exception as error:
            self.failure = error
            raise


@dataclass(frozen=True)
class GraphContext:
    """What the steps of a graph need; it is pickled with them.

    Attributes:
        config: The configuration, as a dict.
        staging: Where panes go.
        root: The folder that all files are in; None for a topic.
        shared: Keeps one Worker a process.
    """

    config: dict[str, Any]
    staging: Staging
    root: str | None = None
    shared: Shared = field(default_factory=Shared)

    def worker(self) -> Worker:
        """Return the Worker of this process; the first call makes it."""
        return self.shared.acquire(lambda: Worker(Config.model_validate(self.config)))


def digest_name(segment: Segment) -> str:
    """Return the name of the file with the digest of what was read of a segment of a pane."""
    return f"{segment.order:06d}.sha256"


class MakePane(beam.DoFn):
    """Step Pane -> nothing; the pane is in staged/ then, ready to be committed."""

    def __init__(self, context: GraphContext):
        self._context = context

    def process(self, element: Pane) -> None:
        """Make a pane.

        Args:
            element: The pane as cut.
        """
        with self._context.worker().noting_failure():
            make_pane(element, self._context)


def make_pane(pane: Pane, context: GraphContext) -> None:
    """Read, annotate, stage and close a pane.

    A pane is the unit of work of a run on files: its documents and blocks do not leave the worker,
    and what it delivers is finished. Where duplicates are looked for in the whole run, panes are
    closed by the driver, one after the other. Then the pane's blocks are delivered.

    Args:
        pane: The pane as cut.
        context: What the step needs.

    Raises:
        OSError: A file cannot be read or written.
    """
    worker = context.worker()
    with context.staging.pane(pane.number) as folder:
        staged = [
            block
            for segments in batches(pane.segments)
            for block in _stage(segments, folder, context, worker)
        ]
        if worker.annotator.config.duplicates.scope == "run":
            list_staged(folder, staged)
        else:
            with worker.timed("start checks"):
                checks = worker.checks
            with worker.timed("shards"):
                close_pane(pane.number, staged, folder, worker.annotator, checks)


def _stage(
    segments: Sequence[Segment], folder: Path, context: GraphContext, worker: Worker
) -> Iterator[Staged]:
    """Read, annotate and stage the blocks of segments that are read together."""
    source = join_texts(_read(worker.reader, segments, folder))
    for number in count():
        with worker.timed("read"):
            block = next(source, None)
        if block is None:
            return
        with worker.timed("annotate"):
            done = worker.annotator.annotate(block, context.root)
        stem = f"{segments[0].order:06d}-{number:06d}"
        with worker.timed("stage"):
            stage(done, StagedBlock(folder, stem), worker.annotator)
        worker.on_block(done.figures)
        yield Staged((segments[0].order, number), stem, done.figures)


def _read(reader: FileReader, segments: Sequence[Segment], folder: Path) -> Iterator[Block]:
    """The blocks of segments; writes a digest of each segment."""
    for segment in segments:
        digest = RecordDigest()
        for block in reader.segment(segment.file, segment.first, segment.last, segment.offset):
            digest.add(block)
            yield block
        (folder / digest_name(segment)).write_text(digest.hexdigest())


def batches(segments: Sequence[Segment]) -> Iterator[list[Segment]]:
    """Split segments into those that are read together.

    Args:
        segments: Segments of a pane, in order.

    Yields:
        Neighbouring .txt files together, every other segment alone.
    """
    for _, group in groupby(
        segments, lambda each: -1 if each.file.endswith(".txt") else each.order
    ):
        yield list(group)


def build_graph(source: beam.Pipeline, panes: list[Pane], context: GraphContext) -> None:
    """Build the graph: panes -> read, annotate, stage, close.

    Args:
        source: The pipeline that gets the steps.
        panes: The panes to read.
        context: What the steps need.
    """
    _ = source | "Panes" >> beam.Create(panes) | "Make panes" >> beam.ParDo(MakePane(context))


def run_graph(panes: list[Pane], context: GraphContext) -> dict[str, float]:
    """Run the graph over some panes in this process.

    Args:
        panes: The panes to read.
        context: What the steps need.

    Returns:
        Seconds by stage.

    Raises:
        OSError: A file cannot be read or written. Other errors of a step are raised as they are.
    """
    began = time.perf_counter()
    # A step's failure is raised here, and reported by the caller
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
    worker = context.worker()
    worker.seconds, worker.failure = {}, None
    try:
        with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions([])) as source:
            build_graph(source, panes, context)
    except Exception as error:
        if worker.failure is not None:
            raise worker.failure from error
        raise
    return {**worker.seconds, "beam": time.perf_counter() - began - sum(worker.seconds.values())}
