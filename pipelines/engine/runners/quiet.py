"""Keeps libraries from logging and printing beside the driver.

Of a failure, Beam, its runner and kafka-python log and print the tracebacks of each of their
threads, several times over. That is held back. The failure is raised to the driver once.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator

# Between two warnings of the source that are passed on; it warns each second without a broker
NOTE_SECONDS = 30.0


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
    try:
        yield
    except BaseException:
        level = logging.CRITICAL
        raise
    finally:
        threading.excepthook = hook
        kafka.setLevel(level)
        own.removeHandler(warnings)
        for handler in handlers:
            handler.removeFilter(_is_own)
