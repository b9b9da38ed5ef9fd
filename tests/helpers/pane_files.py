"""Panes of a ledger whose files are there."""

from __future__ import annotations

import hashlib
from collections.abc import Container
from typing import Any

from pane_entries import pane_entry

from evenflow.schemas.ledger import PaneEntry, Shard
from evenflow.transforms.storage.storage import Storage


def written(output: Storage, pane: int, blocked: Container[int], **names: str) -> PaneEntry:
    """A pane with a shard, and other files by the fields that name them; all are written."""
    files: dict[str, Any] = {
        field: Shard(name=f"part-{pane:08d}{end}", rows=1, bytes=0, sha256="")
        for field, end in {"shards": "-0000.parquet", **names}.items()
    }
    files["shards"] = [files["shards"]]
    entry = pane_entry(pane, folder="quarantine" if pane in blocked else "accepted", **files)
    for folder, file in entry.files():
        data = f"{folder}/{file.name}".encode()
        output.write(f"{folder}/{file.name}", data)
        file.bytes, file.sha256 = len(data), hashlib.sha256(data).hexdigest()
    return entry
