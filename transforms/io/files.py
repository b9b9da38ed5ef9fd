"""Finds files and opens them. The name says the format (`formats`)."""

from __future__ import annotations

import glob
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, NamedTuple

from evenflow.schemas.errors import FAILED, UsageError
from evenflow.schemas.ledger import META
from evenflow.schemas.plugins import READERS, declared
from evenflow.transforms.io import formats
from evenflow.transforms.storage.storage import Storage, Stored, at

MOST_ENDINGS = 20  # that are counted each; all others are one
LONGEST_ENDING = 16  # characters that are kept of an ending
RECORD_BYTES = 32 << 20  # a longer record is not held in memory; its beginning is a dead letter


class InputError(UsageError):
    """Nothing to read, or not readable; the message names the pattern or the file."""


class UnreadableError(InputError):
    """A file that exists but cannot be opened, or a store that cannot be listed."""

    status = FAILED


class Found(NamedTuple):
    """What patterns name.

    Attributes:
        files: The stored facts of the files that can be read, by name, sorted by name.
        outputs: The outputs of runs that are left out.
        unread: How many files nothing reads, by how their names end.
    """

    files: dict[str, Stored]
    outputs: list[str]
    unread: dict[str, int]

    @property
    def said(self) -> list[str]:
        """What is left out, in words."""
        return [*map(left_out, self.outputs), *([unread(self.unread)] if self.unread else [])]


def match(
    patterns: Sequence[str], strict: bool = False, note: Callable[[str], object] = warnings.warn
) -> dict[str, int]:
    """Find the files of all patterns, with their sizes.

    Args:
        patterns: Paths, folders and globs, as for `find`.
        strict: Whether a file that nothing reads is an error.
        note: Called with each thing that is left out, in words.

    Returns:
        The size as stored, in bytes, by the file's name.

    Raises:
        InputError: A pattern has no file, or a file cannot be opened.
    """
    found = find(patterns, strict)
    for text in found.said:
        note(text)
    return {name: each.bytes for name, each in found.files.items()}


def find(patterns: Sequence[str], strict: bool = False) -> Found:
    """Find the files of all patterns; a file with several names counts once.

    Local paths become absolute. Globs mean the same in an object store as in a local folder. What
    is hidden or temporary is no input. The output of a run is left out. Both are read where a
    pattern names them, such as OUTPUT/accepted.

    Args:
        patterns: Paths, folders and globs, local or in an object store (s3://, gs://, az://).
        strict: Whether a file that nothing reads is an error.

    Raises:
        InputError: A pattern has no file, a file cannot be opened, or a store cannot be listed.
    """
    found: dict[str, Stored] = {}
    outputs: set[str] = set()
    unknown: Counter[str] = Counter()
    for pattern in patterns:
        every, is_output = _in_store(pattern) if "://" in pattern else _local(pattern)
        is_known, files = _known(pattern), 0
        asked = absolute(pattern.rstrip("/")).split("/")
        for name, stored in every.items():
            beyond = _beyond(name, asked)
            if any(hidden and _is_hidden(part) for part, _, hidden in beyond):
                continue
            if is_known(name):
                files += 1
            output = next((each for _, each, _ in beyond if each and is_output(each)), None)
            if output is not None:
                outputs.update([output] * is_known(name))
            elif is_known(name):
                found[name] = stored()
            else:
                unknown[formats.ending(name)[:LONGEST_ENDING]] += 1
        if not files:
            own = [formats.KNOWN, *(f".{name}" for name in sorted(declared(READERS)))]
            there = f"; {unread(_most(unknown))}" if unknown else ""
            raise InputError(f"{pattern}: no file matches{there}; formats are {', '.join(own)}")
    if not found:
        raise InputError(
            f"{', '.join(patterns)}: nothing there but outputs of runs, which are left out; name a"
            f" folder to read it, such as {min(outputs)}/accepted"
        )
    counts = _most(unknown)
    if strict and counts:
        raise InputError(f"{', '.join(patterns)}: {unread(counts)}; strict_input is set")
    real: dict[str, str] = {}  # a link and its target are one file
    for name, path in real_paths(sorted(found)):
        real.setdefault(path, name)
    return Found({name: found[name] for name in real.values()}, sorted(outputs), counts)


