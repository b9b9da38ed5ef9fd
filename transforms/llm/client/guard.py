"""Runs a command, and ends it and all its children when standard input closes.

Standard input closes at the latest when the parent dies: a parent that is killed cannot stop what
it started, but the system closes its pipes. This is a program by itself that uses only the standard
library: `python guard.py COMMAND…`. Its exit status is the command's.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

GRACE_SECONDS = 10.0  # for the command to end by itself; a loaded server needs some seconds


def main(command: list[str]) -> int:
    """Runs a command.

    Args:
        command: The command with its arguments.

    Returns:
        The exit status; 128 plus the signal's number if a signal ended the command, as in shells.
    """
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    # The parent handles an interrupt from the terminal. It closes the pipe to end the command.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: None)
    threading.Thread(target=_end_with_input, args=(child,), daemon=True).start()
    status = child.wait()
    _signal(child, signal.SIGKILL)  # what it left behind
    return status if status >= 0 else 128 - status


def _end_with_input(child: subprocess.Popen[bytes]) -> None:
    """Ends the command when standard input closes."""
    while os.read(0, 4096):
        pass
    _signal(child, signal.SIGTERM)
    try:
        child.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        _signal(child, signal.SIGKILL)


def _signal(child: subprocess.Popen[bytes], number: int) -> None:
    """Sends a signal to the command and all of its session."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
