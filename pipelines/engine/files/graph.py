"""The gate on files as a Beam graph, for a cluster.

The graph: parts of files -> scan for the lengths of their records -> cut into panes, once all are
scanned -> make each pane. The elements hold names and numbers. What a scan finds goes to
staged/RUN/scan/, and what a pane becomes to a folder of staged/RUN/. The driver, beside the graph,
commits the panes in their order.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
import orjson

from evenflow.pipelines.engine.files.cutting import PART_BYTES, START, Begin, Pane, cut, parts
from evenflow.pipelines.engine.files.making import GraphContext, make_pane
from evenflow.pipelines.engine.panes.epochs import RunError
from evenflow.pipelines.engine.runners import RunnerError, runner
from evenflow.pipelines.engine.runners.quiet import quiet
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import FORMAT
from evenflow.transforms.io.scan import FilePart, Scanned, pack, scan, unpack

LOOK_SECONDS = 0.2  # between two looks for the next pane
TELL_SECONDS = 1.0  # between two reports of the driver to the workers
WAIT_SECONDS = 2.0  # between two looks of a worker that is told to wait
MOST_WAITING = 256  # panes that may wait to be committed before the workers are told to wait
SPLIT_PARTS = 1000  # parts of small files that are scanned together
AT_ONCE = 64  # results of scans that are read together
UNSEEN = re.compile("FileNotFoundError|PermissionError")
STATE = "state.json"  # in staged/RUN/: what the driver tells the workers


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


class MakePane(beam.DoFn):
    """Step Pane -> nothing; the pane is in staged/ then, ready to be committed.

    A runner may try a pane again after a failure: what is made or committed is left out. Nothing is
    made for a driver that has ended.
    """

    def __init__(self, context: GraphContext):
        self._context = context

    def process(self, element: Pane) -> None:
        """Make a pane."""
        staging = self._context.staging
        with self._context.noting_failure():
            while (state := _told(self._context)) is not None and state["wait"]:
                time.sleep(WAIT_SECONDS)
            if state is None or element.number < state["next"]:
                return
            if staging.find(element.number) is None:
                make_pane(element, self._context)


def _scan_name(number: int) -> str:
    """The file of a scan, in staged/RUN/."""
    return f"scan/{number:08d}.arrow"


def _told(context: GraphContext) -> dict[str, Any] | None:
    """What the driver tells the workers: next pane to commit, whether to wait; None: it ended."""
    try:
        found = orjson.loads(context.staging.output.read(context.staging.name(STATE)))
    except FileNotFoundError:
        return None
    if (told := found.get("format")) != FORMAT:
        raise RunError(
            f"the driver's staged data have format {told}, those of this worker {FORMAT}; start the"
            " workers with the driver's version of Evenflow"
        )
    return found


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
        | "Make panes" >> beam.ParDo(MakePane(context))
    )


def made(
    names: Mapping[str, int],
    context: GraphContext,
    begin: Begin,
    options: list[str],
    note: Callable[[str], None],
    debug: bool = False,
) -> Generator[int, None, None]:
    """Make panes on a runner.

    `names`: Paths of the files that are left, in order, with their stored sizes in bytes.
    """

    def draw(pipeline: beam.Pipeline) -> None:
        build_graph(pipeline, list(splits(names, begin)), context, begin)

    def explain(error: BaseException) -> Exception:
        found = context.failure() or runner.explained(error)
        if isinstance(found, RunnerError) and UNSEEN.search(str(found)):
            return RunnerError(f"{found} (each worker must reach the input and the output)")
        return found

    number = begin.pane
    staging = context.staging
    driver = _Driver(context, number)
    try:
        with contextlib.ExitStack() as beside:
            if not debug:
                beside.enter_context(quiet(lambda text: None))
                beside.enter_context(runner.silent_workers())
            has_ended = beside.enter_context(runner.on_runner(draw, options, explain, note))
            while True:
                ended = has_ended()  # before the look: what it has made by then is found
                while staging.find(number) is not None:
                    yield number
                    number += 1
                    driver.tell(number)
                driver.tell(number, is_next_there=False)
                if ended:
                    return
                time.sleep(LOOK_SECONDS)
    finally:
        staging.output.remove([staging.name(STATE)])  # workers of a job that goes on do nothing


class _Driver:
    """What the driver tells the workers, at most once in TELL_SECONDS.

    They wait while many panes wait to be committed and the next one is among them. So the pane that
    is waited for is never held up.
    """

    def __init__(self, context: GraphContext, number: int):
        self._staging, self._told = context.staging, -TELL_SECONDS
        self._said: dict[str, Any] = {}
        self.tell(number, is_next_there=False)

    def tell(self, number: int, is_next_there: bool = True) -> None:
        """Tell the number of the next pane, and whether to wait."""
        if time.monotonic() - self._told < TELL_SECONDS:
            return
        self._told = time.monotonic()
        waiting = self._staging.waiting() if is_next_there else 0
        state = {"next": number, "wait": waiting > MOST_WAITING, "format": FORMAT}
        if state != self._said:
            self._staging.output.write(self._staging.name(STATE), orjson.dumps(state))
            self._said = state
