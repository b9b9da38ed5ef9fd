"""The ledger's files: one for each pane, and meta.json with the run's settings.

An entry is written once: of two runs that commit the same pane, one succeeds.
"""

from __future__ import annotations

import json
import re
from typing import Any

import orjson
from pydantic import ValidationError

from evenflow.schemas.errors import USAGE, EvenflowError
from evenflow.schemas.guards import is_list, is_mapping
from evenflow.schemas.ledger import FORMAT, Epoch, PaneEntry, of_format_1
from evenflow.schemas.ledger import META as META  # written here
from evenflow.transforms.measures import registry
from evenflow.transforms.storage.storage import Place, Storage, at

# Python's own encoder takes a tenth of a second for an entry of a thousand partitions
CANONICAL = orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


MOST_NUMBER = 10**30  # far beyond what a run writes; sums and squares of such are finite floats
MOST_DEPTH = 64  # of lists and mappings in each other; a run writes ten
# What may be a number above the bound; a digest, in quotation marks, is none
LARGE = re.compile(rb"[\s:,\[]-?(?:[0-9]{30}|[0-9][0-9.]*[eE])|NaN|Infinity")


class LedgerError(EvenflowError, RuntimeError):
    """A ledger that cannot be read; the message names the file."""


class NewerFormatError(LedgerError):
    """A ledger of a newer version of the program; the message names the file."""

    status = USAGE


def refuse_newer(data: Any, address: str, error: ValidationError | None = None) -> None:
    """Refuse what a newer version of the program wrote."""
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


def bounded(data: Any) -> Any:
    """Refuse what no run writes into a ledger: with it, sums and pages would fail."""
    level: list[Any] = [data]
    for _ in range(MOST_DEPTH):
        for each in level:
            if isinstance(each, int | float) and not -MOST_NUMBER <= each <= MOST_NUMBER:
                raise ValueError("a number beyond what a run writes")
        level = [
            inner
            for each in level
            if is_mapping(each) or is_list(each)
            for inner in (each.values() if is_mapping(each) else each)
        ]
        if not level:
            return data
    raise ValueError(f"more than {MOST_DEPTH} lists or mappings in each other")


def parsed(raw: bytes) -> Any:
    """Read JSON that a run wrote, or somebody else.

    Raises:
        ValueError: It is no JSON, or holds what `bounded` refuses.
    """
    try:
        return bounded(json.loads(raw))
    except RecursionError as error:
        raise ValueError(f"more than {MOST_DEPTH} lists or mappings in each other") from error


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


def claim_name(pane: int, number: int) -> str:
    """The file of a claim of a pane and its followers (gates.ledger.claims)."""
    return f"ledger/claims/{pane:08d}-{number}.json"


def write_entry(root: Place, entry: PaneEntry, data: bytes | None = None) -> None:
    """Commit a pane by its entry; it is durable when this returns.

    `data`: Its bytes, where they are made already.
    """
    storage, name = at(root), entry_name(entry.pane)
    if not storage.create(name, data or entry_bytes(entry)):
        raise TakenError(f"{storage.address(name)}: another run has committed this pane")


def read_entries(root: Place) -> list[PaneEntry]:
    """Read all entries at once.

    Raises:
        LedgerError: An entry is missing or cannot be read.
    """
    from evenflow.gates.ledger.history import History  # it imports this module

    return list(History(root))


def read_entry(root: Place, pane: int) -> PaneEntry:
    """Read the entry of one of the last panes."""
    storage, name = at(root), entry_name(pane)
    return parse_entry(storage.read(name), storage.address(name))


def _fitting(entry: PaneEntry) -> None:
    """Refuse figures that are not of an attribute's groups. Raises ValueError."""
    for name, each in entry.attributes.items():
        groups = len(each.groups)
        words = each.people and each.people.words
        sums = [one for one in (each.sums, each.unweighted, words) if one is not None]
        rows = [row for one in sums for row in (one.counts, one.products, *one.products)]
        if any(len(row) != groups for row in (each.target, *rows)):
            raise ValueError(f"{name}: figures of {groups} groups were expected")


def parse_entry(raw: bytes, path: str) -> PaneEntry:
    """Parse an entry.

    Raises:
        NewerFormatError: A newer version of the program has written it.
        LedgerError: The JSON is not an entry.
    """
    try:
        try:
            if LARGE.search(raw):
                parsed(raw)
            # half the time of json and then pydantic
            entry = registry.read(PaneEntry.model_validate_json(raw))
        except ValidationError:  # it does not read half of a UTF-16 pair, which a text may have
            data = parsed(raw)
            try:
                if is_mapping(data) and data.get("version") == 1:
                    data = of_format_1(data)
                entry = registry.read(PaneEntry.model_validate(data))
            except ValidationError as error:
                refuse_newer(data, path, error)
                raise
        _fitting(entry)
    except ValueError as error:
        raise LedgerError(f"{path}: not a ledger entry: {error}") from error
    if entry.version > FORMAT:
        refuse_newer({"version": entry.version}, path)
    return entry


# Of meta.json, what is a mapping
SECTIONS = ("settings", "configuration", "earlier", "stored", "topic", "left_out")


def write_meta(root: Place, meta: dict[str, Any]) -> None:
    """Replace root/ledger/meta.json.

    Raises:
        OSError: The file cannot be written.
    """
    at(root).write(META, canonical(meta))


def read_meta(root: Place) -> dict[str, Any] | None:
    """Read root/ledger/meta.json.

    Returns:
        The run's settings; None if no run has begun.

    Raises:
        NewerFormatError: A newer version of the program has written it.
        LedgerError: The file is not JSON.
    """
    storage = at(root)
    try:
        found = parsed(storage.read(META))
        for each in (found.get("epochs") or ()) if is_mapping(found) else ():
            Epoch.model_validate(each)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise LedgerError(f"{storage.address(META)}: not settings: {error}") from error
    refuse_newer(found, storage.address(META))
    if not is_mapping(found):
        raise LedgerError(f"{storage.address(META)}: not the settings of a run")
    for key in found.keys() & set(SECTIONS):
        if not is_mapping(found[key]):
            raise LedgerError(f"{storage.address(META)}: {key}: a mapping was expected")
    return dict(found)


def changed_settings(old: dict[str, Any], new: dict[str, Any], prefix: str = "") -> list[str]:
    """Compare settings.

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


def has_ledger(output: Storage) -> bool:
    """Whether a run has written there. Raises OSError."""
    # By name first: a store may list a file late
    return output.exists(META) or next(output.tree("ledger"), None) is not None
