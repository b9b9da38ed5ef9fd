"""Finds files and opens them.

The name says the format: .jsonl, .jsonl.gz, .jsonl.zst (one record a line), .parquet (one record a
row), .txt (one record a file).
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO

from evenflow.transforms.storage.storage import Storage, Stored, at

FORMATS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet", ".txt")
SEEKABLE = ".jsonl"  # the format in which a reader may begin at a record's byte


class InputError(ValueError):
    """Nothing to read, or not readable; the message names the pattern or the file."""


def match(patterns: Sequence[str]) -> dict[str, int]:
    """Find the files of all patterns, with their sizes.

    Args:
        patterns: Paths, folders and globs, as for `find`.

    Returns:
        The size as stored, in bytes, by the file's name.

    Raises:
        InputError: A pattern has no file, or a file cannot be opened.
    """
    return {name: each.bytes for name, each in find(patterns).items()}


def find(patterns: Sequence[str]) -> dict[str, Stored]:
    """Find the files of all patterns; a file with several names counts once.

    Local paths become absolute. Globs mean the same in an object store as in a local folder.

    Args:
        patterns: Paths, folders and globs, local or in an object store (s3://, gs://, az://).

    Returns:
        The files' stored facts by name, sorted by name.

    Raises:
        InputError: A pattern has no file, a file cannot be opened, or a store cannot be listed.
    """
    found: dict[str, Stored] = {}
    for pattern in patterns:
        files = _in_store(pattern) if "://" in pattern else _local(pattern)
        if not files:
            raise InputError(f"{pattern}: no file matches; formats are {', '.join(FORMATS)}")
        found.update(files)
    real: dict[str, str] = {}  # a link and its target are one file
    for name in sorted(found):
        real.setdefault(name if "://" in name else os.path.realpath(name), name)
    return {name: found[name] for name in real.values()}


def absolute(name: str) -> str:
    """Return a file's one name: a local path becomes absolute, any other name stays."""
    return name if "://" in name else os.path.abspath(name)  # noqa: PTH100 (a link keeps its name)


def root(names: Iterable[str]) -> str:
    """Find the folder that holds all files; made ids hold the path below it.

    Args:
        names: The files' names.

    Returns:
        The folder with a slash at its end; empty where there is none.
    """
    folders = sorted(name[: name.rfind("/")] for name in names)
    parts = zip(folders[0].split("/"), folders[-1].split("/"), strict=False) if folders else ()
    return "".join(f"{one}/" for one, _ in takewhile(lambda pair: pair[0] == pair[1], parts))


def _local(pattern: str) -> dict[str, Stored]:
    """Find a pattern's files on this machine."""
    names = [pattern] if Path(pattern).exists() else glob.glob(pattern, recursive=True)  # noqa: PTH207 (absolute ones too)
    found: dict[str, Stored] = {}
    for name in map(absolute, names):
        inner = (str(path) for path in Path(name).rglob("*")) if Path(name).is_dir() else [name]
        for path in inner:
            if path.endswith(FORMATS) and Path(path).is_file():
                try:
                    with open_file(path) as file:
                        stat = os.fstat(file.fileno())
                        found[path] = Stored(path, stat.st_size, stat.st_mtime_ns)
                except OSError as error:
                    raise InputError(f"{path}: cannot be opened: {error.strerror}") from error
    return found


def _in_store(pattern: str) -> dict[str, Stored]:
    """Find a pattern's objects in a store; only what is below its plain beginning is listed."""
    try:
        place, key = _place(pattern)
        alone = place.stat(key) if key else None
        listed = [alone] if alone else list(place.tree(key))  # an object, or a folder
        if not listed:
            parts = key.split("/")
            plain = list(takewhile(lambda part: glob.escape(part) == part, parts))
            listed = [
                each
                for each in place.tree("/".join(plain))
                if _fits(each.name.split("/")[len(plain) :], parts[len(plain) :])
            ]
    except OSError as error:
        raise InputError(_said(error)) from error
    return {place.address(each.name): each for each in listed if each.name.endswith(FORMATS)}


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a name, or a folder that it is in, fits a glob, both by their parts."""
    if not pattern:
        return True
    shown = bool(parts) and (parts[0][:1] != "." or pattern[0][:1] == ".")
    if pattern[0] == "**":
        return _fits(parts, pattern[1:]) or (shown and _fits(parts[1:], pattern))
    return shown and fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def _place(name: str) -> tuple[Storage, str]:
    """The bucket of an object's name, and its key there. Raises StorageError."""
    scheme, _, rest = name.partition("://")
    bucket, _, key = rest.partition("/")
    return at(f"{scheme}://{bucket}"), key.strip("/")


def _said(error: OSError) -> str:
    """An error of a store, with the address where it has one."""
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


def printable(name: str) -> str:
    """Return a file's name as outputs have it: bytes that are not UTF-8 become escapes."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def open_file(name: str) -> BinaryIO:
    """Open a file for reading, as stored (not decompressed).

    Args:
        name: A local path, or a name with a scheme.

    Returns:
        The open file.

    Raises:
        OSError: The file cannot be opened.
    """
    if "://" not in name:
        return Path(name).open("rb")
    place, key = _place(name)
    return place.open(key)
