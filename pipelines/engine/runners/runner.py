"""Runs a graph on one of Beam's runners, beside the driver, and explains failures.

A job that is lost with its job server is submitted again.
"""

from __future__ import annotations

import contextlib
import math
import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import apache_beam as beam
import grpc
from apache_beam.options.pipeline_options import PipelineOptions, PortableOptions
from apache_beam.runners.runner import PipelineState
from apache_beam.runners.worker import sdk_worker

from evenflow.pipelines.engine.runners import RunnerError
from evenflow.pipelines.engine.runners.worker_pool import worker_pool

CANCEL_SECONDS = 5.0  # for the runner to stop; then it is abandoned
AGAIN = "run the same command again to go on"
# Of a job that was lost: between two submissions, the first time and at most
AGAIN_SECONDS, MOST_AGAIN_SECONDS = 1.0, 30.0
AWAY_SECONDS = 900.0  # without a job that is sound; then the driver gives up
SOUND_SECONDS = 120.0  # Flink's job server sees after 60 s that the JobManager has gone
# Of a job that its server hands on, as in Flink's application mode, it says UNSPECIFIED from then
# on. Beam's Python SDK does not know this word
PipelineState.UNSPECIFIED = PipelineState.UNKNOWN  # type: ignore[attr-defined]

Draw = Callable[[beam.Pipeline], None]
Explain = Callable[[BaseException], Exception]  # what the runner raised, as an error for people


@contextlib.contextmanager
def on_runner(
    draw: Draw,
    options: list[str],
    explain: Explain,
    note: Callable[[str], None] = lambda text: None,
) -> Iterator[Callable[[], bool]]:
    """Run the graph on a runner during the with-block.

    A job that is lost with its job server or its cluster's manager is submitted again, until none
    has been taken for AWAY_SECONDS. A job may run beside the one that took its place. So what the
    graph does must be right when it is done twice.
    """
    given = PipelineOptions(options)
    with contextlib.ExitStack() as servers:
        place = given.view_as(PortableOptions)
        if place.environment_type == "LOOPBACK":
            place.environment_type = "EXTERNAL"
            place.environment_config = servers.enter_context(worker_pool(given))
        with _Job(draw, given, explain, note).running() as state:
            yield state


class _Job:
    """The graph on a runner whose servers are ready."""

    def __init__(
        self, draw: Draw, given: PipelineOptions, explain: Explain, note: Callable[[str], None]
    ):
        self._draw, self._given = draw, given
        self._explain, self._note = explain, note
        self._result: Any = None
        self._failed: BaseException | None = None
        self._over = threading.Event()
        self._waiting = threading.Thread(target=self._wait, daemon=True)

    def _submit(self) -> Any:
        pipeline = beam.Pipeline(options=self._given)
        self._draw(pipeline)
        self._result = pipeline.run()
        return self._result

    def _wait(self) -> None:
        """Wait for the job's end, and submit it again where it was lost."""
        seen, pause = time.monotonic(), AGAIN_SECONDS
        while not self._over.is_set():
            began = math.inf
            try:
                result = self._result or self._submit()
                began = time.monotonic()
                result.wait_until_finish()
                if result.state not in (PipelineState.DONE, PipelineState.CANCELLED):
                    raise RuntimeError(str(result.state))
                return
            except Exception as error:
                now = time.monotonic()
                if now - began > SOUND_SECONDS:
                    seen, pause = now, AGAIN_SECONDS
                if not self._is_lost(error) or now - seen > AWAY_SECONDS:
                    self._failed = error
                    return
                self._note(f"{explained(error, 'the job is submitted again')}")
                self._result = None
                self._over.wait(pause)
                pause = min(2 * pause, MOST_AGAIN_SECONDS)

    def _is_lost(self, error: Exception) -> bool:
        """Whether the runner is away or has ended, rather than a step of the graph failed."""
        if isinstance(error, (grpc.RpcError, grpc.FutureTimeoutError)):
            return True
        # A runner passes on what a step raised as the text of its traceback
        known = isinstance(error, RuntimeError) and "Traceback" not in str(error)
        return known and isinstance(self._explain(error), RunnerError)

    def _state(self) -> bool:
        """Return whether the graph has ended. Raises what explains a failure."""
        if self._waiting.is_alive():
            return False
        if self._failed is not None:
            raise self._explain(self._failed) from self._failed
        return True

    @contextlib.contextmanager
    def running(self) -> Iterator[Callable[[], bool]]:
        """Run the graph during the with-block; see on_runner."""
        try:
            try:
                self._submit()
            except grpc.FutureTimeoutError as error:
                raise RunnerError(
                    f"no job server answers at {self._given.view_as(PortableOptions).job_endpoint}:"
                    " start it"
                ) from error
            except Exception as error:
                started = RunnerError(f"the runner did not start: {_last_line(error)}")
                raise self._explain(started) from error
            self._waiting.start()
            yield self._state
        finally:
            self._over.set()
            if self._waiting.is_alive() and self._result is not None:
                threading.Thread(target=_cancel, args=(self._result,), daemon=True).start()
                self._waiting.join(CANCEL_SECONDS)


def _cancel(result: Any) -> None:
    """Ask a runner to stop; called in a thread of its own, since an answer may never come."""
    with contextlib.suppress(Exception):  # it is abandoned either way
        result.cancel()


def explained(error: BaseException, then: str = AGAIN) -> RunnerError:
    """Translate what the runner raised."""
    if isinstance(error, RunnerError):
        return error
    if isinstance(error, (grpc.RpcError, grpc.FutureTimeoutError)):
        return RunnerError(
            "the runner ended, or cannot be reached any more: was it killed, or out of memory?"
            f" {then.capitalize()}"
        )
    return RunnerError(f"reading failed: {_last_line(error)}; {then}")


def _last_line(error: BaseException) -> str:
    """The last line of an error's message that has words."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" )>")]
    return re.sub(r" \[while running .*|\\n.*", "", lines[-1]) if lines else type(error).__name__


@contextlib.contextmanager
def silent_workers() -> Iterator[None]:
    """Keep Beam's workers from printing what they raise during the with-block."""
    sdk_worker.print = lambda *arguments, **options: None  # type: ignore[attr-defined]
    try:
        yield
    finally:
        del sdk_worker.print  # type: ignore[attr-defined]
