"""Makes a pane: reads, validates, annotates, stages and closes it, in one process.

A pane is the unit of work of a run. Its documents and blocks do not leave the worker, and what it
delivers to the output is finished. `Reads` says how the ranges of a pane are read: of files, or of
a topic.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from evenflow.gates.expectations.checks import PaneChecks
from evenflow.gates.expectations.importing import uncollected
from evenflow.pipelines.engine.panes import columns
from evenflow.pipelines.engine.panes.checking import START, pane_checks
from evenflow.pipelines.engine.panes.closing import (
    Source,
    Staged,
    Staging,
    close_pane,
    driver_closes,
    list_staged,
    mend_pane,
    stage,
)
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures
from evenflow.transforms.annotation.annotate import Annotated, Annotator
from evenflow.transforms.staging.block import StagedBlock
from evenflow.transforms.storage.storage import Storage

# New objects between two garbage collections. A block makes many rows and sets, and none of them is
# garbage in a cycle. With Python's default of 700, scanning them takes a tenth of the time.
YOUNG = 50_000
BEGUN = "begun"  # in staged/RUN/: a worker of a runner works
Item = TypeVar("Item")


class Worker:
    """What a process keeps from pane to pane.

    `kept`: What `Reads` keeps: open files or connections.
    """

    def __init__(self, config: Config):
        # Tables and models live as long as the process: scanning them for garbage would take a
        # sixth of the time.
        with uncollected():
            self.annotator = Annotator(config)
        gc.set_threshold(YOUNG)
        self.kept: Any = None
        self.seconds: dict[str, float] = {}
        self.busy = threading.Lock()
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

    def each(self, stage: str, items: Iterator[Item]) -> Iterator[Item]:
        """Give items, and add the time that each takes to the seconds of a stage.

        An item is not kept while the next one is made: a block may be large.
        """
        while True:
            with self.timed(stage):
                item = next(items, None)
            if item is None:
                return
            yield item
            del item


class Work(Protocol):
    """A pane as it was cut."""

    @property
    def number(self) -> int:
        """Its number."""
        ...


class Reads(Protocol):
    """How the panes of a run are read; it travels to the workers."""

    def read(self, pane: Any, worker: Worker, source: Source) -> Iterator[Piece]:
        """Read and annotate the blocks of a pane, in order; notes in `source` what was read."""
        ...

    def columns(
        self, pane: int, worker: Worker, output: Storage, blocks: Iterable[StagedBlock]
    ) -> list[pa.Field] | None:
        """The columns of a pane's shards. None: those that its documents have."""
        ...


@dataclass(frozen=True)
class Piece:
    """A block that was annotated.

    Attributes:
        place: Its place in the pane.
        stem: The name of its files.
    """

    place: tuple[int, int]
    stem: str
    done: Annotated


_kept: dict[Staging, Worker] = {}  # of one run; a process works for one run at a time
_keeping = threading.Lock()
_failures: dict[Staging, Exception] = {}  # the last one, by run
_begun = set[Staging]()


@dataclass(frozen=True)
class GraphContext:
    """What the steps of a run need; it is pickled with them."""

    config: dict[str, Any]
    staging: Staging
    reads: Reads
    threads: int = 1

    def worker(self) -> Worker:
        """Return the Worker of this process; the first call in a run makes it."""
        with _keeping:
            if self.staging not in _kept:
                made = Worker(Config.model_validate(self.config))
                made.annotator.threads = self.threads
                _kept.clear()
                _kept[self.staging] = made
            return _kept[self.staging]

    @contextmanager
    def noting_failure(self) -> Iterator[None]:
        """Keep the error of a with-block for a driver in this process: Beam passes on its text.

        The first call of a process says that it works.
        """
        if self.staging not in _begun:
            self.staging.output.create(self.staging.name(BEGUN), b"", durable=False)
            _begun.add(self.staging)
        try:
            yield
        except Exception as error:
            _failures[self.staging] = error
            raise

    def failure(self) -> Exception | None:
        """Return what a step of this run raised in this process; None: nothing."""
        return _failures.get(self.staging)


def make_pane(pane: Work, context: GraphContext) -> None:
    """Read, annotate, stage and close a pane.

    Where the driver closes panes (`driver_closes`), the pane's blocks are delivered.
    """
    worker, output = context.worker(), context.staging.output
    annotator, reads = worker.annotator, context.reads
    with worker.busy, context.staging.pane(pane.number) as folder:
        worker.seconds = {}
        source = Source(timings=worker.seconds)
        staged: list[Staged] = []
        for piece in reads.read(pane, worker, source):
            with worker.timed("stage"):
                stage(piece.done, StagedBlock(folder, piece.stem), annotator)
            worker.on_block(piece.done.figures)
            staged.append(Staged(piece.place, piece.stem, piece.done.figures))
            del piece  # a large block goes before the next one is read
        mended = None
        if annotator.config.duplicates.scope != "run":
            with worker.timed("shards"):
                mended = mend_pane(pane.number, staged, folder, annotator)
        if mended is None or driver_closes(annotator.config):
            list_staged(folder, staged, source, mended)
            return
        with worker.timed(START):
            checks = worker.checks
        with worker.timed("shards"):
            blocks = [StagedBlock(folder, each.stem) for each in staged]
            own = reads.columns(pane.number, worker, output, blocks)
            source.columns = columns.packed(own)
            ready = close_pane(pane.number, staged, folder, annotator, checks, mended, own)
        ready.source = source
        ready.write(folder)
