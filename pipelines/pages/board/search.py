"""Where a document went, what was changed in it, and why.

The ids in the shards are in no order. So panes are looked at from the newest to the oldest, by the
statistics of their Parquet files first, for a bounded time; an answer says how far it looked.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from evenflow.gates.ledger import segments
from evenflow.pipelines.pages.board.follow import Gate
from evenflow.pipelines.pages.report import files
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.storage.storage import Storage

SECONDS = 2.0  # a search: a viewer waits for it
TEXT = 20_000  # characters of a document that are shown
ROWS = 200  # rows of the table of sentences that are shown
COPIES = 20  # files with the id that are shown


@dataclass
class Place:
    """A file that has the document.

    `alone`: Why the document was set aside alone; None: it was not.
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

    `looked`: First and last pane that were looked at; None: none was. `further`: The pane from
    which a further search goes on; None: the whole ledger was looked at, or the document was found.
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

    `start`: The newest pane that is looked at; None: the last one.
    """
    found, until = SearchResult(), time.monotonic() + seconds
    with gate.lock:
        assert gate.history is not None
        newest = min(len(gate.history) - 1, len(gate.history) if start is None else start)
    names = gate.config.fields if gate.config else None
    columns = (names.id, names.column) if names else ("id", "text")
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
        place = folder, shard.name
        rows = files.with_ids(storage, place, columns[0], [identity], found.unread)
        for row in islice(rows, COPIES - len(found.places)):
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

    `identity`: The document; None: sentences of any document that were changed or taken out.
    """
    if entry.sentence_table is None:
        return []
    place, keys = ("sentences", entry.sentence_table.name), ("text_cda", "remove_sentence")

    def changed(table: pa.Table) -> Any:
        return pc.or_(pc.is_valid(table[keys[0]]), table[keys[1]])

    read = (
        files.rows(storage, place, keys, changed, found.unread)
        if identity is None
        else files.with_ids(storage, place, "id", [identity], found.unread)
    )
    rows = list(islice(read, most))
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
