"""The gate on files as a Beam graph, for a cluster.

The graph: parts of files -> scan for the lengths of their records -> cut into panes, once all are
scanned -> make each pane. The elements hold names and numbers. What a scan finds goes to
staged/RUN/scan/, and what a pane becomes to a folder of staged/RUN/. The driver, beside the graph,
commits the panes in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping

import apache_beam as beam

from evenflow.pipelines.engine.files.cutting import PART_BYTES, START, Begin, Pane, cut, parts
from evenflow.pipelines.engine.make import GraphContext
from evenflow.pipelines.engine.runners import making
from evenflow.schemas.config import Config
from evenflow.transforms.io.scan import FilePart, Scanned, pack, scan, unpack

SPLIT_PARTS = 1000  # parts of small files that are scanned together
AT_ONCE = 64  # results of scans that are read together


class ScanParts(beam.DoFn):
    """Step (number, parts) -> (0, number); what is found is in staged/RUN/scan/NUMBER."""

    def __init__(self, context: GraphContext):
        self._context = context

    def process(self, element: tuple[int, tuple[FilePart, ...]]) -> Iterator[tuple[int, int]]:
        """Scan parts of files."""
        number, split = element
        staging = self._context.staging
        with self._context.noting_failure():
            if not staging.output.exists(staging.name(_scan_name(number))):
                found = pack(each for part in split for each in scan(part))
                staging.output.write(staging.name(_scan_name(number)), found)
        yield 0, number


class CutPanes(beam.DoFn):
    """Step (0, the numbers of all scans) -> Pane."""

    def __init__(self, context: GraphContext, begin: Begin):
        self._context = context
        self._begin = begin

    def process(self, element: tuple[int, Iterable[int]]) -> Iterator[Pane]:
        """Cut files into panes."""
        config = Config.model_validate(self._context.config)
        with self._context.noting_failure():
            yield from cut(self._found(len(set(element[1]))), config, self._begin)

    def _found(self, count: int) -> Iterator[Scanned]:
        """What the scans have found, in order."""
        staging = self._context.staging
        names = [staging.name(_scan_name(number)) for number in range(count)]
        for first in range(0, count, AT_ONCE):
            for data in staging.output.read_all(names[first : first + AT_ONCE]):
                assert data is not None, "a scan was deleted: another run has taken over"
                yield from unpack(data)


def _scan_name(number: int) -> str:
    """The file of a scan, in staged/RUN/."""
    return f"scan/{number:08d}.arrow"


def splits(
    names: Mapping[str, int], begin: Begin = START, most: int = PART_BYTES
) -> Iterator[tuple[FilePart, ...]]:
    """Gather parts of files into what one worker scans.

    `names`: Paths of the files that are left, in order, with their stored sizes in bytes. `most`:
    Stored bytes that are scanned together, unless one part has more.
    """
    split: list[FilePart] = []
    for part in parts(names, begin, most):
        if split and (
            len(split) == SPLIT_PARTS or sum(each.stored for each in split) + part.stored > most
        ):
            yield tuple(split)
            split = []
        split.append(part)
    if split:
        yield tuple(split)


def build_graph(
    pipeline: beam.Pipeline,
    scans: list[tuple[FilePart, ...]],
    context: GraphContext,
    begin: Begin = START,
) -> None:
    """Build the graph."""
    _ = (
        pipeline
        | "Parts" >> beam.Create(list(enumerate(scans)))
        | "Spread parts" >> beam.Reshuffle()
        | "Scan" >> beam.ParDo(ScanParts(context))
        | "All" >> beam.GroupByKey()
        | "Cut" >> beam.ParDo(CutPanes(context, begin))
        | "Spread panes" >> beam.Reshuffle()
        | "Make panes" >> beam.ParDo(making.MakePane(context))
    )


def made(
    names: Mapping[str, int],
    context: GraphContext,
    begin: Begin,
    options: list[str],
    note: Callable[[str], None],
    debug: bool = False,
) -> Generator[dict[int, str], None, None]:
    """Make panes on a runner.

    `names`: Paths of the files that are left, in order, with their stored sizes in bytes.
    """

    def draw(pipeline: beam.Pipeline) -> None:
        build_graph(pipeline, list(splits(names, begin)), context, begin)

    return making.made(draw, context, begin.pane, options, note, debug)
