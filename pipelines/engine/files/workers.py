"""Makes panes in this process or in several, and gives them in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from evenflow.pipelines.engine.files import forks
from evenflow.pipelines.engine.files.cutting import Pane
from evenflow.pipelines.engine.files.making import GraphContext, make_pane
from evenflow.pipelines.engine.runners.errors import WorkerError

AHEAD = 3  # panes a worker that are being made or wait to be committed


def made(
    panes: Iterator[Pane | None], context: GraphContext, workers: int
) -> Generator[int, None, None]:
    """Make panes.

    Beam's own runner has processes too. It was tried: a run had not ended 100 s after one of them
    was killed, and the panes of a whole run would have to be cut before the first is made.

    Args:
        panes: The panes in order; None where all that were asked for are to be there first.
        context: What their making needs.
        workers: Number of processes; 1: this one.

    Yields:
        The number of each pane, in order, when it is in staged/.

    Raises:
        WorkerError: A worker process died.
        OSError: As make_pane, which may raise other errors too.
    """
    if workers == 1:
        for pane in panes:
            if pane is not None:
                make_pane(pane, context)
                yield pane.number
        return
    pool = ProcessPoolExecutor(
        workers, forks.context(), initializer=begin, initargs=(dict(os.environ),)
    )
    pending: deque[tuple[int, Future[None]]] = deque()
    try:
        for pane in panes:
            if pane is not None:
                pending.append((pane.number, pool.submit(make_pane, pane, context)))
            most = 0 if pane is None else AHEAD * workers
            while pending and (len(pending) > most or pending[0][1].done()):
                yield _finished(*pending.popleft())
        while pending:
            yield _finished(*pending.popleft())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _finished(pane: int, future: Future[None]) -> int:
    """A pane's number, once it is made. Raises what the worker raised."""
    try:
        future.result()
        return pane
    except BrokenProcessPool as error:
        raise WorkerError(
            f"a worker process died while it read pane {pane} (killed, or out of memory?);"
            " nothing is lost: run the same command again to go on, with fewer --workers if memory"
            " was short"
        ) from error


def begin(environment: dict[str, str]) -> None:
    """Prepare a worker process.

    It ends as soon as its parent ends, so that a killed run stops writing. Ctrl-C is for the parent
    to handle. The fork server may have begun before the parent's environment was set.

    Args:
        environment: The parent's environment.
    """
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
