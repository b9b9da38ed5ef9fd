"""Calls functions in this process or in several, and makes the panes of files so, in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from evenflow.pipelines.engine.files import forks
from evenflow.pipelines.engine.files.cutting import Pane
from evenflow.pipelines.engine.files.making import GraphContext, make_pane
from evenflow.pipelines.engine.runners import WorkerError

AHEAD = 3  # panes a worker that are being made or wait to be committed
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


def pool(workers: int) -> Executor:
    """Start what calls functions.

    Beam's own runner has processes too. It was tried: a run had not ended 100 s after one of them
    was killed, and the panes of a whole run would have to be cut before the first is made.
    """
    if workers == 1:
        return _Here()
    return ProcessPoolExecutor(
        workers, forks.context(), initializer=begin, initargs=(dict(os.environ),)
    )


@contextmanager
def _no_death(pane: int) -> Iterator[None]:
    """Say what it means that a worker's process has died."""
    try:
        yield
    except BrokenProcessPool as error:
        raise WorkerError(
            f"a worker process died while it worked on pane {pane} (killed, or out of memory?);"
            " nothing is lost: run the same command again to go on, with fewer --workers if memory"
            " was short"
        ) from error


def submit(
    executor: Executor,
    pane: int,
    function: Callable[Given, Result],
    *args: Given.args,
    **kwargs: Given.kwargs,
) -> Future[Result]:
    """Have a worker do something with a pane."""
    with _no_death(pane):
        return executor.submit(function, *args, **kwargs)


def result(pane: int, future: Future[Result]) -> Result:
    """Wait for what a worker does with a pane."""
    with _no_death(pane):
        return future.result()


def made(
    panes: Iterator[Pane | None], context: GraphContext, executor: Executor, workers: int
) -> Generator[int, None, None]:
    """Make panes."""
    pending: deque[tuple[int, Future[None]]] = deque()

    def first() -> int:
        number, future = pending.popleft()
        result(number, future)
        return number

    try:
        for pane in panes:
            if pane is not None:
                future = submit(executor, pane.number, make_pane, pane, context)
                pending.append((pane.number, future))
            most = 0 if pane is None else AHEAD * workers
            while pending and (len(pending) > most or pending[0][1].done()):
                yield first()
        while pending:
            yield first()
    finally:
        for _, future in pending:
            future.cancel()


def begin(environment: dict[str, str]) -> None:
    """Prepare a worker process.

    It ends as soon as its parent ends, so that a killed run stops writing. Ctrl-C is for the parent
    to handle. The fork server may have begun before the parent's environment was set.
    """
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
