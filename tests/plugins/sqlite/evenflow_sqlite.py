"""A table of SQLite, by the standard library alone: evenflow gate export out --to sqlite:FILE."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing

import pyarrow as pa


class SqliteSink:
    """Opens the table `documents` of a file; its columns have no types, as SQLite allows."""

    def open(self, place: str, output: str, columns: pa.Schema) -> Documents:
        """Open or make a table, with the output that it is of beside it."""
        with closing(sqlite3.connect(place)) as base, base:
            base.execute("CREATE TABLE IF NOT EXISTS documents (evenflow_pane)")
            base.execute("CREATE TABLE IF NOT EXISTS output (id)")
            [known] = base.execute("SELECT max(id) FROM output").fetchone()
            if known not in (None, output):
                raise ValueError("this file is of another output; give another name")
            if known is None:
                base.execute("INSERT INTO output VALUES (?)", (output,))
            there = {row[1] for row in base.execute("PRAGMA table_info(documents)")}
            for name in columns.names:
                if name not in there:
                    base.execute(f"ALTER TABLE documents ADD COLUMN {_quoted(name)}")
        return Documents(place)


class Documents:
    """The table of a file."""

    def __init__(self, place: str):
        self._place = place

    def panes(self) -> set[int]:
        """The panes whose rows it has."""
        with closing(sqlite3.connect(self._place)) as base:
            return {pane for [pane] in base.execute("SELECT evenflow_pane FROM documents")}

    def append(self, pane: int, rows: pa.Table, notes: Mapping[str, str]) -> None:
        """Append the rows of a pane in one transaction; the notes are not kept."""
        names = ", ".join(map(_quoted, rows.column_names))
        marks = ", ".join("?" * rows.num_columns)
        values = ([_plain(each) for each in row.values()] for row in rows.to_pylist())
        with closing(sqlite3.connect(self._place)) as base, base:
            base.executemany(f"INSERT INTO documents ({names}) VALUES ({marks})", values)

    def remove(self, pane: int) -> None:
        """Take out the rows of a pane."""
        with closing(sqlite3.connect(self._place)) as base, base:
            base.execute("DELETE FROM documents WHERE evenflow_pane = ?", (pane,))


def _quoted(name: str) -> str:
    """A column's name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _plain(value: object) -> object:
    """A value that SQLite has; another one as text."""
    return value if value is None or isinstance(value, int | float | str | bytes) else str(value)
