"""Where a document went, what was changed in it, and why.

The ids in the shards are in no order. So panes are looked at from the newest to the oldest, by the
statistics of their Parquet files first, for a bounded time; an answer says how far it looked.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from evenflow.gates.ledger import segments
from evenflow.pipelines.pages.board.follow import Gate
from evenflow.pipelines.pages.report.files import open_named
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.storage.storage import Storage

SECONDS = 2.0  # a search: a viewer waits for it
TEXT = 20_000  # characters of a document that are shown
ROWS = 200  # rows of the table of sentences that are shown
COPIES = 20  # files with the id that are shown


@dataclass
class Place:
    """A file that has the document.

    Attributes:
        pane: The pane's number.
        folder: accepted or quarantine.
        file: The file's name.
        alone: Why the document was set aside alone; None: it was not.
        state: The pane's verdict.
        why: The reason of that verdict.
        text: Beginning of the text.
        cut: Whether there is more of it.
        fields: The other columns as text.
    """

    pane: int
    folder: str
    file: str
    alone: str | None
    state: str
    why: str
    text: str
    cut: bool
    fields: dict[str, str]


@dataclass
class SearchResult:
    """What a search found.

    Attributes:
        places: The files that have the document, the newest first.
        sentences: Rows of the tables of sentences, each with its pane.
        unread: Files that could not be read.
        looked: First and last pane that were looked at; None: none was.
        further: The pane from which a further search goes on; None: the whole ledger was looked
            at, or the document was found.
    """

    places: list[Place] = field(default_factory=list[Place])
    sentences: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    unread: list[str] = field(default_factory=list[str])
    looked: tuple[int, int] | None = None
    further: int | None = None


def search(
    gate: Gate, identity: str, start: int | None = None, seconds: float = SECONDS
) -> SearchResult:
    """Look for a document.

    Args:
        gate: The gate; its ledger was read.
        identity: The document's id. It comes from outside.
        start: The newest pane that is looked at; None: the last one.
        seconds: After how long no further segment of the ledger is looked at.

    Returns:
        What was found in the newest pane that has the document.

    Raises:
        LedgerError: An entry cannot be read.
        OSError: A ledger's file cannot be read.
    """
    found, until = SearchResult(), time.monotonic() + seconds
    with gate.lock:
        assert gate.history is not None
        newest = min(len(gate.history) - 1, len(gate.history) if start is None else start)
    names = gate.config.fields if gate.config else None
    columns = (names.id, names.text) if names else ("id", "text")
    for entry in _newest_first(gate, newest):
        if found.looked is not None and (found.places or time.monotonic() > until):
            found.further = None if found.places else entry.pane
            break
        found.looked = entry.pane, newest
        _look(gate.storage, entry, identity, columns, found)
    return found


def _newest_first(gate: Gate, newest: int) -> Iterator[PaneEntry]:
    """The entries of a ledger from a pane on backwards, a segment at a time."""
    every = segments.EVERY
    for first in range(newest - newest % every, -1, -every):
        with gate.lock:
            assert gate.history is not None
            some = list(gate.history.some(range(first, min(first + every, newest + 1))))
        yield from reversed(some)


def _look(
    storage: Storage, entry: PaneEntry, identity: str, columns: tuple[str, str], found: SearchResult
) -> None:
    """Look for a document in the files of a pane."""
    for folder, shard in entry.files():
        if folder in ("dead-letter", "sentences"):
            continue
        for row in _rows(
            storage, folder, shard.name, columns[0], identity, found, COPIES - len(found.places)
        ):
            text = str(row.pop(columns[1], ""))
            row.pop(columns[0], None)
            alone = entry.set_aside is not None and shard.name == entry.set_aside.name
            found.places.append(
                Place(
                    entry.pane,
                    folder,
                    shard.name,
                    str(row.pop("reason", "")) if alone else None,
                    entry.verdict.state,
                    entry.verdict.reason,
                    text[:TEXT],
                    len(text) > TEXT,
                    {key: str(value) for key, value in row.items() if value is not None},
                )
            )
    if found.places and entry.sentence_table is not None:
        found.sentences = sentences(storage, entry, identity, found)


def sentences(
    storage: Storage, entry: PaneEntry, identity: str | None, found: SearchResult, most: int = ROWS
) -> list[dict[str, Any]]:
    """Read rows of a pane's table of sentences.

    Args:
        storage: The output.
        entry: The pane's entry.
        identity: The document; None: sentences of any document that were changed or taken out.
        found: Receives the name of a file that cannot be read.
        most: The most rows.

    Returns:
        The rows, with `indicators` as plain data in the place of JSON.
    """
    if entry.sentence_table is None:
        return []
    name = entry.sentence_table.name
    rows = list(_rows(storage, "sentences", name, "id", identity, found, most))
    for row in rows:
        row["reasons"] = _reasons(row.pop("linguistic_indicators", None))
        row["changed"] = row["text_cda"] is not None
    return rows


def _reasons(indicators: str | None) -> list[str]:
    """Why a sentence was found to be a stereotype, from its indicators as JSON."""
    try:
        read: Any = orjson.loads(indicators or "null")
    except orjson.JSONDecodeError:
        return []
    given = read.get("reasons", []) if isinstance(read, dict) else []
    return [str(each) for each in given] if isinstance(given, list) else []


def _rows(
    storage: Storage,
    folder: str,
    name: str,
    column: str,
    identity: str | None,
    found: SearchResult,
    most: int,
) -> Iterator[dict[str, Any]]:
    """Rows of a Parquet file with an id, or those that were changed or taken out."""
    try:
        with open_named(storage, folder, name) as source, closing(pq.ParquetFile(source)) as file:
            names = file.schema_arrow.names
            keys = [column] if identity is not None else ["text_cda", "remove_sentence"]
            for group in range(file.num_row_groups):
                if most <= 0:
                    return
                if identity is not None and not _may_have(file, group, names, column, identity):
                    continue
                read = file.read_row_group(group, columns=keys)
                mask = _mask(read, keys, identity)
                if not pc.any(mask).as_py():
                    continue
                for row in file.read_row_group(group).filter(mask).slice(0, most).to_pylist():
                    most -= 1
                    yield row
    except (OSError, pa.ArrowException, KeyError):
        found.unread.append(f"{folder}/{name}")


def _mask(read: pa.Table, keys: Sequence[str], identity: str | None) -> Any:
    """Which rows are wanted."""
    if identity is not None:
        return pc.equal(read.column(keys[0]).cast(pa.string()), identity)
    return pc.or_(pc.is_valid(read.column(keys[0])), read.column(keys[1]))


def _may_have(
    file: pq.ParquetFile, group: int, names: Sequence[str], column: str, identity: str
) -> bool:
    """Whether a row group may have an id, by its statistics."""
    place = names.index(column) if column in names else -1
    if place < 0:
        raise KeyError(column)
    # The columns of a file are its leaves: before the ids there is none that has several
    stats = file.metadata.row_group(group).column(place).statistics
    if stats is None or not stats.has_min_max or not isinstance(stats.min, str):
        return True
    return stats.min.encode() <= identity.encode("utf-8", "replace") <= stats.max.encode()
