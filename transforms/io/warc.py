"""Reads WARC files (ISO 28500), as crawls leave them, with `warcio` (extra `warc`).

A record of plain text (type conversion, as in the WET files of Common Crawl) becomes a line of JSON
with id, text, url and date. A record of another content, such as the HTML of a response, has no
text: it becomes a dead letter, since a page has to be made into text before it is measured. Records
about the crawl (requests, metadata, revisits) are left out.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any

from evenflow.schemas.errors import USAGE, EvenflowError

ABOUT = {"warcinfo", "request", "metadata", "revisit", "continuation"}
NAMES = {"id": "WARC-Record-ID", "url": "WARC-Target-URI", "date": "WARC-Date"}


class _Faulty:
    """A stream that ends at a fault and keeps it: warcio takes an EOFError for an end."""

    def __init__(self, stream: Any):
        self._stream = stream
        self.fault: Exception | None = None

    def read(self, size: int) -> bytes:
        """Read bytes; none at the end and at a fault."""
        try:
            return b"" if self.fault is not None else self._stream.read(size)
        except (EOFError, zlib.error) as error:
            self.fault = error
            return b""


class NoWarcError(EvenflowError, ImportError):
    """The package that reads WARC files is missing."""

    status = USAGE


def read(stream: Any, most: int) -> Iterator[bytes]:
    """Read the records of a file.

    `most`: The most bytes of a text; a longer one is left out.
    """
    try:
        from warcio.archiveiterator import ArchiveIterator
        from warcio.exceptions import ArchiveLoadFailed
    except ImportError as error:
        raise NoWarcError(
            "to read WARC files, install the extra: pip install 'evenflow[warc]'"
        ) from error
    source = _Faulty(stream)
    try:
        records: Any = ArchiveIterator(source, no_record_parse=True)
        records.INC_RECORD = "a WARC record's length is wrong: byte {}\n"  # else it prints text
        for record in records:
            if record.rec_type not in ABOUT:
                yield _line(record, most)
    except ArchiveLoadFailed as error:
        raise EOFError(str(error).split("\n")[0]) from error
    if source.fault is not None:
        raise source.fault


def _line(record: Any, most: int) -> bytes:
    """A record as a line of JSON; bytes that are not UTF-8 stay, for its dead letter."""
    names = {name: record.rec_headers.get_header(header) for name, header in NAMES.items()}
    size = record.rec_headers.get_header("Content-Length") or ""
    if not size.isdecimal():
        raise EOFError(f"record {names['id']} has no length; the file may be cut off")
    length, content_type = int(size), record.content_type or ""
    if not content_type.startswith("text/plain") or length > most:
        return json.dumps({**names, "content_type": content_type, "bytes": length}).encode()
    data = record.raw_stream.read(length)
    if len(data) < length:
        raise EOFError(f"record {names['id']} is cut off")
    text = data.decode("utf-8", "surrogateescape")
    line = json.dumps({**names, "text": text}, ensure_ascii=False)
    return line.encode("utf-8", "surrogateescape")
