"""One run an output directory: a lock that the kernel releases when its process dies, by SIGKILL as
well.

It is flock(2) on the file gate/lock, which stays; what counts is the lock, not the file. On NFS,
Linux carries it out as a lock of the whole file at the server (since 2.6.12), so it holds between
machines if the server's lock service runs; a mount with `local_lock=flock` or `nolock` keeps it to
one machine, and then two machines must not be given one output directory.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from pathlib import Path
from types import TracebackType


class LockedError(RuntimeError):
    """Another run holds the output directory; the message says which."""


class OutputLock:
    """Context manager on output/gate/lock. Raises LockedError if another process holds it, OSError
    if it cannot be written.
    """

    def __init__(self, output: Path):
        self._path = output / "gate" / "lock"

    def __enter__(self) -> OutputLock:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Not inheritable (Python's default): a child that outlives this process does not keep the
        # lock.
        self._file = self._path.open("a+", encoding="utf-8", errors="replace")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.seek(0)
            holder = self._file.read(200).strip()
            self._file.close()
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise LockedError(
                    f"{self._path.parent.parent} is in use by another run"
                    f"{f' ({holder})' if holder else ''}; wait for it, or give another --output"
                ) from error
            raise OSError(
                error.errno, f"{error.strerror} (its file system has no locks?)", str(self._path)
            ) from error
        try:
            self._note(f"process {os.getpid()} on {socket.gethostname()}")
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._note("")
        finally:
            self._file.close()  # releases the lock

    def _note(self, holder: str) -> None:
        """Say in the file who holds it: for messages alone."""
        self._file.truncate(0)
        self._file.write(holder)
        self._file.flush()
