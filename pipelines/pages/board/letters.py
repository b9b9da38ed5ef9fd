"""Dead letters of a pane, with their raw bytes as text that cannot do anything."""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO

import orjson

from evenflow.pipelines.pages.report.files import open_named
from evenflow.transforms.storage.storage import Storage

PAGE = 20  # letters of a page
SHOWN = 2000  # bytes of a record that are shown
LINE = 16 << 20  # bytes of a line that are read: a record is cut below that


def letters(storage: Storage, name: str, page: int) -> list[dict[str, Any]]:
    """Read dead letters: of each file, ordinal, reason, bytes, raw (its beginning), and cut."""
    with open_named(storage, "dead-letter", name) as file:
        return [_letter(line) for line in islice(_lines(file), page * PAGE, (page + 1) * PAGE)]


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, of a longer one its beginning."""
    reader = io.BufferedReader(file) if isinstance(file, io.RawIOBase) else file
    while line := reader.readline(LINE):
        yield line
        while not line.endswith(b"\n") and (line := reader.readline(LINE)):
            pass


def _letter(line: bytes) -> dict[str, Any]:
    r"""The letter in a line; a byte that is not UTF-8 is `\xNN`."""
    found = {"file": "", "ordinal": "", "reason": "this line is no dead letter"}
    raw, size = line, len(line)
    try:
        read: Any = orjson.loads(line)
        raw, size = base64.b64decode(read["raw_base64"], validate=True), int(read["bytes"])
        found = {key: str(read[key]) for key in found}
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, binascii.Error):
        raw, size = line, len(line)
    shown = raw[:SHOWN].decode("utf-8", "backslashreplace")
    return {**found, "bytes": size, "raw": shown, "cut": size > min(len(raw), SHOWN)}
