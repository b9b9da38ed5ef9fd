"""Runs the graph of a stream on one of Beam's runners beside the driver, and says in clear words
why it ended.

What Beam, its runner and kafka-python log and print of a failure is held back: tracebacks of each
of their threads, several times over. The failure is raised to the driver once.
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

from evenflow.pipelines.stream.servers import Prism, RunnerError, worker_pool
from evenflow.transforms.kafka import errors
from evenflow.transforms.kafka.errors import KafkaSourceError, TopicMissingError

# Beam gives the stream that tells the state of a job on Prism the time that an answer may take, 300
# s by default: every run would end then. Ten years, in seconds, are for ever; Prism is started
# here, so that nobody waits as long for one that is away.
ANSWER_SECONDS = 10 * 365 * 86_400
CANCEL_SECONDS = 5.0  # that the runner has to stop before it is left behind
# Between two warnings of the source that are passed on: it tries each second while no broker
# answers
NOTE_SECONDS = 30.0
AGAIN = "run the same command again to go on"
# Beam hands on what a worker raised as the text of its traceback; its last lines are the class and
# the message.
_RAISED = re.compile(r"evenflow\.transforms\.kafka\.errors\.(\w+Error): (.*)")

Draw = Callable[[beam.Pipeline], None]


@contextlib.contextmanager
def in_process(draw: Draw, failure: Callable[[], Exception | None]) -> Iterator[Callable[[], bool]]:
    """Run the graph to its end before the block, in this process. As `on_runner` otherwise."""
    pipeline = beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions([]))
    draw(pipeline)
    try:
        pipeline.run().wait_until_finish()
    except Exception as error:
        raise failure() or explained(error) from error
    yield lambda: True


@contextlib.contextmanager
def on_runner(
    draw: Draw, options: list[str], failure: Callable[[], Exception | None]
) -> Iterator[Callable[[], bool]]:
    """Run the graph beside the block: gives a function that says whether it has ended, and raises
    what failed.

    draw: puts the graph into a pipeline. options: Beam's. failure: what a worker in this process
    noted of its failure.
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
        with _beside(draw, given, prism, failure) as state:
            yield state


@contextlib.contextmanager
def _beside(
    draw: Draw, given: PipelineOptions, prism: Prism | None, failure: Callable[[], Exception | None]
) -> Iterator[Callable[[], bool]]:
    """The graph on its runner, whose servers are ready."""
    pipeline = beam.Pipeline(runner=prism, options=given)
    draw(pipeline)
    result: Any = None
    failed: list[BaseException] = []

    def wait() -> None:
        try:
            result.wait_until_finish()
        except Exception as error:
            failed.append(error)

    def state() -> bool:
        if waiting.is_alive():
            return False
        if failed or result.state not in (PipelineState.DONE, PipelineState.CANCELLED):
            cause = failed[0] if failed else None
            raise failure() or explained(cause or RunnerError(str(result.state))) from cause
        return True

    waiting = threading.Thread(target=wait, daemon=True)
    try:
        try:
            result = pipeline.run()
        except grpc.FutureTimeoutError as error:
            raise RunnerError(
                f"no job server answers at {given.view_as(PortableOptions).job_endpoint}: start it"
            ) from error
        except RunnerError:
            raise
        except Exception as error:
            raise RunnerError(f"the runner did not start: {_last_line(error)}") from error
        waiting.start()
        yield state
    finally:
        if waiting.is_alive():
            threading.Thread(target=_cancel, args=(result,), daemon=True).start()
            waiting.join(CANCEL_SECONDS)
        if prism is not None and prism.server is not None:
            prism.server.stop()


def _cancel(result: Any) -> None:
    """Ask a runner to stop; in a thread of its own, since one that does not answer is waited for
    without an end.
    """
    with contextlib.suppress(Exception):  # it is left behind either way
        result.cancel()


def explained(error: BaseException) -> Exception:
    """What failed, from what the runner says of it."""
    if isinstance(error, grpc.RpcError):
        return RunnerError(
            "the runner ended, or cannot be reached any more: was it killed, or out of memory?"
            f" {AGAIN.capitalize()}"
        )
    raised = _RAISED.findall(str(error))
    if not raised:
        return RunnerError(f"reading failed: {_last_line(error)}; {AGAIN}")
    name, message = raised[-1]
    message = re.sub(r" \[while running .*|\\n.*", "", message).rstrip()
    kind = getattr(errors, name, KafkaSourceError)
    if kind is TopicMissingError and "deleted" not in message:
        message = f"{message.partition(': ')[0]} any more: it was deleted while it was read"
    return (
        kind(message)
        if isinstance(kind, type) and issubclass(kind, KafkaSourceError)
        else KafkaSourceError(message)
    )


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip(" )>")]
    return lines[-1] if lines else type(error).__name__


class _Warnings(logging.Handler):
    """Passes warnings of the source on, at most one in NOTE_SECONDS."""

    def __init__(self, note: Callable[[str], None]):
        super().__init__(logging.WARNING)
        self._note, self._at = note, -NOTE_SECONDS

    def emit(self, record: logging.LogRecord) -> None:
        if time.monotonic() - self._at >= NOTE_SECONDS:
            self._at = time.monotonic()
            self._note(" ".join(record.getMessage().split()))


def _is_own(record: logging.LogRecord) -> bool:
    return record.name.startswith("evenflow")


@contextlib.contextmanager
def quiet(note: Callable[[str], None]) -> Iterator[None]:
    """Within the block libraries log and print nothing; warnings of the source are given to `note`.

    Behind an error kafka-python stays silent: a broken-off pipeline's threads live on for seconds,
    and would speak after it.
    """
    handlers = list(logging.getLogger().handlers)
    warnings, own = _Warnings(note), logging.getLogger("evenflow.transforms")
    kafka, hook = logging.getLogger("kafka"), threading.excepthook
    level = kafka.level

    def on_thread(arguments: threading.ExceptHookArgs) -> None:
        # The runner's connections, when it ends
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
