"""The ledger's files: one for each pane, and meta.json with the run's settings.

An entry is written once: of two runs that commit the same pane, one succeeds.
"""

from __future__ import annotations

import json
from typing import Any

import orjson
from pydantic import ValidationError

from evenflow.schemas.errors import USAGE, EvenflowError
from evenflow.schemas.guards import is_mapping
from evenflow.schemas.ledger import FORMAT, PaneEntry
from evenflow.schemas.output import META as META  # written here
from evenflow.transforms.measures import registry
from evenflow.transforms.storage.storage import Place, at

# Python's own encoder takes a tenth of a second for an entry of a thousand partitions
CANONICAL = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


class LedgerError(EvenflowError, RuntimeError):
    """A ledger that cannot be read; the message names the file."""


class NewerFormatError(LedgerError):
    """A ledger of a newer version of the program; the message names the file."""

    status = USAGE


def refuse_newer(data: Any, address: str, error: ValidationError | None = None) -> None:
    """Refuse what a newer version of the program wrote.

    Args:
        data: What a file of the ledger holds.
        address: The file, for the message.
        error: Why it cannot be read; None if it can.

    Raises:
        NewerFormatError: Its format is newer, or it has keys that are not known here.
    """
    version = data.get("version") if is_mapping(data) else None
    faults = () if error is None else error.errors(include_url=False)
    unknown = [each["loc"] for each in faults if each["type"] == "extra_forbidden"]
    if isinstance(version, int) and version > FORMAT:
        why = f"its format is {version}, and this Evenflow reads formats up to {FORMAT}"
    elif unknown:
        why = f"this Evenflow does not know its key {'.'.join(map(str, unknown[0]))}"
    else:
        return
    raise NewerFormatError(
        f"{address}: a newer version of Evenflow has written this ({why}); go on with that version,"
        " or give another output"
    )


def canonical(data: Any) -> bytes:
    """Write data as JSON with sorted keys; the same data gives the same bytes."""
    try:
        return orjson.dumps(data, option=CANONICAL)
    except TypeError:  # an integer above 64 bits, or half of a UTF-16 pair in a text
        return (json.dumps(data, sort_keys=True, indent=2) + "\n").encode()


def entry_bytes(entry: PaneEntry) -> bytes:
    """The bytes of a pane's file.

    Ranges and positions, of which there may be thousands, are flat records: their fields are taken
    as they are, in a tenth of the time that a serializer takes.
    """
    data = entry.model_dump(exclude={"source": True, "stream": {"positions"}})
    data["source"] = [vars(each) for each in entry.source]
    if entry.stream is not None:
        positions = entry.stream.positions.items()
        data["stream"]["positions"] = {number: vars(each) for number, each in positions}
    return canonical(data)


class TakenError(LedgerError):
    """Another run has committed the pane; the message names its entry."""


def entry_name(pane: int) -> str:
    """The file of a pane's entry, below the output."""
    return f"ledger/{pane:08d}.json"


def write_entry(root: Place, entry: PaneEntry, data: bytes | None = None) -> None:
    """Commit a pane by its entry; it is durable when this returns.

    Args:
        root: The output.
        entry: Entry of the pane, for root/ledger/PANE.json.
        data: Its bytes, where they are made already.

    Raises:
        TakenError: The pane has another entry.
        OSError: The file cannot be written.
    """
    storage, name = at(root), entry_name(entry.pane)
    if not storage.create(name, data or entry_bytes(entry)):
        raise TakenError(f"{storage.address(name)}: another run has committed this pane")


def read_entries(root: Place) -> list[PaneEntry]:
    """Read all entries at once.

    Args:
        root: The output.

    Returns:
        The entries from pane 0 on.

    Raises:
        LedgerError: An entry is missing or cannot be read.
    """
    from evenflow.gates.ledger.history import History  # it imports this module

    return list(History(root))


def read_entry(root: Place, pane: int) -> PaneEntry:
    """Read the entry of one of the last panes.

    Args:
        root: The output.
        pane: Number of the pane, which must not be in a segment yet.

    Returns:
        The entry.

    Raises:
        LedgerError: The file is not an entry.
        OSError: The file cannot be read.
    """
    storage, name = at(root), entry_name(pane)
    return parse_entry(storage.read(name), storage.address(name))


def parse_entry(raw: bytes, path: str) -> PaneEntry:
    """Parse an entry.

    Args:
        raw: JSON of the entry.
        path: File that it comes from, for messages.

    Returns:
        The entry.

    Raises:
        NewerFormatError: A newer version of the program has written it.
        LedgerError: The JSON is not an entry.
    """
    try:
        try:
            # half the time of json and then pydantic
            entry = registry.read(PaneEntry.model_validate_json(raw))
        except ValidationError:  # it does not read half of a UTF-16 pair, which a text may have
            data = json.loads(raw)
            try:
                entry = registry.read(PaneEntry.model_validate(data))
            except ValidationError as error:
                refuse_newer(data, path, error)
                raise
    except ValueError as error:
        raise LedgerError(f"{path}: not a ledger entry: {error}") from error
    if entry.version > FORMAT:
        refuse_newer({"version": entry.version}, path)
    return entry


def write_meta(root: Place, meta: dict[str, Any]) -> None:
    """Replace root/ledger/meta.json.

    Args:
        root: The output.
        meta: The run's settings.

    Raises:
        OSError: The file cannot be written.
    """
    at(root).write(META, canonical(meta))


def read_meta(root: Place) -> dict[str, Any] | None:
    """Read root/ledger/meta.json.

    Args:
        root: The output.

    Returns:
        The run's settings; None if no run has begun.

    Raises:
        NewerFormatError: A newer version of the program has written it.
        LedgerError: The file is not JSON.
    """
    storage = at(root)
    try:
        found = json.loads(storage.read(META))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise LedgerError(f"{storage.address(META)}: not JSON: {error}") from error
    refuse_newer(found, storage.address(META))
    return found


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
