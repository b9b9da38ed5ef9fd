"""How a command ends: its exit status, and a message on standard error instead of a traceback.

The status is 0 for done, 1 for a failure, 2 for wrong usage or configuration, 3 for a blocked pane
or no document; 130 and 143 for a stop by Ctrl-C and SIGTERM, as shells count them (128 and the
signal's number).
"""

from __future__ import annotations

import errno
import json
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn, TypeVar

from evenflow.pipelines.terminal.lines import event, visible
from evenflow.schemas.errors import FAILED, EvenflowError

if TYPE_CHECKING:
    from evenflow.transforms.storage.storage import Storage

T = TypeVar("T")

BLOCKED = 3
EMPTY = "the input has no document; --allow-empty accepts that"
AGAIN = "run the same command again to go on"
# For a stop to be in order. A store that is away would keep the last steps waiting for longer, and
# whoever asked to stop kills the process then; the ledger allows an end at any moment
STOP_SECONDS = 8.0
SIGNALS = (signal.SIGINT, signal.SIGTERM)
WATCH = "watch"  # a thread's name

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)
NO_FOLDER = (errno.ENOTDIR, errno.EEXIST)


class Stopped(BaseException):
    """A signal asked this process to stop; no Exception, so that no library catches it."""


@dataclass
class Session:
    """What the end of a command depends on.

    Attributes:
        debug: Whether tracebacks and warnings of libraries are printed.
        json_lines: Whether messages are JSON lines.
        output: What the command writes to; None for nothing.
        resumable: Whether the command continues where it stopped when it is run again.
        signal: Number of the signal that asked to stop; None without a signal.
    """

    debug: bool = False
    json_lines: bool = False
    output: Storage | None = None
    resumable: bool = False
    signal: int | None = None

    def go_on(self) -> None:
        """Stop if a signal came and a library swallowed the exception.

        Raises:
            Stopped: A signal asked to stop.
        """
        if self.signal is not None:
            raise Stopped

    def note(self, text: str) -> None:
        """Print what a user should know on standard error."""
        report_event("note", text, 0, self)


@contextmanager
def stoppable(session: Session) -> Iterator[None]:
    """Let SIGINT and SIGTERM raise Stopped within the block, and end worker processes at once.

    A second signal ends this process, and so do STOP_SECONDS in which the block does not end. Beam
    wraps whatever is raised while it runs, so another error may leave the block; the session's
    signal shows that it was a stop.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        session.signal = number
        for child in multiprocessing.active_children():
            child.terminate()
        raise Stopped

    before = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        with _in_time(session):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _in_time(session: Session) -> Iterator[None]:
    """End the process where the block goes on for STOP_SECONDS after a signal.

    A handler of Python runs between two of its instructions, so it does not run while a library in
    another language tries a request again and again. The kernel writes the signal's number at once.
    """
    asked, wake = socket.socketpair()
    wake.setblocking(False)
    over = threading.Event()

    def watch() -> None:
        number = 0
        while number not in SIGNALS:
            number = int.from_bytes(asked.recv(1))
            if not number:  # the block has ended
                return
        if not over.wait(STOP_SECONDS):
            stopped(number, session)

    watching = threading.Thread(target=watch, daemon=True, name=WATCH)
    watching.start()
    before = signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(before)
        wake.close()
        watching.join()
        asked.close()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Delay SIGINT and SIGTERM until the block ends, because its steps belong together.

    The block should take milliseconds.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are handled in the main thread alone
        return
    waiting: list[int] = []
    before = {number: signal.getsignal(number) for number in SIGNALS}
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
    """Prints what libraries log in the form of this command's messages."""

    def __init__(self, session: Session):
        super().__init__(logging.WARNING if session.debug else logging.ERROR)
        self._session = session

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        # Beam logs what was raised within it, and then raises it: it is printed once, at the end.
        if self._session.debug or not record.name.startswith("apache_beam"):
            report_event("log", record.getMessage(), 0, self._session)


def logs(session: Session) -> None:
    """Print errors that libraries log as messages, and their warnings with --debug alone.

    Args:
        session: Its debug and json_lines decide what is printed.
    """
    logging.basicConfig(handlers=[_Logs(session)], level=logging.WARNING, force=True)
    logging.captureWarnings(True)


