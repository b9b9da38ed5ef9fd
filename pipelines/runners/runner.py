"""Runs a graph on one of Beam's runners, beside the driver, and explains failures.

Of a failure, Beam, its runner and kafka-python log and print the tracebacks of each of their
threads, several times over. That is held back. The failure is raised to the driver once.
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import apache_beam as beam
import grpc
from apache_beam.options.pipeline_options import PipelineOptions, PortableOptions
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.runners.runner import PipelineState
from apache_beam.runners.worker import sdk_worker

from evenflow.pipelines.runners.errors import RunnerError
from evenflow.pipelines.runners.servers import Prism, worker_pool

# Beam ends the stream of a job's states after the timeout of the job server, 300 s by default.
# Every run on Prism would end then. Ten years are long enough. Nobody waits that long for a Prism
# that is away, since Prism is started here.
ANSWER_SECONDS = 10 * 365 * 86_400
CANCEL_SECONDS = 5.0  # for the runner to stop; then it is abandoned
# Between two warnings of the source that are passed on; it warns each second without a broker
NOTE_SECONDS = 30.0
AGAIN = "run the same command again to go on"

Draw = Callable[[beam.Pipeline], None]
Explain = Callable[[BaseException], Exception]  # what the runner raised, as an error for people


def in_process(
    draw: Draw, explain: Explain
) -> contextlib.AbstractContextManager[Callable[[], bool]]:
    """Run the graph in this process during the with-block, in a thread of its own.

    Args:
        draw: Adds the graph to a pipeline.
        explain: Explains what the runner raised.

    Returns:
        The context manager; see on_runner.
    """
    return _beside(draw, PipelineOptions([]), FnApiRunner(), explain)


@contextlib.contextmanager
def on_runner(draw: Draw, options: list[str], explain: Explain) -> Iterator[Callable[[], bool]]:
    """Run the graph on a runner during the with-block.

    Args:
        draw: Adds the graph to a pipeline.
        options: Beam's options.
        explain: Explains what the runner raised.

    Yields:
        A function that returns whether the graph has ended, and raises what `explain` makes of a
        failure.

    Raises:
        RunnerError: The runner does not start.
    """
    prism = Prism() if "--runner=PrismRunner" in options else None
    if prism is not None:
        options = [*options, f"--job_server_timeout={ANSWER_SECONDS}"]
    given = PipelineOptions(options)
    with contextlib.ExitStack() as servers:
        place = given.view_as(PortableOptions)
        if place.environment_type == "LOOPBACK" or (
            place.environment_type is None and prism is not None
        ):
            place.environment_type = "EXTERNAL"
            place.environment_config = servers.enter_context(worker_pool(given))
        with _beside(draw, given, prism, explain) as state:
            yield state


@contextlib.contextmanager
def _beside(
    draw: Draw, given: PipelineOptions, runner: Any, explain: Explain
) -> Iterator[Callable[[], bool]]:
    """Run the graph on a runner whose servers are ready, during the with-block."""
    pipeline = beam.Pipeline(runner=runner, options=given)
    draw(pipeline)
    results: list[Any] = []
    failed: list[BaseException] = []

    def wait() -> None:
        try:
            if not results:
                results.append(pipeline.run())
            results[0].wait_until_finish()
        except Exception as error:
            failed.append(error)

    def state() -> bool:
        if waiting.is_alive():
            return False
        if failed or results[0].state not in (PipelineState.DONE, PipelineState.CANCELLED):
            cause = failed[0] if failed else None
            raise explain(cause or RuntimeError(str(results[0].state))) from cause
        return True

    waiting = threading.Thread(target=wait, daemon=True)
    try:
        try:
            if not isinstance(runner, FnApiRunner):  # of which run() returns at the graph's end
                results.append(pipeline.run())
        except grpc.FutureTimeoutError as error:
            raise RunnerError(
                f"no job server answers at {given.view_as(PortableOptions).job_endpoint}: start it"
            ) from error
        except RunnerError:
            raise
        except Exception as error:
            started = RunnerError(f"the runner did not start: {_last_line(error)}")
            raise explain(started) from error
        waiting.start()
        yield state
    finally:
        if waiting.is_alive() and results:
            threading.Thread(target=_cancel, args=(results[0],), daemon=True).start()
            waiting.join(CANCEL_SECONDS)
        if isinstance(runner, Prism) and runner.server is not None:
            runner.server.stop()


def _cancel(result: Any) -> None:
    """Ask a runner to stop; called in a thread of its own, since an answer may never come."""
    with contextlib.suppress(Exception):  # it is abandoned either way
        result.cancel()


def explained(error: BaseException) -> RunnerError:
    """Translate what the runner raised.

    Args:
        error: What the runner raised.

    Returns:
        An error with a message for people.
    """
    if isinstance(error, RunnerError):
        return error
    if isinstance(error, grpc.RpcError):
        return RunnerError(
            "the runner ended, or cannot be reached any more: was it killed, or out of memory?"
            f" {AGAIN.capitalize()}"
        )
    return RunnerError(f"reading failed: {_last_line(error)}; {AGAIN}")


def _last_line(error: BaseException) -> str:
    """The last line of an error's message that has words."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" )>")]
    return re.sub(r" \[while running .*|\\n.*", "", lines[-1]) if lines else type(error).__name__


class _Warnings(logging.Handler):
    """Passes warnings of the source on, at most one in NOTE_SECONDS."""

    def __init__(self, note: Callable[[str], None]):
        super().__init__(logging.WARNING)
        self._note, self._at = note, -NOTE_SECONDS

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a warning on, unless another one was passed on just before."""
        if time.monotonic() - self._at >= NOTE_SECONDS:
            self._at = time.monotonic()
            self._note(" ".join(record.getMessage().split()))


def _is_own(record: logging.LogRecord) -> bool:
    """Whether this package logs it."""
    return record.name.startswith("evenflow")


@contextlib.contextmanager
def quiet(note: Callable[[str], None]) -> Iterator[None]:
    """Keep libraries from logging and printing during the with-block.

    After an error kafka-python stays silent: the threads of the pipeline live on for seconds and
    would log after the error.

    Args:
        note: Called with warnings of the source.
    """
    handlers = list(logging.getLogger().handlers)
    warnings, own = _Warnings(note), logging.getLogger("evenflow.transforms")
    kafka, hook = logging.getLogger("kafka"), threading.excepthook
    level = kafka.level

    def on_thread(arguments: threading.ExceptHookArgs) -> None:
        # The connections of a runner that ends raise in their threads
        if not arguments.exc_type.__module__.startswith("grpc"):
            hook(arguments)

    for handler in handlers:
        handler.addFilter(_is_own)
    own.addHandler(warnings)
    kafka.setLevel(logging.CRITICAL)
    threading.excepthook = on_thread
    sdk_worker.print = lambda *arguments, **options: None  # type: ignore[attr-defined]
    try:
        yield
    except BaseException:
        level = logging.CRITICAL
        raise
    finally:
        del sdk_worker.print  # type: ignore[attr-defined]
        threading.excepthook = hook
        kafka.setLevel(level)
        own.removeHandler(warnings)
        for handler in handlers:
            handler.removeFilter(_is_own)
