"""Has the workers of a runner make panes, and gives them in order.

The driver tells the workers how far it is in staged/RUN/state.json. A runner may try a pane again
after a failure, and a job that was lost is submitted again. So what is made or committed is left
out, and nothing is made for a driver that has ended.
"""

from __future__ import annotations

import contextlib
import math
import re
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

import apache_beam as beam
import orjson

from evenflow.pipelines.engine.make import BEGUN, GraphContext, Work, make_pane
from evenflow.pipelines.engine.panes.epochs import RunError
from evenflow.pipelines.engine.runners import RunnerError, runner
from evenflow.pipelines.engine.runners.quiet import quiet
from evenflow.schemas.ledger import FORMAT
from evenflow.transforms.kafka import errors
from evenflow.transforms.kafka.errors import KafkaSourceError, TopicMissingError

LOOK_SECONDS = 0.2  # between two looks for the next pane
TELL_SECONDS = 1.0  # between two reports of the driver to the workers
WAIT_SECONDS = 2.0  # between two looks of a worker that is to wait
MOST_WAITING = 256  # panes that may wait to be committed before the workers are to wait
UNSEEN = re.compile("FileNotFoundError|PermissionError")
# For the first worker to begin: a runner waits for one that died as it started for ever
BEGIN_SECONDS = 900.0
STATE = "state.json"  # in staged/RUN/: what the driver says to the workers
# Beam passes on a worker's error as the text of its traceback, which ends with class and message
_RAISED = re.compile(r"evenflow\.transforms\.kafka\.errors\.(\w+Error): (.*)")


class MakePane(beam.DoFn):
    """Step pane -> nothing; the pane is in staged/ then, ready to be committed."""

    def __init__(self, context: GraphContext):
        self._context = context

    def process(self, element: Work) -> None:
        """Make a pane."""
        staging = self._context.staging
        with self._context.noting_failure():
            while (state := read_state(self._context)) is not None and state["wait"]:
                time.sleep(WAIT_SECONDS)
            if state is None or element.number < state["next"]:
                return
            if not staging.found(element.number, 1):
                make_pane(element, self._context)


def read_state(context: GraphContext) -> dict[str, Any] | None:
    """Read what the driver says: next pane to commit, whether to wait; None: it ended."""
    try:
        found = orjson.loads(context.staging.output.read(context.staging.name(STATE)))
    except FileNotFoundError:
        return None
    if (seen := found.get("format")) != FORMAT:
        raise RunError(
            f"the driver's staged data have format {seen}, those of this worker {FORMAT}; start the"
            " workers with the driver's version of Evenflow"
        )
    return found


def made(
    draw: runner.Draw,
    context: GraphContext,
    number: int,
    options: list[str],
    note: Callable[[str], None],
    debug: bool,
    panes: Iterator[Work | float] | None = None,
    check: Callable[[], None] = lambda: None,
) -> Generator[dict[int, str], None, None]:
    """Make panes on a runner.

    Args:
        draw: Draws the graph.
        number: The first pane that is not committed.
        panes: Panes as the driver cuts them, and pauses; None: the graph cuts them.
        check: Makes sure that this run still writes to the output, once the graph has ended.
    """

    def explain(error: BaseException) -> Exception:
        found = context.failure() or explained(error)
        if isinstance(found, RunnerError) and UNSEEN.search(str(found)):
            return RunnerError(f"{found} (each worker must reach the input and the output)")
        return found

    staging = context.staging
    driver = _Driver(context, number)
    cut = None if panes is None else number
    try:
        with contextlib.ExitStack() as beside:
            if not debug:
                beside.enter_context(quiet(lambda text: None))
                beside.enter_context(runner.silent_workers())
            has_ended = beside.enter_context(runner.on_runner(draw, options, explain, note))
            limit = time.monotonic() + BEGIN_SECONDS
            while True:
                if time.monotonic() > limit:
                    if not staging.output.exists(staging.name(BEGUN)):
                        raise RunnerError(
                            f"no worker began within {BEGIN_SECONDS:.0f} s of the job's submission:"
                            f" do they start? Their own logs say why not; {runner.AGAIN}"
                        )
                    limit = math.inf
                ended = has_ended()  # before the look: what it has made by then is found
                pause = LOOK_SECONDS
                if panes is not None and cut is not None and cut - number < MOST_WAITING:
                    pane = next(panes, None)
                    if pane is None:
                        panes = None
                    elif isinstance(pane, (int, float)):
                        pause = min(pause, pane)
                    else:
                        cut, pause = pane.number + 1, 0.0
                while found := staging.found(number):
                    number += len(found)
                    yield found
                    driver.tell(number)
                driver.tell(number, is_next_there=False)
                if cut is not None and panes is None and number >= cut:
                    return
                if ended:
                    check()
                    if cut is None:
                        return
                    raise RunnerError(f"the runner ended before pane {number}; {runner.AGAIN}")
                time.sleep(pause)
    finally:
        staging.output.remove([staging.name(STATE)])  # workers of a job that goes on do nothing


def explained(error: BaseException) -> Exception:
    """Translate what the runner raised, and of a worker's text the failure of a topic."""
    raised = _RAISED.findall(str(error))
    if not raised:
        return runner.explained(error)
    name, message = raised[-1]
    message = re.sub(r" \[while running .*|\\n.*", "", message).rstrip()
    kind = getattr(errors, name, KafkaSourceError)
    if kind is TopicMissingError and "deleted" not in message:
        message = f"{message.partition(': ')[0]} any more: it was deleted while it was read"
    is_known = isinstance(kind, type) and issubclass(kind, KafkaSourceError)
    return kind(message) if is_known else KafkaSourceError(message)


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