def _most(unknown: Counter[str]) -> dict[str, int]:
    """The most frequent endings; the others together."""
    counts = dict(unknown.most_common(MOST_ENDINGS))
    rest = unknown.total() - sum(counts.values())
    return counts | ({"others": rest} if rest else {})


def unread(counts: Mapping[str, int]) -> str:
    """Say how many files nothing reads, by how their names end."""
    total, most_first = sum(counts.values()), Counter(counts).most_common()
    each = ", ".join(f"{count:,} {end or 'without an ending'}" for end, count in most_first)
    return f"{total:,} {'file is' if total == 1 else 'files are'} left out, as no format: {each}"


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
    return plain if _known(plain)(plain) else f"{plain}/"


def _known(pattern: str) -> Callable[[str], bool]:
    """Whether a pattern's file can be read: a plug-in's format is read where it is named."""
    own = tuple(end for name in declared(READERS) if pattern.endswith(end := f".{name}"))
    return lambda name: formats.shipped(name) is not None or name.endswith(own)


def _beyond(name: str, asked: list[str]) -> list[tuple[str, str, bool]]:
    """The parts of a file's name that a pattern does not name.

    `asked`: The pattern's parts. One that names a folder above an output means what lies beside it.

    Returns each part; the folder that it is in, where this may be an output that was not asked for,
    else empty; and whether the pattern did not ask for what is hidden.
    """
    parts = name.split("/")
    plain = asked if name.startswith("/".join([*asked, ""])) else _plain(asked)
    deep = asked.index("**") if "**" in asked else len(asked)
    found = list[tuple[str, str, bool]]()
    for depth in range(len(plain), len(parts)):
        part, one = parts[depth], asked[depth] if depth < deep else ""
        may_be = part not in asked[min(depth, deep) :]
        found.append((part, "/".join(parts[:depth]) if may_be else "", one[:1] != part[:1]))
    return found


def _is_hidden(part: str) -> bool:
    """Whether a file or folder is hidden or temporary, as Spark and Arrow see it."""
    return (
        part.startswith(".")
        or (part.startswith("_") and "=" not in part)  # a partition's folder has a =
        or part.lower().endswith((".tmp", "~"))
    )


# What finds the stored facts of each file, by its name; and whether a folder is an output
Listed = tuple[dict[str, Callable[[], Stored]], Callable[[str], bool]]


def _local(pattern: str) -> Listed:
    """A pattern's files on this machine, and whether a folder there is an output."""
    names = [pattern] if Path(pattern).exists() else glob.glob(pattern, recursive=True)  # noqa: PTH207 (absolute ones too)
    found = {
        path: partial(_stat, path)
        for name in map(absolute, names)
        for path in (_below(name) if Path(name).is_dir() else [name])
        if os.path.isfile(path)  # noqa: PTH113 (a Path takes five times as long)
    }
    return found, lru_cache(None)(lambda folder: (Path(folder) / META).is_file())


def _stat(path: str) -> Stored:
    """What is known of a file. Raises UnreadableError."""
    try:
        with open_file(path) as file:
            stat = os.fstat(file.fileno())
    except OSError as error:
        raise UnreadableError(f"{path}: cannot be opened: {error.strerror}") from error
    return Stored(path, stat.st_size, stat.st_mtime_ns, f"{stat.st_ino}-{stat.st_ctime_ns}")


def _itself(stored: Stored) -> Stored:
    """What a listing says of an object."""
    return stored


def _below(folder: str) -> Iterator[str]:
    """The files below a folder; links to folders are not followed, nor hidden folders."""
    for within, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if not _is_hidden(each)]
        yield from (f"{within.rstrip('/')}/{name}" for name in names)


def _in_store(pattern: str) -> Listed:
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
    ledgers = {place.address(each.name) for each in every if each.name.endswith(META)}
    named = {place.address(each.name): partial(_itself, each) for each in listed}
    return named, lambda folder: f"{folder}/{META}" in ledgers


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

    Raises:
        OSError: The file cannot be opened.
    """
    if "://" not in name:
        return open(name, "rb")  # noqa: PTH123 (as above)
    place, key = _place(name)
    return place.open(key)
