"""One run an output directory: a lock that the kernel releases when its process dies."""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path
from types import TracebackType


class LockedError(RuntimeError):
    """Another run holds the output directory; the message says which."""


class OutputLock:
    """Context manager on output/gate/lock. Raises LockedError on entry if another process holds it."""

    def __init__(self, output: Path):
        self._path = output / "gate" / "lock"

    def __enter__(self) -> OutputLock:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.seek(0)
            holder = self._file.read().strip() or "an unknown process"
            self._file.close()
            raise LockedError(
                f"{self._path.parent.parent} is in use by {holder}; wait for it, or give another --output"
            ) from error
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()} on {socket.gethostname()}")
        self._file.flush()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        self._file.truncate(0)
        self._file.close()
