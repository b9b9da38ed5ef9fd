"""Makes panes in this process or in several, and gives them in order."""

from __future__ import annotations

import logging
import math
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import takewhile
from typing import ParamSpec, TypeVar

from evenflow.pipelines.engine import forks
from evenflow.pipelines.engine.make import GraphContext, Work, make_pane
from evenflow.pipelines.engine.panes.closing import TOGETHER
from evenflow.pipelines.engine.runners import WorkerError
from evenflow.pipelines.terminal.endings import undisturbed

AHEAD = 3  # panes a worker that are being made or wait to be committed
ALL = math.inf  # a pause until all panes are committed
Given = ParamSpec("Given")
Result = TypeVar("Result")


class _Here(Executor):
    """Calls a function at once, in this process."""

    def submit(
        self, fn: Callable[Given, Result], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Result]:
        future: Future[Result] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def pool(workers: int) -> Iterator[Executor]:
    """Start what calls functions, within a with-block; what is under way at its end is given up.

    Beam's own runner has processes too. It was tried: a run had not ended 100 s after one of them
    was killed, and the panes of a whole run would have to be cut before the first is made.
    """
    if workers == 1:
        yield _Here()
        return
    how = forks.context()
    executor = ProcessPoolExecutor(workers, how, initializer=begin, initargs=(dict(os.environ),))
    if how.get_start_method() == "fork":  # all at once, before this process has more threads
        with undisturbed():
            executor.submit(int)
    try:
        yield executor
    finally:
        # Only its own thread may cancel: a future that another thread cancels while a worker dies
        # ends that thread with a traceback. A shutdown forgets the processes.
        processes = list(executor._processes.values())
        executor.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


@contextmanager
def no_death(pane: int) -> Iterator[None]:
    """Say what it means that a worker's process has died."""
    try:
        yield
    except BrokenProcessPool as error:
        raise WorkerError(
            f"a worker process died while it worked on pane {pane} (killed, or out of memory?);"
            " nothing is lost: run the same command again to go on, with fewer --workers if memory"
            " was short"
        ) from error


def made(
    panes: Iterator[Work | float], context: GraphContext, executor: Executor, workers: int
) -> Generator[dict[int, str], None, None]:
    """Make panes; gives the folders of those that are there, in order, by number.

    `panes`: Panes, and pauses in seconds where none is due. During a pause panes are given that
    are ready meanwhile.
    """
    pending: deque[tuple[int, Future[None]]] = deque()

    def first() -> dict[int, str]:
        number, future = pending[0]
        with no_death(number):
            future.result()
        done = sum(1 for _ in takewhile(lambda each: each[1].done(), pending))
        found = context.staging.found(number, min(done, TOGETHER))
        for _ in found:
            pending.popleft()
        return found

    for pane in panes:
        if isinstance(pane, (int, float)):
            while pending and (pane == ALL or pending[0][1].done()):
                yield first()
            if pane == ALL:
                continue
            if pending:
                wait([pending[0][1]], pane)
            else:
                time.sleep(pane)
        else:
            with no_death(pane.number):
                future = executor.submit(make_pane, pane, context)
            pending.append((pane.number, future))
        while pending and (len(pending) > AHEAD * workers or pending[0][1].done()):
            yield first()
    while pending:
        yield first()


def begin(environment: dict[str, str]) -> None:
    """Prepare a worker process.

    It ends as soon as its parent ends, so that a killed run stops writing. Ctrl-C is for the parent
    to handle, and what libraries log would mix with its messages. The fork server may have begun
    before the parent's environment was set.
    """
    os.environ.update(environment)
    logging.getLogger().setLevel(logging.CRITICAL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if (wake := signal.set_wakeup_fd(-1)) >= 0:  # the parent's watch ends with its last copy
        os.close(wake)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
