"""Accepted answers kept on disk: runs share them, and memory stays flat.

The cache is one SQLite file in WAL mode. Readers never wait, writers of all processes take turns,
and a stored answer survives a killed process. SQLite comes with Python. The package diskcache also
uses SQLite, but by default it writes pickles and a file for each long value, and it has had no
release since 2023. The oldest answers are dropped first: a run's own answers are the newest, so a
replay finds them. WAL does not work on network file systems.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evenflow.prompts.loader import json_digest
from evenflow.schemas.errors import EvenflowError
from evenflow.transforms.llm.questions import Question

FORMAT = 1  # of the file; another one is refused
PRIVATE = 0o600  # of the file: answers quote the texts that they are about
# Wait for another process's transaction, which takes milliseconds; long enough for a slow disk
BUSY_SECONDS = 30.0
MEMORY_KIB = 4096  # of SQLite's page cache, for a file of any size
WAL_BYTES = 16 << 20  # to which the log beside the file is cut back
DROPPED_AT_ONCE = 0.1  # share of the answers that goes when the file is full, so that this is rare
# Stored answers between two checks of the size; ours are below 1 KiB, so that is 256 KiB
CHECKED_EVERY = 256
FETCHED_AT_ONCE = 500  # keys in one statement; the limit of older SQLite versions is 999

TABLE = """CREATE TABLE IF NOT EXISTS answers (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB NOT NULL UNIQUE, stored REAL NOT NULL,
    value TEXT, reason TEXT NOT NULL)"""


class CacheError(EvenflowError):
    """The cache's file cannot be used; the message says why and what to do."""


def cache_key(model: str, temperature: float, max_tokens: int, question: Question) -> bytes:
    """SHA-256 (32 bytes) of all that an answer depends on.

    `max_tokens`: The longest answer in tokens.
    """
    parts = [model, temperature, max_tokens, question.digest, question.sentence, question.key]
    return json_digest(parts)


class Cache:
    """A file of answers, safe for any number of threads and processes.

    Every method raises CacheError.

    Args:
        max_bytes: The largest size of the file, without the log beside it.
    """

    def __init__(self, path: Path, max_bytes: int = 1 << 30):
        self.path = path
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._unchecked = 0

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        """The kept answers, as JSON, of those keys that are in the cache."""
        found: dict[bytes, str] = {}
        with self._lock, _errors_of(self.path):
            for first in range(0, len(keys), FETCHED_AT_ONCE):
                some = keys[first : first + FETCHED_AT_ONCE]
                marks = ",".join("?" * len(some))
                # Earlier versions kept bad answers too, without a value
                wanted = f"key IN ({marks}) AND value IS NOT NULL"
                found |= self._open().execute(
                    f"SELECT key, value FROM answers WHERE {wanted}", some
                )
        return found

    def put_many(self, answers: Mapping[bytes, str]) -> None:
        """Keeps accepted answers, as JSON, in one transaction.

        An answer that is there already is replaced, and becomes the newest.
        """
        rows = [(key, time.time(), value) for key, value in answers.items()]
        with self._lock, _errors_of(self.path):
            connection = self._open()
            with connection:
                connection.executemany(
                    "INSERT OR REPLACE INTO answers (key, stored, value, reason) VALUES (?, ?,"
                    " ?, '')",
                    rows,
                )
            self._unchecked += len(rows)
            if self._unchecked >= CHECKED_EVERY:
                self._unchecked = 0
                self._shrink(connection)

    def _open(self) -> sqlite3.Connection:
        """This process's connection: one that was carried over a fork would break the file."""
        if self._connection is None or self._process != os.getpid():
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, PRIVATE))
            # For a file of an earlier version; SQLite gives the files beside it the same mode
            self.path.chmod(PRIVATE)
            connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, check_same_thread=False)
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, FORMAT):
                connection.close()
                raise CacheError(
                    f"{self.path}: a cache of format {version}, not {FORMAT}; delete it or name"
                    " another file"
                )
            for setting in ("journal_mode=WAL", "synchronous=NORMAL", f"cache_size=-{MEMORY_KIB}"):
                connection.execute(f"PRAGMA {setting}")
            connection.execute(f"PRAGMA journal_size_limit={WAL_BYTES}")
            with connection:
                connection.execute(TABLE)
                connection.execute(f"PRAGMA user_version={FORMAT}")
            self._connection, self._process = connection, os.getpid()
        return self._connection

    def _shrink(self, connection: sqlite3.Connection) -> None:
        """Drops the oldest answers if the file is too large; SQLite uses their place again."""
        if _bytes(connection) <= self.max_bytes:
            return
        with connection:
            first, last = connection.execute(
                "SELECT min(number), max(number) FROM answers"
            ).fetchone()
            cut = first + max(1, int((last - first) * DROPPED_AT_ONCE))
            connection.execute("DELETE FROM answers WHERE number < ?", (cut,))


def _bytes(connection: sqlite3.Connection) -> int:
    """Bytes of the pages in use."""
    count, free, size = (
        connection.execute(f"PRAGMA {n}").fetchone()[0]
        for n in ("page_count", "freelist_count", "page_size")
    )
    return (count - free) * size


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Turns errors of SQLite and of the system into CacheError with the path."""
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        hint = "; delete it, or name another file" if type(error) is sqlite3.DatabaseError else ""
        raise CacheError(f"{path}: the cache of answers cannot be used: {error}{hint}") from error


def as_rows(kept: Iterable[tuple[bytes, Any]]) -> dict[bytes, str]:
    """Answers in the form of the cache."""
    return {key: json.dumps(value, ensure_ascii=True) for key, value in kept}
