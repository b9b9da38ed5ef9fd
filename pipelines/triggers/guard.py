"""Runs a command, and ends it and all its children when standard input closes.

Standard input closes at the latest when the parent dies: a parent that is killed cannot stop what
it started, but the system closes its pipes. This is a program by itself that uses only the standard
library: `python guard.py SECONDS COMMAND…`. Its end, status or signal, is the command's.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

# Of Linux' prctl: whoever loses its parent becomes a child of this process, which can wait for it
ADOPT_ORPHANS = 36


def main(grace: float, command: list[str]) -> int:
    """Runs a command."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    # The parent handles an interrupt from the terminal. It closes the pipe to end the command.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: None)
    threading.Thread(target=_end_with_input, args=(child, grace), daemon=True).start()
    status = child.wait()
    _signal(child, signal.SIGKILL)  # what it left behind
    with suppress(ChildProcessError):  # a killed process still runs for a moment
        while True:
            os.waitpid(-child.pid, 0)
    if status < 0:
        if -status != signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def _end_with_input(child: subprocess.Popen[bytes], grace: float) -> None:
    """Ends the command when standard input closes."""
    while os.read(0, 4096):
        pass
    if grace:
        _signal(child, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            child.wait(grace)
    _signal(child, signal.SIGKILL)


def _signal(child: subprocess.Popen[bytes], number: int) -> None:
    """Sends a signal to the command and all of its session."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, number)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