def stopped(number: int, session: Session) -> NoReturn:
    """Print that the command was stopped, and end the process at once.

    It does not wait for threads of the graph, because the ledger records what was done.

    Args:
        session: Says whether the command can continue when it is run again.
    """
    message = f"stopped; {AGAIN}" if session.resumable else "stopped"
    report_event("stopped", message, 128 + number, session)
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(128 + number)


def failed(error: Exception, session: Session) -> int:
    """Print what went wrong.

    Args:
        session: What the command was doing.
    """
    message, status = explained(error, session)
    if session.debug:
        traceback.print_exception(error)
    report_event("error", message, status, session)
    return status


def explained(error: Exception, session: Session) -> tuple[str, int]:
    """Explain an error to a user."""
    if isinstance(error, EvenflowError):
        return str(error), error.status
    if isinstance(error, OSError):
        return explained_system(error, session.output, session.resumable), FAILED
    if isinstance(error, MemoryError):
        return "out of memory; give fewer --workers, or smaller panes with --set pane.mib=N", FAILED
    if (
        isinstance(error, ModuleNotFoundError)
        and error.name
        and not error.name.startswith("evenflow")
    ):
        from evenflow.pipelines.terminal.missing import installing  # rarely needed

        name = error.name.partition(".")[0]
        return f"the Python package {name!r} is missing; {installing(name)}", FAILED
    frame = traceback.extract_tb(error.__traceback__)[-1:]
    place = f" ({Path(frame[0].filename).name}, line {frame[0].lineno})" if frame else ""
    hint = "" if session.debug else "; --debug shows the traceback"
    return f"unexpected error: {type(error).__name__}: {error}{place}{hint}", FAILED


def explained_system(error: OSError, output: Storage | None, resumable: bool = False) -> str:
    """Explain an error of the system, with its path and what to do.

    Args:
        output: Where the results go, if that is known.
        resumable: Whether the same command goes on where it ended.
    """
    reason = os.strerror(error.errno) if error.errno else str(error)  # Arrow's own words hide it
    folder = output.local if output is not None else None
    path = error.filename or (folder if error.errno in (*FULL, *FORBIDDEN, None) else None)
    place = f"{os.fsdecode(path)}: " if isinstance(path, str | bytes | os.PathLike) else ""
    message = place + reason
    if error.errno in FULL:
        return f"{message}; make room{f', then {AGAIN}' if resumable else ''}"
    if folder is not None and _is_below(path, folder):
        if error.errno in FORBIDDEN:
            return f"{message}; give an --output that you may write to"
        if error.errno in NO_FOLDER:
            return f"{message}; a file stands where a directory is needed: give another --output"
    return message


def _is_below(path: object, output: Path) -> bool:
    """Whether a path is the output directory, below it, or a folder that would hold it."""
    if not isinstance(path, str | os.PathLike):
        return False
    one, other = Path(path).absolute(), output.absolute()
    return one == other or other in one.parents or one in other.parents


def report_event(kind: str, message: str, status: int, session: Session) -> None:
    """Print a message on standard error, as lines of text or as one JSON line.

    Args:
        kind: The JSON line's event, such as error or note.
        message: What is printed; it may have several lines.
        status: The exit status that the JSON line has.
        session: Its json_lines says which form.
    """
    with suppress(OSError):  # standard error may be gone
        if session.json_lines:
            print(event(kind, {"message": message, "status": status}), file=sys.stderr, flush=True)
        else:
            for line in message.splitlines():
                print(f"evenflow: {visible(line)}", file=sys.stderr, flush=True)


def empty(session: Session) -> int:
    """Say that there was no document; the exit status."""
    report_event("empty", EMPTY, BLOCKED, session)
    return BLOCKED


@contextmanager
def printing() -> Iterator[None]:
    """Guard what is printed on standard output within the block.

    A reader that closes the pipe ends the block, not the command.

    Raises:
        OSError: Standard output cannot be written to.
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


def say(*lines: str) -> None:
    """Print lines on standard output that cannot steer a terminal. Raises OSError."""
    with printing():
        for line in lines:
            print(visible(line))


def show(result: T, as_json: bool, draw: Callable[[T], object]) -> None:
    """Print the result of a command on standard output.

    Args:
        result: What JSON can hold, or facts.
        as_json: Whether it is printed as JSON.

    Raises:
        OSError: Standard output cannot be written to.
    """
    with printing():
        if as_json:
            print(json.dumps(result, indent=1, default=lambda facts: facts.model_dump()))
        else:
            draw(result)
