"""Runs the graph over chunks of panes, in this process or in several, and returns them in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from evenflow.pipelines.files import forks
from evenflow.pipelines.files.cutting import Pane
from evenflow.pipelines.files.graph import GraphContext, run_graph
from evenflow.pipelines.runners.errors import WorkerError

# Input that one run of the graph takes. It is large enough to make the cost of a run (0.1 to 0.3 s)
# small. It is small enough for verdicts to appear soon and for several workers to share the work.
CHUNK_BYTES = 256 << 20
CHUNK_BYTES_SHARED = 64 << 20
CHUNK_PANES = 64
AHEAD = 3  # chunks a worker that are being read or wait to be committed


def chunks(panes: Iterator[Pane], most: int) -> Iterator[list[Pane]]:
    """Gather panes into chunks; a pane larger than `most` is alone.

    Args:
        panes: The panes in order.
        most: Bytes of records that a chunk may have.

    Yields:
        Chunks of at most CHUNK_PANES panes.
    """
    chunk: list[Pane] = []
    for pane in panes:
        if chunk and (
            len(chunk) == CHUNK_PANES or sum(each.size for each in chunk) + pane.size > most
        ):
            yield chunk
            chunk = []
        chunk.append(pane)
    if chunk:
        yield chunk


def staged(
    panes: Iterator[Pane], context: GraphContext, workers: int
) -> Generator[tuple[list[Pane], dict[str, float]], None, None]:
    """Stage panes, chunk by chunk.

    Args:
        panes: The panes in order.
        context: What the graph needs.
        workers: Number of processes; 1: this one.

    Yields:
        Each chunk in order, when all of its panes are ready in staged/, with its seconds by stage.

    Raises:
        WorkerError: A worker process died.
        OSError: As run_graph, which may raise other errors of its steps.
    """
    if workers == 1:
        for chunk in chunks(panes, CHUNK_BYTES):
            yield chunk, run_graph(chunk, context)
        return
    pool = ProcessPoolExecutor(workers, mp_context=forks.context(), initializer=_die_with_parent)
    pending: deque[tuple[list[Pane], Future[dict[str, float]]]] = deque()
    try:
        for chunk in chunks(panes, CHUNK_BYTES_SHARED):
            pending.append((chunk, pool.submit(run_graph, chunk, context)))
            # What is staged ahead stays bounded, but while this process loads the checks, for
            # seconds, the workers go on.
            if len(pending) > AHEAD * workers:
                yield _finished(*pending.popleft())
        while pending:
            yield _finished(*pending.popleft())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _finished(
    chunk: list[Pane], future: Future[dict[str, float]]
) -> tuple[list[Pane], dict[str, float]]:
    """A chunk with its seconds by stage, once it is staged. Raises what the worker raised."""
    try:
        return chunk, future.result()
    except BrokenProcessPool as error:
        raise WorkerError(
            f"a worker process died while it read pane {chunk[0].number} (killed, or out of"
            " memory?); nothing is lost: run the same command again to go on, with fewer --workers"
            " if memory was short"
        ) from error


def _die_with_parent() -> None:
    """End this process as soon as its parent ends, so that a killed run stops writing.

    Ctrl-C is for the parent to handle.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
