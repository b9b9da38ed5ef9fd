"""Runs a command that ends when its parent does, even by SIGKILL: python stream_child.py PARENT
COMMAND ARGUMENT…

Beam starts its runner as a process of its own and ends it when the driver ends in order. A driver
that is killed would leave it behind. This file becomes the command after it has asked Linux for a
SIGKILL at its parent's death; elsewhere it only becomes the command. It imports nothing of the
package, so that it starts in milliseconds.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # of Linux' prctl(2)


def main() -> None:
    """Become the command."""
    parent, *command = sys.argv[1:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(parent):  # it died before it was asked for
            return
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
