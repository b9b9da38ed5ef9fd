"""The messages of a committed pane: its accepted documents and dead letters, from its files."""

from __future__ import annotations

import base64
import json
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from evenflow.gates.ledger.files import LedgerError
from evenflow.schemas.config.fields import Fields
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.io import fields, fitting
from evenflow.transforms.kafka import originals
from evenflow.transforms.kafka.sizes import OWN, Message
from evenflow.transforms.storage.storage import Place, at

ROWS = 1000  # of a shard that are held at a time


@dataclass(frozen=True)
class Topics:
    """Where to publish; false where nothing is published.

    Attributes:
        accepted: The topic of accepted documents; None: they are not published.
        dead_letters: The topic of dead letters; None: they are not published.
    """

    accepted: str | None = None
    dead_letters: str | None = None

    def __bool__(self) -> bool:
        """Whether anything is published."""
        return bool(self.names)

    @property
    def names(self) -> list[str]:
        """The topics that are published to."""
        return [each for each in (self.accepted, self.dead_letters) if each is not None]


def identity(output: Place) -> str:
    """Return the id of an output's ledger; the first call makes a random one."""
    storage, name = at(output), "ledger/identity"
    if not storage.exists(name):
        storage.create(name, secrets.token_hex(16).encode() + b"\n")
    text = storage.read(name).decode("utf-8", "replace").strip()
    if not re.fullmatch("[0-9a-f]{32}", text):
        raise LedgerError(
            f"{storage.address(name)}: 32 hexadecimal digits were expected; without them nobody"
            " knows what this output published"
        )
    return text


def messages(
    output: Place, entry: PaneEntry, topics: Topics, names: Fields, own: frozenset[str]
) -> Iterator[Message]:
    """Read the messages of a pane from its files.

    An accepted document has the key, value, headers and time of its record, and its id as a header;
    only the text in the value may differ. One that was accepted while nothing was published, or a
    copy, is a JSON object of the shard's fields. A dead letter has what its record had, and its
    position and reason as headers. `transforms.kafka.sizes` handles messages that are too large
    for their topic.
    """
    storage = at(output)
    if topics.accepted is not None and entry.folder == "accepted":
        for shard in entry.shards:
            kept = f"accepted/{shard.name}"
            with storage.fetched([kept]) as [path]:
                yield from (
                    each._replace(kept=kept)
                    for each in _documents(path, topics.accepted, names, own)
                )
    if topics.dead_letters is not None and entry.dead_letters is not None:
        kept = f"dead-letter/{entry.dead_letters.name}"
        with storage.open(kept) as lines:
            for line in lines:
                yield _dead(json.loads(line), topics.dead_letters)._replace(kept=kept)


def _documents(path: Path, topic: str, names: Fields, own: frozenset[str]) -> Iterator[Message]:
    """The documents of a shard as messages."""
    file = pq.ParquetFile(path)
    apart = own | {column.name for column in originals.COLUMNS.values()}
    read = [name for name in file.schema_arrow.names if name not in apart]
    for batch in file.iter_batches(ROWS, columns=read):
        for row in batch.to_pylist():
            values = fitting.restored(row, file.schema_arrow)
            noted = values.pop(originals.ORIGINAL.name, None)
            identity, value = str(row[names.id]), fields.to_json(values).encode()
            header = (f"{OWN}id", identity.encode())
            if noted is None:
                yield Message(topic, identity.encode(), value, (header,))
                continue
            found = originals.restore(noted, identity, row[names.text], value)
            yield Message(
                topic, found.key, found.value, (*found.headers, header), timestamp=found.time
            )


def _dead(letter: dict[str, Any], topic: str) -> Message:
    """A dead letter as a message."""
    key = letter.get("key_base64")
    headers: Sequence[tuple[str, bytes | None]] = [
        (name, None if value is None else base64.b64decode(value))
        for name, value in letter.get("headers", ())
    ]
    own = (
        ("evenflow.source", letter["file"]),
        ("evenflow.offset", letter["ordinal"]),
        ("evenflow.reason", letter["reason"]),
    )
    return Message(
        topic,
        None if key is None else base64.b64decode(key),
        base64.b64decode(letter["raw_base64"]),
        (
            *headers,
            *((name, str(value).encode("utf-8", "backslashreplace")) for name, value in own),
        ),
        timestamp=time if (time := letter.get("timestamp", -1)) >= 0 else None,
    )
