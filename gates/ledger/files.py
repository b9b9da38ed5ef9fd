"""The ledger's files: written atomically, read in order, one a pane, and meta.json with the run's
settings.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evenflow.schemas.ledger import PaneEntry


class LedgerError(RuntimeError):
    """A ledger that cannot be read; the message names the file."""


def atomic_write(path: Path, data: bytes) -> None:
    """Replace a file so that a reader, or a start after a crash, sees the old or the new one whole.
    Raises OSError.
    """
    part = path.with_name(f".{path.name}.part")
    with part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def canonical(data: Any) -> bytes:
    """JSON with sorted keys; the same data gives the same bytes."""
    return (json.dumps(data, sort_keys=True, indent=1) + "\n").encode()


def write_entry(root: Path, entry: PaneEntry) -> None:
    """Commit a pane: root/ledger/PANE.json, durable when this returns."""
    atomic_write(root / "ledger" / f"{entry.pane:08d}.json", canonical(entry.model_dump()))


def read_entries(root: Path) -> list[PaneEntry]:
    """All entries from pane 0 on, at once. Raises LedgerError for a gap or an entry that cannot be
    read.
    """
    from evenflow.gates.ledger.history import History  # which is made of what is here

    return list(History(root))


def read_entry(root: Path, pane: int) -> PaneEntry:
    """The entry of one of the last panes. Raises LedgerError, OSError."""
    path = root / "ledger" / f"{pane:08d}.json"
    return parsed(path.read_bytes(), path)


def parsed(raw: bytes, path: Path) -> PaneEntry:
    """An entry from its JSON. path: where it came from. Raises LedgerError."""
    try:
        return PaneEntry.model_validate(json.loads(raw))
    except (ValidationError, ValueError) as error:
        raise LedgerError(f"{path}: not a ledger entry: {error}") from error


def write_meta(root: Path, meta: dict[str, Any]) -> None:
    """Replace root/ledger/meta.json."""
    atomic_write(root / "ledger" / "meta.json", canonical(meta))


def read_meta(root: Path) -> dict[str, Any] | None:
    """root/ledger/meta.json, or None where no run has begun. Raises LedgerError."""
    path = root / "ledger" / "meta.json"
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise LedgerError(f"{path}: not JSON: {error}") from error


def changed_settings(old: dict[str, Any], new: dict[str, Any], prefix: str = "") -> list[str]:
    """Each setting that differs, as `dotted.key: old -> new`."""
    lines: list[str] = []
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            lines += changed_settings(before, after, f"{prefix}{key}.")
        elif before != after:
            lines.append(f"{prefix}{key}: {before!r} -> {after!r}")
    return lines
