"""Cuts the bytes of a file into lines: of JSON, and of CSV, whose fields may hold line breaks."""

from __future__ import annotations

import csv
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Index = npt.NDArray[np.int64]
BOM = b"\xef\xbb\xbf"  # some writers begin a UTF-8 file with it
csv.field_size_limit(1 << 30)  # a record's own limit is less (files.RECORD_BYTES)


class PlainLines:
    """Lines that a line break always ends. Chunks of a file are cut in their order."""

    def ends(self, chunk: bytes) -> Index:
        """Where lines end in the next chunk, (n,)."""
        return (np.frombuffer(chunk, np.uint8) == ord("\n")).nonzero()[0]

    def split(self, chunk: bytes) -> list[bytes]:
        """The next chunk at the ends of its lines: n + 1 parts."""
        return chunk.split(b"\n")


class CsvLines(PlainLines):
    """Lines of CSV: a line break between two quotes is part of a field (RFC 4180, 2.6)."""

    def __init__(self) -> None:
        self._inside = 0  # whether the chunks so far end between two quotes

    def ends(self, chunk: bytes) -> Index:
        """Where lines end in the next chunk, (n,)."""
        every = super().ends(chunk)
        quotes = (np.frombuffer(chunk, np.uint8) == ord('"')).nonzero()[0]
        before = np.searchsorted(quotes, every) + self._inside
        self._inside = (self._inside + len(quotes)) % 2
        return every[before % 2 == 0]

    def split(self, chunk: bytes) -> list[bytes]:
        """The next chunk at the ends of its lines: n + 1 parts."""
        edges = [-1, *self.ends(chunk).tolist(), len(chunk)]
        return [chunk[begin + 1 : end] for begin, end in pairwise(edges)]


def fields(line: bytes) -> list[str]:
    """The fields of a line of CSV; none of a blank line.

    Raises:
        UnicodeDecodeError: It is not UTF-8.
        csv.Error: It is no CSV, or a field is too long.
    """
    return next(csv.reader([line.decode()], strict=True), [])


@lru_cache(maxsize=4)
def header_fields(line: bytes) -> tuple[str, ...]:
    """The fields of a file's first line. Raises as `fields` does."""
    return tuple(fields(line.removeprefix(BOM)))
