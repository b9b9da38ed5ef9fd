"""The ids of all committed panes, on disk: says which of some ids came before, and in which pane.

Exact: ids themselves are kept, no hashes. Memory is bounded by CACHE_KIB whatever their number. The
ledger is the truth: what the index lacks, or all of it, is read again from the files of committed
panes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq

from evenflow.schemas.ledger import PaneEntry

CACHE_KIB = 64 << 10  # of pages in memory
TOGETHER = 500  # ids a question: SQLite takes 999 variables at least
ROWS = 20_000  # of a shard that are held at a time


class IdIndex:
    """The index of an output directory. identity: the shards' column of ids. Raises OSError,
    sqlite3.Error.
    """

    def __init__(self, output: Path, identity: str, entries: Sequence[PaneEntry]):
        self._output, self._identity = output, identity
        self._open()
        if self._panes() > len(entries):  # of another ledger
            self.close()
            (output / "gate" / "ids.sqlite").unlink()
            self._open()
        for number in range(self._panes(), len(entries)):
            self.add(entries[number])

    def _open(self) -> None:
        self._database = sqlite3.connect(
            self._output / "gate" / "ids.sqlite", isolation_level=None, check_same_thread=False
        )
        self._database.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        # What a crash of the machine takes is read again from the ledger
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS ids (id TEXT PRIMARY KEY, pane INTEGER NOT NULL) WITHOUT"
            " ROWID"
        )
        self._database.execute("CREATE TABLE IF NOT EXISTS panes (pane INTEGER PRIMARY KEY)")

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _panes(self) -> int:
        """How many panes are in it."""
        [[last]] = self._database.execute("SELECT MAX(pane) FROM panes").fetchall()
        return 0 if last is None else last + 1

    def known(self, ids: Collection[str]) -> dict[str, int]:
        """Those of some ids that came before, and in which pane each came first."""
        found: dict[str, int] = {}
        ordered = sorted(ids)  # neighbours are on one page
        for first in range(0, len(ordered), TOGETHER):
            some = ordered[first : first + TOGETHER]
            marks = ",".join("?" * len(some))
            found.update(
                self._database.execute(f"SELECT id, pane FROM ids WHERE id IN ({marks})", some)
            )
        return found

    def add(self, entry: PaneEntry) -> None:
        """Take in the documents of a committed pane, whatever became of them."""
        self._database.execute("BEGIN")
        for ids in self._ids(entry):
            self._database.executemany(
                "INSERT OR IGNORE INTO ids VALUES (?, ?)",
                ((each, entry.pane) for each in sorted(ids)),
            )
        self._database.execute("INSERT INTO panes VALUES (?)", (entry.pane,))
        self._database.execute("COMMIT")

    def _ids(self, entry: PaneEntry) -> Iterator[list[str]]:
        files = [(entry.folder, shard) for shard in entry.shards]
        files += [("quarantine", entry.set_aside)] if entry.set_aside is not None else []
        for folder, shard in files:
            with closing(pq.ParquetFile(self._output / folder / shard.name)) as file:
                for batch in file.iter_batches(ROWS, columns=[self._identity]):
                    yield batch.column(0).to_pylist()
