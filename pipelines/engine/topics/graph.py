"""The gate on a topic as a Beam graph: numbers of panes -> Reshuffle -> make each pane.

The driver cuts panes and notes each in the output. A splittable DoFn gives out the numbers as the
notes come. It waits for a note as long as GIVE_SECONDS before it defers, since Flink keeps
something of each deferral, and it ends as soon as its driver has ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

import apache_beam as beam
from apache_beam.io.restriction_trackers import OffsetRange, OffsetRestrictionTracker
from apache_beam.transforms.core import RestrictionProvider

from evenflow.pipelines.engine.make import GraphContext
from evenflow.pipelines.engine.runners import making
from evenflow.pipelines.engine.topics.source import TopicPane, read_cut

LAST = 1 << 40  # after all panes
GIVE_SECONDS = 20.0  # that one call waits for the next pane
LOOK_SECONDS = 0.2  # between two looks for the next note
STORE_LOOK_SECONDS = 1.0  # in an object store, where a look costs requests
RESTRICTION = beam.DoFn.RestrictionParam()


class _Unbounded(OffsetRestrictionTracker):
    """Claims numbers of panes one by one."""

    def is_bounded(self) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return whether it has an end."""
        return False


class GivePanes(beam.DoFn, RestrictionProvider):
    """Step number of the first pane -> panes, as the driver cuts them."""

    def __init__(self, context: GraphContext):
        self._context = context

    def initial_restriction(self, element: int) -> OffsetRange:
        """Return the numbers from the first pane on."""
        return OffsetRange(element, LAST)

    def create_tracker(self, restriction: OffsetRange) -> OffsetRestrictionTracker:
        """Make the tracker of a range of numbers."""
        return _Unbounded(restriction)

    def restriction_size(self, element: int, restriction: OffsetRange) -> int:
        """Return 1: nobody knows."""
        return 1

    @beam.DoFn.unbounded_per_element()
    def process(self, element: int, tracker: Any = RESTRICTION) -> Iterator[TopicPane]:
        """Give out the panes that are there, or the next one that comes."""
        context = self._context
        output = context.staging.output
        number, until = tracker.current_restriction().start, time.monotonic() + GIVE_SECONDS
        look = LOOK_SECONDS if output.local is not None else STORE_LOOK_SECONDS
        given = False
        with context.noting_failure():
            while (state := making.read_state(context)) is not None:
                number = max(number, state["next"])  # after a restart of the job
                pane = read_cut(output, number)
                if pane is not None:
                    if not tracker.try_claim(number):
                        return
                    yield pane
                    number, given = number + 1, True
                elif given or time.monotonic() > until:
                    tracker.defer_remainder()
                    return
                else:
                    time.sleep(look)
        tracker.try_claim(LAST)  # the driver has ended: nothing is left


def made(
    panes: Iterator[TopicPane | float],
    context: GraphContext,
    number: int,
    options: list[str],
    note: Callable[[str], None],
    check: Callable[[], None],
    debug: bool = False,
) -> Generator[dict[int, str], None, None]:
    """Make panes on a runner, from a number on."""

    def draw(pipeline: beam.Pipeline) -> None:
        _ = (
            pipeline
            | "First pane" >> beam.Create([number], reshuffle=False)
            | "Give panes" >> beam.ParDo(GivePanes(context))
            | "Spread panes" >> beam.Reshuffle()
            | "Make panes" >> beam.ParDo(making.MakePane(context))
        )

    split = (each.partition("=") for each in options)
    given = {name: value for name, _, value in split}
    wanted = {"--max_bundle_size": "1"}  # a pane does not wait for a bundle to be full
    if "--parallelism" in given:  # Flink keeps what it has of a deferral once for each of these
        wanted["--max_parallelism"] = given["--parallelism"]
    more = [f"{name}={value}" for name, value in wanted.items() if name not in given]
    options = [*options, "--streaming", *more]
    return making.made(draw, context, number, options, note, debug, panes, check)
