"""An index on disk of the ids of all committed panes.

It says which of some ids occurred before, and in which pane. The index is exact: it holds the ids
themselves and no hashes. CACHE_KIB bounds its memory for any number of ids. The ledger
is the source: panes that the index lacks are read again from their files.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq

from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.storage.directory import Directory
from evenflow.transforms.storage.storage import Place, at

CACHE_KIB = 64 << 10  # size of the pages in memory
TOGETHER = 500  # ids in a query: SQLite allows at least 999 variables
ROWS = 20_000  # of a shard that are in memory at once


class IdIndex:
    """The index of an output directory. Its methods raise OSError and sqlite3.Error."""

    def __init__(self, output: Place, identity: str, entries: Sequence[PaneEntry]):
        """Open the index and add the panes that it lacks."""
        self._output, self._identity = at(output), identity
        if self._output.local is not None:
            self._path = Directory(self._output.local).inside("gate/ids.sqlite")
        else:
            self._scratch = tempfile.TemporaryDirectory(prefix="evenflow-")
            self._path = Path(self._scratch.name) / "ids.sqlite"
        self._open()
        if self._panes() > len(entries):  # the index belongs to another ledger
            self.close()
            self._path.unlink()
            self._open()
        for number in range(self._panes(), len(entries)):
            self.add(entries[number])

    def _open(self) -> None:
        """Open the file, or create it."""
        self._database = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        self._database.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        # Writes that a crash of the machine loses are made again from the ledger
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
        """Number of panes in the index."""
        [[last]] = self._database.execute("SELECT MAX(pane) FROM panes").fetchall()
        return 0 if last is None else last + 1

    def known(self, ids: Collection[str]) -> dict[str, int]:
        """Look up ids.

        Returns:
            The ids that occurred before, each with the pane in which it first occurred.
        """
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
        """Add the documents of a committed pane, accepted or not."""
        self._database.execute("BEGIN")
        for ids in self._ids(entry):
            self._database.executemany(
                "INSERT OR IGNORE INTO ids VALUES (?, ?)",
                ((each, entry.pane) for each in sorted(ids)),
            )
        self._database.execute("INSERT INTO panes VALUES (?)", (entry.pane,))
        self._database.execute("COMMIT")

    def _ids(self, entry: PaneEntry) -> Iterator[list[str]]:
        """The ids in a pane's files, some at a time."""
        files = [(entry.folder, shard) for shard in entry.shards]
        files += [("quarantine", entry.set_aside)] if entry.set_aside is not None else []
        for folder, shard in files:
            with (
                self._output.open(f"{folder}/{shard.name}") as source,
                closing(pq.ParquetFile(source)) as file,
            ):
                for batch in file.iter_batches(ROWS, columns=[self._identity]):
                    yield batch.column(0).to_pylist()
