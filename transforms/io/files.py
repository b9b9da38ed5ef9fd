"""Finds files and opens them. The name says the format (`formats`)."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO

from evenflow.schemas.errors import FAILED, USAGE, EvenflowError
from evenflow.schemas.output import META
from evenflow.schemas.plugins import READERS, declared
from evenflow.transforms.io.formats import ENDS
from evenflow.transforms.storage.storage import Storage, Stored, at

RECORD_BYTES = 32 << 20  # a longer record is not held in memory; its beginning is a dead letter


class InputError(EvenflowError, ValueError):
    """Nothing to read, or not readable; the message names the pattern or the file."""

    status = USAGE


class UnreadableError(InputError):
    """A file that exists but cannot be opened, or a store that cannot be listed."""

    status = FAILED


def match(
    patterns: Sequence[str], on_output: Callable[[str], object] = lambda folder: None
) -> dict[str, int]:
    """Find the files of all patterns, with their sizes.

    Args:
        patterns: Paths, folders and globs, as for `find`.
        on_output: As for `find`.

    Returns:
        The size as stored, in bytes, by the file's name.

    Raises:
        InputError: A pattern has no file, or a file cannot be opened.
    """
    return {name: each.bytes for name, each in find(patterns, on_output).items()}


def find(
    patterns: Sequence[str], on_output: Callable[[str], object] = lambda folder: None
) -> dict[str, Stored]:
    """Find the files of all patterns; a file with several names counts once.

    Local paths become absolute. Globs mean the same in an object store as in a local folder. The
    output of a run is left out, unless a pattern names a folder of it, such as OUTPUT/accepted.

    Args:
        patterns: Paths, folders and globs, local or in an object store (s3://, gs://, az://).
        on_output: Called with each output that is left out.

    Returns:
        The files' stored facts by name, sorted by name.

    Raises:
        InputError: A pattern has no file, a file cannot be opened, or a store cannot be listed.
    """
    found: dict[str, Stored] = {}
    outputs: set[str] = set()
    for pattern in patterns:
        files, is_output = _in_store(pattern) if "://" in pattern else _local(pattern)
        if not files:
            known = ", ".join([*ENDS, *(f".{name}" for name in sorted(declared(READERS)))])
            raise InputError(f"{pattern}: no file matches; formats are {known}")
        within = {name: _output_of(name, pattern, is_output) for name in files}
        outputs.update(filter(None, within.values()))
        found.update({name: each for name, each in files.items() if within[name] is None})
    for folder in sorted(outputs):
        on_output(folder)
    if not found:
        raise InputError(
            f"{', '.join(patterns)}: nothing there but outputs of runs, which are left out; name a"
            f" folder to read it, such as {min(outputs)}/accepted"
        )
    real: dict[str, str] = {}  # a link and its target are one file
    for name, path in real_paths(sorted(found)):
        real.setdefault(path, name)
    return {name: found[name] for name in real.values()}


def real_paths(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Follow the links in names; those of a folder once, since many files may be in it.

    Args:
        names: The files' names; local ones are absolute.

    Yields:
        Each name, and the file's path without links; an object's name as it is.
    """
    folders: dict[str, str] = {}
    for name in names:
        folder, _, file = name.rpartition("/")
        if "://" in name:
            yield name, name
        elif os.path.islink(name):  # noqa: PTH114 (a Path takes five times as long)
            yield name, os.path.realpath(name)
        else:
            if folder not in folders:
                folders[folder] = os.path.realpath(f"{folder}/").rstrip("/")
            yield name, f"{folders[folder]}/{file}"


def left_out(output: str) -> str:
    """Say that an output was found in the input and is not read."""
    return (
        f"{output}: the output of a run is left out of the input; name a folder of it, such as"
        f" {output}/accepted, to read it"
    )


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


def _plain(parts: Sequence[str]) -> list[str]:
    """The parts of a pattern before the first wildcard."""
    return list(takewhile(lambda part: glob.escape(part) == part, parts))


def beginning(pattern: str) -> str:
    """Return a pattern's part before its first wildcard; of a folder with a slash at its end."""
    plain = "/".join(_plain(absolute(pattern.rstrip("/")).split("/")))
    return plain if plain.endswith(_formats(plain)) else f"{plain}/"


def _formats(pattern: str) -> tuple[str, ...]:
    """How the names of a pattern's files end: a plug-in's format is read where it is named."""
    if pattern.endswith(ENDS) or "." not in pattern.rpartition("/")[2]:
        return ENDS
    return *ENDS, *(end for name in declared(READERS) if pattern.endswith(end := f".{name}"))


def _output_of(name: str, pattern: str, is_output: Callable[[str], bool]) -> str | None:
    """The output that a file is part of; None where there is none, or the pattern names its folder.

    A pattern that names a folder above the output means what lies beside it.
    """
    parts = name.split("/")
    asked = parts if name == absolute(pattern) else absolute(pattern.rstrip("/")).split("/")
    plain = asked if name.startswith("/".join([*asked, ""])) else _plain(asked)
    deep = asked.index("**") if "**" in asked else len(asked)
    for depth in range(len(plain), len(parts)):
        folder = "/".join(parts[:depth])
        if parts[depth] not in asked[min(depth, deep) :] and is_output(folder):
            return folder
    return None


def _local(pattern: str) -> tuple[dict[str, Stored], Callable[[str], bool]]:
    """A pattern's files on this machine, and whether a folder there is an output."""
    names = [pattern] if Path(pattern).exists() else glob.glob(pattern, recursive=True)  # noqa: PTH207 (absolute ones too)
    found, formats = dict[str, Stored](), _formats(pattern)
    for name in map(absolute, names):
        for path in _below(name) if Path(name).is_dir() else [name]:
            if path.endswith(formats) and os.path.isfile(path):  # noqa: PTH113 (as above)
                try:
                    with open_file(path) as file:
                        stat = os.fstat(file.fileno())
                        sign = f"{stat.st_ino}-{stat.st_ctime_ns}"
                        found[path] = Stored(path, stat.st_size, stat.st_mtime_ns, sign)
                except OSError as error:
                    raise UnreadableError(f"{path}: cannot be opened: {error.strerror}") from error
    return found, lru_cache(None)(lambda folder: (Path(folder) / META).is_file())


def _below(folder: str) -> Iterator[str]:
    """The files below a folder; links to folders are not followed."""
    for within, _, names in os.walk(folder):
        yield from (f"{within.rstrip('/')}/{name}" for name in names)


def _in_store(pattern: str) -> tuple[dict[str, Stored], Callable[[str], bool]]:
    """A pattern's objects in a store, and whether a folder there is an output.

    Only what is below the pattern's plain beginning is listed.
    """
    try:
        place, key = _place(pattern)
        alone = place.stat(key) if key else None
        every = listed = [alone] if alone else list(place.tree(key))  # an object, or a folder
        if not listed:
            parts = key.split("/")
            plain = _plain(parts)
            every = list(place.tree("/".join(plain)))
            listed = [
                each
                for each in every
                if _fits(each.name.split("/")[len(plain) :], parts[len(plain) :])
            ]
    except OSError as error:
        raise UnreadableError(_said(error)) from error
    formats = _formats(pattern)
    found = {place.address(each.name): each for each in listed if each.name.endswith(formats)}
    ledgers = {place.address(each.name) for each in every if each.name.endswith(META)}
    return found, lambda folder: f"{folder}/{META}" in ledgers


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
        return open(name, "rb")  # noqa: PTH123 (as above)
    place, key = _place(name)
    return place.open(key)
