"""Runs a command and ends it, with all that it started, when standard input closes: at the latest
when the parent dies.

A program of its own, on the standard library alone: `python guard.py COMMAND…`. A parent
that is killed cannot stop what it started, but the system closes its pipes. Its status is the
command's.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

GRACE_SECONDS = 10.0  # for the command to end by itself, which takes a loaded server some


def main(command: list[str]) -> int:
    """Run it; the exit status, 128 and the signal's number for one that a signal ended, as shells
    have it.
    """
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    # An interrupt from the terminal is the parent's to hear; it closes the pipe when it wants the
    # end.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: None)
    threading.Thread(target=_end_with_input, args=(child,), daemon=True).start()
    status = child.wait()
    _signal(child, signal.SIGKILL)  # what it left behind
    return status if status >= 0 else 128 - status


def _end_with_input(child: subprocess.Popen[bytes]) -> None:
    while os.read(0, 4096):
        pass
    _signal(child, signal.SIGTERM)
    try:
        child.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        _signal(child, signal.SIGKILL)


def _signal(child: subprocess.Popen[bytes], number: int) -> None:
    """To the command and all of its session."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
