"""The gate on files as a Beam graph: panes are read, validated, annotated and staged, then closed
into shards.

What travels is a pane's number, the names of its staged blocks and their counts; documents stay in
staged/. Whatever is in staged/ without a ledger entry is thrown away at the next start.
"""

from __future__ import annotations

import gc
import logging
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, groupby
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.utils.shared import Shared

from evenflow.gates.expectations.importing import uncollected
from evenflow.pipelines.files.cutting import Pane, Segment
from evenflow.pipelines.panes.closing import Staged, close_pane, list_staged, stage
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.blocks import Block, FileReader, join_texts
from evenflow.transforms.io.record_digest import RecordDigest

# Objects between two looks for garbage: a block's rows and sets are so many that at Python's 700
# they are looked through again and again, for a tenth of the time, and none of them is garbage in a
# cycle.
YOUNG = 50_000


class Workshop:
    """What a process keeps from pane to pane: the tables of the word lists, and the file being
    read.
    """

    def __init__(self, config: Config):
        # Tables and models live as long as the process: looking through them for garbage would take
        # a sixth of the time.
        with uncollected():
            self.annotator = Annotator(config)
        gc.set_threshold(YOUNG)
        self.reader = FileReader()
        self.seconds: dict[str, float] = {}
        self.failure: Exception | None = None
        self.on_block: Callable[[Figures], None] = lambda figures: None

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of a with-block to a stage."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - began

    @contextmanager
    def noting_failure(self) -> Iterator[None]:
        """Keep what went wrong: the runner passes on no more than its text."""
        try:
            yield
        except Exception as error:
            self.failure = error
            raise


@dataclass(frozen=True)
class GraphPlace:
    """Where a graph finds its workshop and its folder; travels with the DoFns."""

    config: dict[str, Any]
    staged: str
    root: str | None = None  # the folder that all files are in
    shared: Shared = field(default_factory=Shared)

    def workshop(self) -> Workshop:
        """This process's workshop."""
        return self.shared.acquire(lambda: Workshop(Config.model_validate(self.config)))

    def folder(self, pane: int) -> Path:
        """A pane's folder in staged/."""
        return Path(self.staged) / f"{pane:08d}"


def digest_file(folder: Path, segment: Segment) -> Path:
    """Where a pane's folder keeps the digest of what was read of a segment."""
    return folder / f"{segment.order:06d}.sha256"


class ReadAndAnnotate(beam.DoFn):
    """(pane, segments) -> (pane, Staged) for each block: its table goes to staged/ as Arrow, its
    dead letters as JSON lines.
    """

    def __init__(self, place: GraphPlace):
        self._place = place

    def process(self, element: tuple[int, Sequence[Segment]]) -> Iterator[tuple[int, Staged]]:
        pane, segments = element
        shop, folder = self._place.workshop(), self._place.folder(pane)
        with shop.noting_failure():
            source = join_texts(self._read(shop.reader, segments, folder))
            for number in count():
                with shop.timed("read"):
                    block = next(source, None)
                if block is None:
                    return
                with shop.timed("annotate"):
                    done = shop.annotator.annotate(block, self._place.root)
                stem = f"{segments[0].order:06d}-{number:06d}"
                with shop.timed("stage"):
                    stage(done, folder / stem, shop.annotator)
                shop.on_block(done.figures)
                yield pane, Staged((segments[0].order, number), stem, done.figures)

    def _read(
        self, reader: FileReader, segments: Sequence[Segment], folder: Path
    ) -> Iterator[Block]:
        """The blocks of segments, whose digests are noted."""
        for segment in segments:
            digest = RecordDigest()
            for block in reader.segment(segment.file, segment.first, segment.last, segment.offset):
                digest.add(block)
                yield block
            digest_file(folder, segment).write_text(digest.hexdigest())


class ClosePane(beam.DoFn):
    """(pane, its Staged blocks) -> staged/PANE/ with shards, dead letters and ready.json, the mark
    that it can be judged.
    """

    def __init__(self, place: GraphPlace):
        self._place = place

    def process(self, element: tuple[int, Iterable[Staged]]) -> None:
        pane, blocks = element
        shop = self._place.workshop()
        with shop.noting_failure(), shop.timed("shards"):
            close_pane(
                pane,
                sorted(blocks, key=lambda each: each.place),
                self._place.folder(pane),
                shop.annotator,
            )


class ListStaged(beam.DoFn):
    """(pane, its Staged blocks) -> staged/PANE/blocks.json: the pane is whole, and is closed by who
    commits it.
    """

    def __init__(self, place: GraphPlace):
        self._place = place

    def process(self, element: tuple[int, Iterable[Staged]]) -> None:
        pane, blocks = element
        with self._place.workshop().noting_failure():
            list_staged(self._place.folder(pane), sorted(blocks, key=lambda each: each.place))


def batches(segments: Sequence[Segment]) -> Iterator[list[Segment]]:
    """The segments one by one, but texts that follow each other together."""
    for _, group in groupby(
        segments, lambda each: -1 if each.file.endswith(".txt") else each.order
    ):
        yield list(group)


def graph(source: beam.Pipeline, panes: list[Pane], place: GraphPlace) -> None:
    """Draw the graph: segments -> read, validate, annotate, stage -> the blocks of a pane ->
    shards, but where that is left to who commits the panes one after the other."""
    alone = place.workshop().annotator.config.duplicates.scope == "pane"
    _ = (
        source
        | "Segments"
        >> beam.Create([(pane.number, part) for pane in panes for part in batches(pane.segments)])
        | "Read, annotate, stage" >> beam.ParDo(ReadAndAnnotate(place))
        | "Blocks of a pane" >> beam.GroupByKey()
        | "Close a pane" >> beam.ParDo(ClosePane(place) if alone else ListStaged(place))
    )


def run_graph(panes: list[Pane], place: GraphPlace) -> dict[str, float]:
    """Run the graph over some panes in this process; seconds by stage. Leftovers of an earlier try
    are removed.

    Raises what a step raised: OSError above all.
    """
    began = time.perf_counter()
    # A step's failure is raised here, and told by who called
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
    for pane in panes:
        folder = place.folder(pane.number)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    shop = place.workshop()
    shop.seconds, shop.failure = {}, None
    try:
        with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions([])) as source:
            graph(source, panes, place)
    except Exception as error:
        if shop.failure is not None:
            raise shop.failure from error
        raise
    return {**shop.seconds, "beam": time.perf_counter() - began - sum(shop.seconds.values())}
