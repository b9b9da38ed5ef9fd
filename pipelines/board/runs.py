"""What triggers and benchmarks have left beside the ledger as JSON, which other rooms write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from evenflow.transforms.storage.storage import Storage

RUNS = ("triggers", "benchmarks")  # folders of an output
MOST = 20  # the last files of a folder that are shown
LARGEST = 1 << 20  # bytes of a file that is read


def runs(storage: Storage) -> dict[str, list[tuple[str, dict[str, str]]]]:
    """Read the last runs of triggers and benchmarks.

    Args:
        storage: The output.

    Returns:
        By folder the files, the newest name first, each with its plain values by key. A folder
        without a file is left out, and so is a file that is no JSON object.

    Raises:
        OSError: A file cannot be read.
    """
    found: dict[str, list[tuple[str, dict[str, str]]]] = {}
    for folder in RUNS:
        names = [name for name in storage.names(folder) if name.endswith(".json")][-MOST:]
        rows = [(name, _values(storage, f"{folder}/{name}")) for name in reversed(names)]
        if kept := [(name, values) for name, values in rows if values]:
            found[folder] = kept
    return found


def _values(storage: Storage, name: str) -> dict[str, str]:
    """The plain values of a JSON object, those of its objects by dotted keys."""
    stored = storage.stat(name)
    if stored is None or stored.bytes > LARGEST:
        return {}
    try:
        read: Any = orjson.loads(storage.read(name))
    except (orjson.JSONDecodeError, FileNotFoundError):
        return {}
    out: dict[str, str] = {}
    if isinstance(read, Mapping):
        for key, value in read.items():
            inner = value.items() if isinstance(value, Mapping) else [("", value)]
            for below, each in inner:
                if isinstance(each, str | int | float):
                    out[f"{key}.{below}" if below else str(key)] = str(each)
    return out
