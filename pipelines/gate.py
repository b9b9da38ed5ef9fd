"""The gate on files as a Beam graph, and the driver that feeds it panes and commits them in order.

The way of a pane: cut (a range of records) -> read, validate, annotate, stage (the graph, in any worker) -> shards -> checks
-> verdict -> move -> ledger entry. Whatever is in staged/ without a ledger entry is thrown away at the next start.
"""

from __future__ import annotations

import dataclasses
import logging
import multiprocessing
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apache_beam as beam
import orjson
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner

from evenflow.schemas.config import Config
from evenflow.schemas.documents import AttributeFigures, Figures
from evenflow.transforms import files
from evenflow.transforms.annotate import Annotator
from evenflow.transforms.shards import write_block


@dataclass(frozen=True)
class Segment:
    """Records first..last of a file, as part of a pane; order is its place in the pane."""

    file: str
    first: int
    last: int
    order: int


@dataclass(frozen=True)
class Pane:
    """A pane as cut from the input; the same input and configuration cut the same panes."""

    number: int
    segments: tuple[Segment, ...]


def cut(names: Iterable[str], config: Config) -> Iterator[Pane]:
    """The panes of files, by documents and MiB of input; a record without end makes a pane of its own, never two."""
    limit_docs = config.pane.docs or (1 << 62)
    limit_bytes = config.pane.mib << 20
    number, docs, size = 0, 0, 0
    segments: list[Segment] = []
    for file in names:
        first = at = 0
        for block in files.blocks(file):
            for raw in block.records:
                if docs and (docs >= limit_docs or size + len(raw) > limit_bytes):
                    if at > first:
                        segments.append(Segment(file, first, at - 1, len(segments)))
                    yield Pane(number, tuple(segments))
                    number, docs, size, segments, first = number + 1, 0, 0, [], at
                at += 1
                docs += 1
                size += len(raw)
            if block.fault is not None:
                at += 1  # the fault stands where the next record would
                docs += 1
        if at > first:
            segments.append(Segment(file, first, at - 1, len(segments)))
    if segments:
        yield Pane(number, tuple(segments))


class ReadAndAnnotate(beam.DoFn):
    """(pane, segment) -> (pane, figures); the segment's blocks go to staged/ as Arrow, its dead letters as JSON lines."""

    def __init__(self, config: dict[str, Any], staged: str):
        self._config, self._staged = config, staged

    def setup(self) -> None:
        self._annotator = Annotator(Config.model_validate(self._config))

    def process(self, element: tuple[int, Segment]) -> Iterator[tuple[int, Figures]]:
        pane, segment = element
        folder = Path(self._staged) / f"{pane:08d}"
        total = Figures()
        for number, block in enumerate(_part(segment)):
            done = self._annotator.annotate(block)
            name = f"{segment.order:06d}-{number:06d}"
            if done.table.num_rows:
                write_block(done.table, folder / f"{name}.arrow")
            if done.dead:
                (folder / f"{name}.jsonl").write_bytes(b"".join(orjson.dumps(each) + b"\n" for each in done.dead))
            total.add(done.figures)
        yield pane, total


def _part(segment: Segment) -> Iterator[files.Block]:
    """The blocks of a segment: those of its file, clipped to its records."""
    for block in files.blocks(segment.file):
        end = block.first + len(block.records)
        low, high = max(segment.first, block.first), min(segment.last + 1, end)
        fault = block.fault if block.fault is not None and segment.first <= end <= segment.last else None
        if low < high or fault is not None:
            records = block.records[low - block.first : high - block.first] if low < high else []
            yield dataclasses.replace(block, first=low, records=records, fault=fault)
        if end > segment.last:
            return


class SumFigures(beam.CombineFn):
    """Adds the figures of a pane's blocks."""

    def create_accumulator(self) -> Figures:
        return Figures()

    def add_input(self, mutable_accumulator: Figures, element: Figures) -> Figures:
        mutable_accumulator.add(element)
        return mutable_accumulator

    def merge_accumulators(self, accumulators: Iterable[Figures]) -> Figures:
        total = Figures()
        for each in accumulators:
            total.add(each)
        return total

    def extract_output(self, accumulator: Figures) -> Figures:
        return accumulator


class WriteFigures(beam.DoFn):
    """(pane, figures) -> staged/PANE/figures.json, the mark that the pane is ready to be judged."""

    def __init__(self, staged: str):
        self._staged = staged

    def process(self, element: tuple[int, Figures]) -> None:
        pane, figures = element
        path = Path(self._staged) / f"{pane:08d}" / "figures.json"
        path.write_bytes(orjson.dumps(dataclasses.asdict(figures)))


def graph(source: beam.Pipeline, panes: list[Pane], config: Config, staged: Path) -> None:
    """Draw the graph: segments -> read, validate, annotate, stage -> sum a pane -> mark it ready."""
    _ = (
        source
        | "Segments" >> beam.Create([(pane.number, segment) for pane in panes for segment in pane.segments])
        | "Read, annotate, stage" >> beam.ParDo(ReadAndAnnotate(config.model_dump(), str(staged)))
        | "Sum a pane" >> beam.CombinePerKey(SumFigures())
        | "Mark ready" >> beam.ParDo(WriteFigures(str(staged)))
    )


def run_graph(panes: list[Pane], config: dict[str, Any], staged: Path) -> float:
    """Run the graph over some panes in this process; seconds that it took. Leftovers of an earlier try are removed."""
    began = time.perf_counter()
    logging.getLogger("apache_beam").setLevel(logging.WARNING)
    for pane in panes:
        folder = staged / f"{pane.number:08d}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions([])) as source:
        graph(source, panes, Config.model_validate(config), staged)
    return time.perf_counter() - began


def read_figures(folder: Path) -> Figures:
    """What WriteFigures wrote."""
    data = orjson.loads((folder / "figures.json").read_bytes())
    data["attributes"] = {name: AttributeFigures(**each) for name, each in data["attributes"].items()}
    return Figures(**data)


def staged_panes(panes: Iterator[Pane], config: Config, staged: Path, workers: int) -> Iterator[tuple[Pane, float]]:
    """Panes in order, each after its graph ran: in this process, or in `workers` processes that run ahead by one each."""
    settings = config.model_dump()
    if workers == 1:
        for pane in panes:
            yield pane, run_graph([pane], settings, staged)
        return
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        pending: list[tuple[Pane, Future[float]]] = []
        submit: Callable[[Pane], None] = lambda pane: pending.append(  # noqa: E731
            (pane, pool.submit(run_graph, [pane], settings, staged))
        )
        try:
            for pane in panes:
                submit(pane)
                if len(pending) > workers:
                    first, future = pending.pop(0)
                    yield first, future.result()
            while pending:
                first, future = pending.pop(0)
                yield first, future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
