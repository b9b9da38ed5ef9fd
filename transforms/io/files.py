"""Finds files and opens them.

The name says the format: .jsonl, .jsonl.gz, .jsonl.zst (one record a line), .parquet (one record a
row), .txt (one record a file).
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, NamedTuple

FORMATS = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet", ".txt")
SEEKABLE = ".jsonl"  # the format in which a reader may begin at a record's byte


class InputError(ValueError):
    """Nothing to read, or not readable; the message names the pattern or the file."""


class Stored(NamedTuple):
    """Facts about a file that are known without reading it.

    Attributes:
        bytes: Its size as stored, in bytes.
        modified: When it was changed, in nanoseconds since 1970; None if its file system does not
            say.
    """

    bytes: int
    modified: int | None


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

    Local paths are looked up directly and become absolute. Beam's file systems look up the others
    (gs://, s3://, hdfs://).

    Args:
        patterns: Paths, folders and globs.

    Returns:
        The files' stored facts by name, sorted by name.

    Raises:
        InputError: A pattern has no file, or a file cannot be opened.
    """
    found: dict[str, Stored] = {}
    for pattern in patterns:
        files = _remote(pattern) if "://" in pattern else _local(pattern)
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
                        found[path] = Stored(stat.st_size, stat.st_mtime_ns)
                except OSError as error:
                    raise InputError(f"{path}: cannot be opened: {error.strerror}") from error
    return found


def _remote(pattern: str) -> dict[str, Stored]:
    """Find a pattern's files on a remote file system."""
    # Imported here: Beam takes a second to import, and local files do not need it.
    from apache_beam.io.filesystem import BeamIOError
    from apache_beam.io.filesystems import FileSystems

    found: dict[str, Stored] = {}
    try:
        results = FileSystems.match([pattern]) + FileSystems.match([pattern.rstrip("/") + "/**"])
    except (BeamIOError, ValueError) as error:
        raise InputError(f"{pattern}: {error}") from error
    for meta in (meta for result in results for meta in result.metadata_list):
        if meta.path.endswith(FORMATS):
            found[meta.path] = Stored(
                meta.size_in_bytes, round(meta.last_updated_in_seconds * 1e9) or None
            )
    return found


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
    from apache_beam.io.filesystem import CompressionTypes
    from apache_beam.io.filesystems import FileSystems

    return FileSystems.open(name, compression_type=CompressionTypes.UNCOMPRESSED)
