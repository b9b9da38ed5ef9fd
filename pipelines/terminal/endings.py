"""How a command ends: its exit status, and one clear message on standard error instead of a
traceback.

0 done, 1 failure, 2 wrong usage or configuration, 3 a pane is blocked; 130 and 143 stopped by
Ctrl-C and SIGTERM, as shells count them (128 and the signal's number).
"""

from __future__ import annotations

import errno
import logging
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

from evenflow.pipelines.terminal.lines import event, visible

FAILED, USAGE, BLOCKED = 1, 2, 3
AGAIN = "run the same command again to go on"

# Errors that say all there is to say. An error's module is loaded where it was raised: none is
# imported for this table.
KNOWN = (
    ("evenflow.schemas.config", "ConfigError", USAGE),
    ("evenflow.wordlists.loader", "WordListError", USAGE),
    ("evenflow.transforms.io.files", "InputError", USAGE),
    ("evenflow.gates.expectations.user_suite", "SuiteError", USAGE),
    ("evenflow.transforms.substitution.roles", "RoleMapError", USAGE),
    ("evenflow.transforms.kafka.settings", "KafkaSettingsError", USAGE),
    # Other settings than those of the ledger
    ("evenflow.pipelines.panes.epochs", "RunError", USAGE),
    ("evenflow.pipelines.files.cutting", "ChangedError", USAGE),
    ("evenflow.gates.lock", "LockedError", FAILED),
    ("evenflow.gates.ledger.files", "LedgerError", FAILED),
    ("evenflow.pipelines.files.workers", "WorkerError", FAILED),
    ("evenflow.pipelines.stream.graph", "GapError", FAILED),
    ("evenflow.transforms.kafka.errors", "KafkaSourceError", FAILED),
    # Before what it is a kind of
    ("evenflow.transforms.llm.client.settings", "ServerSettingsError", USAGE),
    ("evenflow.transforms.llm.client.settings", "InferenceError", FAILED),
    ("evenflow.transforms.llm.client.cache", "CacheError", FAILED),
    ("evenflow.transforms.models.files", "ModelError", FAILED),
)
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)
NO_FOLDER = (errno.ENOTDIR, errno.EEXIST)


class Stopped(BaseException):
    """A signal asked this process to stop; no error, so that nobody takes it for one and goes on."""


@dataclass
class Session:
    """What the end of a command depends on.

    output: the directory it writes to. resumable: begun again, the command goes on. signal: the one
    that asked to stop.
    """

    debug: bool = False
    json_lines: bool = False
    output: Path | None = None
    resumable: bool = False
    signal: int | None = None

    def go_on(self) -> None:
        """Raises Stopped where a signal came and what it raised was lost: some libraries swallow
        whatever is raised in them.
        """
        if self.signal is not None:
            raise Stopped


@contextmanager
def stoppable(session: Session) -> Iterator[None]:
    """Within the block SIGINT and SIGTERM raise Stopped, and end worker processes at once; a second
    one ends this process.

    What comes out may be another error: Beam wraps whatever is raised while it runs. The session's
    signal tells.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        session.signal = number
        for child in multiprocessing.active_children():
            child.terminate()
        raise Stopped

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Within the block SIGINT and SIGTERM wait for its end: for steps of milliseconds that belong
    together.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are handled in the main thread alone
        return
    waiting: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, lambda number, frame: waiting.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in waiting[:1]:
            signal.raise_signal(number)


class _Logs(logging.Handler):
    """What libraries log, in the form of this command's messages."""

    def __init__(self, session: Session):
        super().__init__(logging.WARNING if session.debug else logging.ERROR)
        self._session = session

    def emit(self, record: logging.LogRecord) -> None:
        # Beam logs what was raised within it, and then raises it: that is said once, at the end.
        if self._session.debug or not record.name.startswith("apache_beam"):
            report_event("log", record.getMessage(), 0, self._session)


def logs(session: Session) -> None:
    """Errors that libraries log are said as messages, in JSON lines too; their warnings with
    --debug alone.
    """
    logging.basicConfig(handlers=[_Logs(session)], level=logging.WARNING, force=True)
    logging.captureWarnings(True)


def stopped(number: int, session: Session) -> NoReturn:
    """Say so and end at once: threads of the graph need not be waited for, the ledger knows what
    was done.
    """
    message = f"stopped; {AGAIN}" if session.resumable else "stopped"
    report_event("stopped", message, 128 + number, session)
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(128 + number)


def failed(error: Exception, session: Session) -> int:
    """Say what went wrong; the exit status."""
    message, status = explained(error, session)
    if session.debug:
        traceback.print_exception(error)
    report_event("error", message, status, session)
    return status


def explained(error: Exception, session: Session) -> tuple[str, int]:
    """What went wrong, where and what to do; and the exit status."""
    for module, name, status in KNOWN:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(error, kind):
            # A file that is there but cannot be opened is no wrong usage.
            return str(error), (
                FAILED if isinstance(error.__cause__, OSError) and name == "InputError" else status
            )
    if isinstance(error, OSError):
        return _system(error, session), FAILED
    if isinstance(error, MemoryError):
        return "out of memory; give fewer --workers, or smaller panes with --pane-mib", FAILED
    if (
        isinstance(error, ModuleNotFoundError)
        and error.name
        and not error.name.startswith("evenflow")
    ):
        return (
            f"the Python package {error.name!r} is missing; install it, or reinstall evenflow",
            FAILED,
        )
    frame = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" ({Path(frame[0].filename).name}, line {frame[0].lineno})" if frame else ""
    hint = "" if session.debug else "; --debug shows the traceback"
    return f"unexpected error: {type(error).__name__}: {error}{place}{hint}", FAILED


def _system(error: OSError, session: Session) -> str:
    """An error of the system with the path it is about and what to do."""
    reason = os.strerror(error.errno) if error.errno else str(error)  # Arrow's own words hide it
    path = error.filename or (session.output if error.errno in (*FULL, *FORBIDDEN, None) else None)
    said = (
        f"{os.fsdecode(path)}: {reason}" if isinstance(path, str | bytes | os.PathLike) else reason
    )
    if error.errno in FULL:
        return f"{said}; make room{f', then {AGAIN}' if session.resumable else ''}"
    if session.output is not None and _is_below(path, session.output):
        if error.errno in FORBIDDEN:
            return f"{said}; give an --output that you may write to"
        if error.errno in NO_FOLDER:
            return f"{said}; a file stands where a directory is needed: give another --output"
    return said


def _is_below(path: object, output: Path) -> bool:
    """Whether a path is the output directory, below it, or a folder that would hold it."""
    if not isinstance(path, str | os.PathLike):
        return False
    one, other = Path(path).absolute(), output.absolute()
    return one == other or other in one.parents or one in other.parents


def report_event(kind: str, message: str, status: int, session: Session) -> None:
    """Say something on standard error, as lines of text or as one JSON line."""
    with suppress(OSError):  # standard error may be gone
        if session.json_lines:
            print(event(kind, {"message": message, "status": status}), file=sys.stderr, flush=True)
        else:
            for line in message.splitlines():
                print(f"evenflow: {visible(line)}", file=sys.stderr, flush=True)


@contextmanager
def printing() -> Iterator[None]:
    """What is printed on standard output within; a reader who has seen enough ends the block, not
    the command.

    Raises OSError where standard output cannot be written to.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        if error.filename is None:
            raise OSError(error.errno, error.strerror, "standard output") from error
        raise
