"""Reads a topic on this machine without a runner: in a thread of this process, or in processes.

Beam's own in-process runners fire no windows of unbounded sources. None are needed here: a reader
tells the committer by files what it has staged (see `marks`).
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from multiprocessing.connection import Connection

from evenflow.pipelines.engine.files import forks
from evenflow.pipelines.engine.files.making import GraphContext
from evenflow.pipelines.engine.files.workers import begin
from evenflow.pipelines.engine.runners import WorkerError
from evenflow.pipelines.engine.runners.quiet import quiet
from evenflow.pipelines.engine.stream.reader import Reads, TopicReader

END_SECONDS = 2.0  # for a process to see that the run is over; then it is killed


@contextlib.contextmanager
def reading(
    reads: Reads, context: GraphContext, workers: int, note: Callable[[str], None]
) -> Generator[Callable[[], bool]]:
    """Read the topic during the with-block."""
    if workers == 1:
        future: Future[None] = Future()
        threading.Thread(target=_settle, args=(future, reads, context), daemon=True).start()
        yield lambda: future.done() and future.result() is None
        return
    readers = [_Process(reads, context, note) for _ in range(workers)]
    try:
        yield lambda: min(each.has_ended() for each in readers)  # asks each, unlike all()
    finally:
        for each in readers:
            each.close()


def _read(reads: Reads, context: GraphContext) -> None:
    """Read until the run is over."""
    TopicReader(reads, context.worker().annotator).read()


def _settle(future: Future[None], reads: Reads, context: GraphContext) -> None:
    """Read, and keep how it ended."""
    try:
        future.set_result(_read(reads, context))
    except BaseException as error:
        future.set_exception(error)


class _Process:
    """A reader in a process of its own, which sends what a user should know and what it raised."""

    def __init__(self, reads: Reads, context: GraphContext, note: Callable[[str], None]):
        made = forks.context()
        self._said, tells = made.Pipe(duplex=False)
        self._note = note
        self._process = made.Process(
            target=_work, args=(reads, context, tells, dict(os.environ)), daemon=True
        )
        self._process.start()
        tells.close()

    def has_ended(self) -> bool:
        """Whether it has ended. Raises what it raised, or WorkerError."""
        code = self._process.exitcode  # before the look at what it said
        with contextlib.suppress(EOFError):
            while self._said.poll():
                said = self._said.recv()
                if isinstance(said, BaseException):
                    raise said
                self._note(said)
        if code:
            raise WorkerError(
                "a worker process died while it read the topic (killed, or out of memory?); nothing"
                " is lost: run the same command again to go on, with fewer --workers if memory was"
                " short"
            )
        return code is not None

    def close(self) -> None:
        """End it."""
        self._process.join(END_SECONDS)
        self._process.kill()
        self._process.join()
        self._said.close()


def _work(reads: Reads, context: GraphContext, tells: Connection, env: dict[str, str]) -> None:
    """The process: read, and send the error that ends it."""
    begin(env)
    with quiet(tells.send):
        try:
            _read(reads, context)
        except Exception as error:
            tells.send(error)
