"""Runs a command that ends when its parent does, even by SIGKILL.

Usage: python child.py PARENT COMMAND ARGUMENT…, where PARENT is the parent's process id.

Beam starts its runner as a process of its own and ends it when the driver ends in order. A driver
that is killed would leave it behind. On Linux this file asks for a SIGKILL at its parent's death
and then becomes the command. Elsewhere it only becomes the command. It imports nothing of the
package, so that it starts in milliseconds.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # of prctl(2) of Linux


def main() -> None:
    """Become the command."""
    parent, *command = sys.argv[1:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(parent):  # the parent died before prctl was called
            return
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
