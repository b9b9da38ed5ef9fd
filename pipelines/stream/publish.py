"""What goes to topics of a committed pane: its accepted documents, and its dead letters, read back
from its files.
"""

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

from evenflow.gates.ledger.files import LedgerError, atomic_write
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.io import fields
from evenflow.transforms.kafka.sizes import Message

ROWS = 1000  # of a shard that are held at a time


@dataclass(frozen=True)
class Topics:
    """Where to publish; None: not at all."""

    accepted: str | None = None
    dead_letters: str | None = None

    def __bool__(self) -> bool:
        return bool(self.names)

    @property
    def names(self) -> list[str]:
        """The topics that are published to."""
        return [each for each in (self.accepted, self.dead_letters) if each is not None]


def identity(output: Path) -> str:
    """What tells an output's ledger from all others; made by chance at the first call. Raises
    LedgerError, OSError.
    """
    path = output / "ledger" / "identity"
    if not path.exists():
        atomic_write(path, secrets.token_hex(16).encode() + b"\n")
    text = path.read_text(encoding="utf-8", errors="replace").strip()
    if not re.fullmatch("[0-9a-f]{32}", text):
        raise LedgerError(
            f"{path}: 32 hexadecimal digits were expected; without them nobody knows what this"
            " output published"
        )
    return text


def messages(
    output: Path, entry: PaneEntry, topics: Topics, identity: str, own: frozenset[str]
) -> Iterator[Message]:
    """The records of a pane. identity: the shards' column of ids, which is the key. own: columns
    that are left out.

    An accepted document is a JSON object as it was read, but for fields of mixed kinds, which are
    JSON text in the shards and become values again. A dead letter has the value, key and headers of
    its record; its position and reason are headers. What is too large for its topic: see
    kafka_sizes.py.
    """
    if topics.accepted is not None and entry.folder == "accepted":
        for shard in entry.shards:
            kept = f"accepted/{shard.name}"
            yield from (
                each._replace(kept=kept)
                for each in _documents(output / kept, topics.accepted, identity, own)
            )
    if topics.dead_letters is not None and entry.dead_letters is not None:
        kept = f"dead-letter/{entry.dead_letters.name}"
        with (output / kept).open("rb") as lines:
            for line in lines:
                yield _dead(json.loads(line), topics.dead_letters)._replace(kept=kept)


def _documents(path: Path, topic: str, identity: str, own: frozenset[str]) -> Iterator[Message]:
    file = pq.ParquetFile(path)
    texts = {column.name for column in file.schema_arrow if fields.is_json(column)}
    for batch in file.iter_batches(ROWS):
        for row in batch.to_pylist():
            values = {
                name: json.loads(value) if name in texts else value
                for name, value in row.items()
                if name not in own and value is not None
            }
            yield Message(topic, str(row[identity]).encode(), fields.to_json(values).encode())


def _dead(letter: dict[str, Any], topic: str) -> Message:
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
    )
