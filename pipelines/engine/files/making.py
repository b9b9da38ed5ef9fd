"""Makes a pane of files: reads, validates, annotates, stages and closes it, in one process.

A pane is the unit of work of a run on files. Its documents and blocks do not leave the worker, and
what it delivers to the output is finished.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, groupby
from pathlib import Path
from typing import Any

from evenflow.gates.expectations.checks import PaneChecks
from evenflow.gates.expectations.importing import uncollected
from evenflow.gates.ledger.files import read_meta
from evenflow.pipelines.engine.files.cutting import Pane, Segment
from evenflow.pipelines.engine.panes import columns
from evenflow.pipelines.engine.panes.checking import START, pane_checks
from evenflow.pipelines.engine.panes.closing import (
    Source,
    Staged,
    Staging,
    close_pane,
    list_staged,
    mend_pane,
    stage,
)
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures
from evenflow.schemas.ledger import SourceRange
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io import files, formats
from evenflow.transforms.io.blocks import Block, FileReader, join_texts
from evenflow.transforms.io.record_digest import RecordDigest
from evenflow.transforms.staging.block import StagedBlock

# New objects between two garbage collections. A block makes many rows and sets, and none of them is
# garbage in a cycle. With Python's default of 700, scanning them takes a tenth of the time.
YOUNG = 50_000


class Worker:
    """What a process keeps from pane to pane.

    `meta`: What meta.json says at that look; None: it was not read yet.
    """

    def __init__(self, config: Config):
        # Tables and models live as long as the process: scanning them for garbage would take a
        # sixth of the time.
        with uncollected():
            self.annotator = Annotator(config)
        gc.set_threshold(YOUNG)
        self.reader = FileReader()
        self.look = 0
        self.meta: dict[str, Any] | None = None
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


_kept: dict[Staging, Worker] = {}  # of one run; a process works for one run at a time
_keeping = threading.Lock()
_failures: dict[Staging, Exception] = {}  # the last one, by run


@dataclass(frozen=True)
class GraphContext:
    """What the steps of a run need; it is pickled with them."""

    config: dict[str, Any]
    staging: Staging
    root: str | None = None
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
        """Keep the error of a with-block for a driver in this process: Beam passes on its text."""
        try:
            yield
        except Exception as error:
            _failures[self.staging] = error
            raise

    def failure(self) -> Exception | None:
        """Return what a step of this run raised in this process; None: nothing."""
        return _failures.get(self.staging)


def make_pane(pane: Pane, context: GraphContext) -> None:
    """Read, annotate, stage and close a pane.

    Where duplicates are looked for in the whole run, weights continue those of earlier panes, or
    documents are set aside by the rolling score, panes are closed by the driver, one after the
    other. Then the pane's blocks are delivered.
    """
    worker = context.worker()
    with worker.busy, context.staging.pane(pane.number) as folder:
        worker.seconds = {}
        if pane.look != worker.look:  # files may have grown: what was read ahead does not count
            worker.look, worker.reader, worker.meta = pane.look, FileReader(), None
        if worker.meta is None:
            worker.meta = read_meta(context.staging.output) or {}
        source = Source(stored=pane.stored, timings=worker.seconds)
        staged = [
            block
            for segments in batches(pane.segments)
            for block in _stage(segments, folder, context, worker, source.ranges)
        ]
        config, annotator = worker.annotator.config, worker.annotator
        mended = None
        if config.duplicates.scope != "run":
            with worker.timed("shards"):
                mended = mend_pane(pane.number, staged, folder, annotator)
        if mended is None or config.has_weights or config.gate.scope == "documents":
            list_staged(folder, staged, source, mended)
            return
        with worker.timed(START):
            checks = worker.checks
        with worker.timed("shards"):
            own = columns.columns(worker.meta, pane.number)
            ready = close_pane(pane.number, staged, folder, annotator, checks, mended, own)
        ready.source = source
        ready.write(folder)


def _stage(
    segments: Sequence[Segment],
    folder: Path,
    context: GraphContext,
    worker: Worker,
    ranges: list[SourceRange],
) -> Iterator[Staged]:
    """Read, annotate and stage the blocks of segments that are read together."""
    source = join_texts(_read(worker.reader, segments, ranges))
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


def _read(
    reader: FileReader, segments: Sequence[Segment], ranges: list[SourceRange]
) -> Iterator[Block]:
    """The blocks of segments; adds the range that was read of each segment."""
    for each in segments:
        digest = RecordDigest()
        for block in reader.segment(each.file, each.first, each.last, each.offset, each.skip):
            digest.add(block)
            yield block
        ranges.append(
            SourceRange(
                file=files.printable(each.file),
                first=each.first,
                last=each.last,
                offset=each.offset if formats.of(each.file).is_seekable else None,
                sha256=digest.hexdigest(),
            )
        )


def batches(segments: Sequence[Segment]) -> Iterator[list[Segment]]:
    """Split segments into those that are read together."""
    for _, group in groupby(
        segments, lambda each: -1 if formats.of(each.file).is_text else each.order
    ):
        yield list(group)
