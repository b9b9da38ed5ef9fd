"""The ledger's files: one for each pane, and meta.json with the run's settings.

They are written atomically and read in order.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evenflow.schemas.guards import is_mapping
from evenflow.schemas.ledger import PaneEntry


class LedgerError(RuntimeError):
    """A ledger that cannot be read; the message names the file."""


def atomic_write(path: Path, data: bytes) -> None:
    """Replace a file as a whole.

    A reader, or a start after a crash, sees either the old file or the new one.

    Args:
        path: The file.
        data: Its new content.

    Raises:
        OSError: The file cannot be written.
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
    """Write data as JSON with sorted keys; the same data gives the same bytes."""
    return (json.dumps(data, sort_keys=True, indent=1) + "\n").encode()


def write_entry(root: Path, entry: PaneEntry) -> None:
    """Commit a pane by its entry; it is durable when this returns.

    Args:
        root: Output directory.
        entry: Entry of the pane, for root/ledger/PANE.json.

    Raises:
        OSError: The file cannot be written.
    """
    atomic_write(root / "ledger" / f"{entry.pane:08d}.json", canonical(entry.model_dump()))


def read_entries(root: Path) -> list[PaneEntry]:
    """Read all entries at once.

    Args:
        root: Output directory.

    Returns:
        The entries from pane 0 on.

    Raises:
        LedgerError: An entry is missing or cannot be read.
    """
    from evenflow.gates.ledger.history import History  # it imports this module

    return list(History(root))


def read_entry(root: Path, pane: int) -> PaneEntry:
    """Read the entry of one of the last panes.

    Args:
        root: Output directory.
        pane: Number of the pane, which must not be in a segment yet.

    Returns:
        The entry.

    Raises:
        LedgerError: The file is not an entry.
        OSError: The file cannot be read.
    """
    path = root / "ledger" / f"{pane:08d}.json"
    return parse_entry(path.read_bytes(), path)


def parse_entry(raw: bytes, path: Path) -> PaneEntry:
    """Parse an entry.

    Args:
        raw: JSON of the entry.
        path: File that it comes from, for messages.

    Returns:
        The entry.

    Raises:
        LedgerError: The JSON is not an entry.
    """
    try:
        return PaneEntry.model_validate(json.loads(raw))
    except (ValidationError, ValueError) as error:
        raise LedgerError(f"{path}: not a ledger entry: {error}") from error


def write_meta(root: Path, meta: dict[str, Any]) -> None:
    """Replace root/ledger/meta.json.

    Args:
        root: Output directory.
        meta: The run's settings.

    Raises:
        OSError: The file cannot be written.
    """
    atomic_write(root / "ledger" / "meta.json", canonical(meta))


def read_meta(root: Path) -> dict[str, Any] | None:
    """Read root/ledger/meta.json.

    Args:
        root: Output directory.

    Returns:
        The run's settings; None if no run has begun.

    Raises:
        LedgerError: The file is not JSON.
    """
    path = root / "ledger" / "meta.json"
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise LedgerError(f"{path}: not JSON: {error}") from error


def changed_settings(old: dict[str, Any], new: dict[str, Any], prefix: str = "") -> list[str]:
    """Compare settings.

    Args:
        old: Settings before.
        new: Settings now.
        prefix: Start of each key in the result.

    Returns:
        Each setting that differs, as `dotted.key: old -> new`.
    """
    lines: list[str] = []
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if is_mapping(before) and is_mapping(after):
            lines += changed_settings(before, after, f"{prefix}{key}.")
        elif before != after:
            lines.append(f"{prefix}{key}: {before!r} -> {after!r}")
    return lines
