"""Dead letters of a pane, with their raw bytes as text that cannot do anything."""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO

import orjson

from evenflow.pipelines.pages.report.files import open_named
from evenflow.transforms.storage.storage import Storage

PAGE = 20  # letters of a page
SHOWN = 2000  # bytes of a record that are shown
LINE = 16 << 20  # bytes of a line that are read: a record is cut below that


@dataclass(frozen=True)
class Letter:
    r"""A dead letter.

    Attributes:
        file: The file or partition of the record.
        ordinal: Its number or offset there.
        reason: Why it became no document.
        bytes: Its size.
        raw: The beginning of its bytes as text; a byte that is not UTF-8 is `\xNN`.
        cut: Whether there is more than that.
    """

    file: str
    ordinal: str
    reason: str
    bytes: int
    raw: str
    cut: bool


def letters(storage: Storage, name: str, page: int) -> list[Letter]:
    """Read dead letters.

    Args:
        storage: The output.
        name: The file, as the ledger names it.
        page: Which PAGE of them, from 0.

    Returns:
        The letters; none after the last page. A line that is no letter is shown as it is.

    Raises:
        OSError: The file cannot be read.
    """
    with open_named(storage, "dead-letter", name) as file:
        return [_letter(line) for line in islice(_lines(file), page * PAGE, (page + 1) * PAGE)]


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, of a longer one its beginning."""
    reader = io.BufferedReader(file) if isinstance(file, io.RawIOBase) else file
    while line := reader.readline(LINE):
        yield line
        while not line.endswith(b"\n") and (line := reader.readline(LINE)):
            pass


def _letter(line: bytes) -> Letter:
    """The letter in a line."""
    try:
        read: Any = orjson.loads(line)
        raw = base64.b64decode(read["raw_base64"], validate=True)
        size = int(read["bytes"])
        return Letter(
            str(read["file"]), str(read["ordinal"]), str(read["reason"]), size, *_shown(raw, size)
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, binascii.Error):
        return Letter("", "", "this line is no dead letter", len(line), *_shown(line, len(line)))


def _shown(raw: bytes, size: int) -> tuple[str, bool]:
    """The beginning of some bytes as text, and whether there is more."""
    return raw[:SHOWN].decode("utf-8", "backslashreplace"), size > min(len(raw), SHOWN)
