"""A lock that lets one run at a time use an output directory.

It is flock(2) on the file gate/lock. The kernel releases it when the process dies, also by SIGKILL.
The file stays; the lock counts and not the file. On NFS, Linux (since 2.6.12) turns it into a lock
of the whole file at the server, so it holds between machines if the server's lock service runs. A
mount with `local_lock=flock` or `nolock` keeps the lock on one machine. With such a mount, two
machines must not use the same output directory.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from pathlib import Path

from evenflow.schemas.errors import EvenflowError
from evenflow.transforms.storage.directory import Directory


class LockedError(EvenflowError, RuntimeError):
    """Another run holds the output directory; the message says which one."""


class OutputLock:
    """Context manager that locks an output directory.

    Entering raises LockedError if another process holds the lock, and OSError if the file cannot
    be written.
    """

    def __init__(self, output: Path):
        self._output = Directory(output)

    def __enter__(self) -> OutputLock:
        self._path = self._output.inside("gate/lock")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Python does not let child processes inherit the file, so a child that outlives this
        # process does not keep the lock.
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
            self._write_holder(f"process {os.getpid()} on {socket.gethostname()}")
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._write_holder("")
        finally:
            self._file.close()  # releases the lock

    def _write_holder(self, holder: str) -> None:
        """Write into the file who holds the lock; only messages use this."""
        self._file.truncate(0)
        self._file.write(holder)
        self._file.flush()
