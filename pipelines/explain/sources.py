"""Where the texts come from that are explained: a file, standard input, rows of Parquet."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import orjson

from evenflow.pipelines.explain.document import too_long
from evenflow.schemas.config import Config
from evenflow.transforms.io.files import InputError


def whole(stream: BinaryIO, file: str, most: int) -> str:
    """Read a text.

    Args:
        stream: Its bytes, in UTF-8.
        most: Most characters of a text.

    Raises:
        InputError: It is not UTF-8, or too long.
    """
    raw = stream.read(4 * most + 1)  # UTF-8 takes four bytes a character at most
    try:
        is_whole = len(raw) <= 4 * most  # else it ends anywhere, and is refused below
        text = raw.decode("utf-8-sig", "strict" if is_whole else "replace")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: invalid UTF-8 at byte {error.start}") from error
    if reason := too_long(text, most):
        raise InputError(f"{file}: {reason}")
    return text


def rows(names: Iterable[str], file: str, config: Config, identity: str | None) -> Iterator[bytes]:
    """Read the documents of Parquet files as JSON lines.

    Args:
        names: The files.
        file: What the user calls them.
        identity: Only the document of this id; None: all.

    Yields:
        A JSON object with id and text.

    Raises:
        InputError: The file cannot be read, or has no such document.
    """
    # Arrow takes a while, which a text need not wait for
    from evenflow.transforms.io.blocks import read_blocks
    from evenflow.transforms.io.records import validate

    is_there = False
    for block in (each for name in names for each in read_blocks(name)):
        read = validate(block, config, frozenset(), keep_fields=False)
        for own, text in zip(read.ids, read.texts, strict=True):
            if identity in (None, own):
                is_there = True
                yield orjson.dumps({"id": own, "text": text})
    if not is_there and identity is not None:
        raise InputError(f"--id: {file} has no document {identity!r}")


@contextmanager
def opened(file: str) -> Iterator[BinaryIO]:
    """Open a file, or standard input for -.

    Yields:
        Its bytes.

    Raises:
        InputError: It cannot be opened.
    """
    if file == "-":
        if sys.stdin.isatty():
            print("evenflow: reading from the terminal; end with Ctrl-D", file=sys.stderr)
        yield sys.stdin.buffer
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115 (closed below; a failure to read is another error)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{file}: cannot be opened: {reason}") from error
    with stream:
        yield stream
