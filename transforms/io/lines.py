"""Cuts the bytes of a file into lines: of JSON, also of an array, and of CSV.

A line is what one byte ends: a line break, or in an array a comma. A record of CSV or of an array
may hold line breaks.
"""

from __future__ import annotations

import csv
import re
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import orjson

Index = npt.NDArray[np.int64]
BOM = b"\xef\xbb\xbf"  # some writers begin a UTF-8 file with it
csv.field_size_limit(1 << 30)  # a record's own limit is less (files.RECORD_BYTES)


class PlainLines:
    """Lines that a line break always ends. Chunks of a file are cut in their order."""

    @property
    def missing(self) -> str:
        """What the contents that were cut so far lack at their end."""
        return ""

    def ends(self, chunk: bytes) -> Index:
        """Where lines end in the next chunk, (n,)."""
        return (np.frombuffer(chunk, np.uint8) == ord("\n")).nonzero()[0]

    def split(self, chunk: bytes) -> list[bytes]:
        """The next chunk at the ends of its lines: n + 1 parts."""
        return chunk.split(b"\n")


class _Cut(PlainLines):
    """Lines that are cut where a subclass says."""

    def split(self, chunk: bytes) -> list[bytes]:
        """The next chunk at the ends of its lines: n + 1 parts."""
        edges = [-1, *self.ends(chunk).tolist(), len(chunk)]
        return [chunk[begin + 1 : end] for begin, end in pairwise(edges)]


class CsvLines(_Cut):
    """Lines of CSV: a line break within quotes is part of a field (RFC 4180, 2.6).

    A quote begins such a part at a field's beginning only; within a field it is a character.
    """

    def __init__(self, delimiter: bytes = b",") -> None:
        # The quote comes first in the pattern, since a search for one byte is fast
        self._quoted = re.compile(rb'"(?<![^\n' + delimiter + rb']")[^"]*(?:""[^"]*)*("|\Z)')
        self._beginnings = b"\n" + delimiter
        self._before = b"\n"  # stands for the chunks so far

    @property
    def missing(self) -> str:
        """What the contents that were cut so far lack at their end."""
        return "the end of a field in quotes" if self._before == b'"' else ""

    def ends(self, chunk: bytes) -> Index:
        """Where lines end in the next chunk, (n,)."""
        text = self._before + chunk
        last, edges = None, list[int]()
        for last in self._quoted.finditer(text):
            edges += last.span()
        if last is not None and last.end() == len(text):  # the next chunk may go on with a quote
            self._before = b'""' if last[1] else b'"'
        elif chunk:
            self._before = chunk[-1:] if chunk[-1] in self._beginnings else b"x"
        every = super().ends(text)
        every = every[np.searchsorted(np.array(edges, np.int64), every, side="right") % 2 == 0]
        every -= len(text) - len(chunk)
        return every[every >= 0]


class JsonLines(_Cut):
    """Values of JSON: those of an array, or values that begin at lines of their own.

    Args:
        depth: How many lists and objects are open where the contents begin.
        end: The byte that ends a value.
        level: How many lists and objects are open there.
    """

    STEPS = np.zeros(256, np.int8)
    STEPS[[*b"[{"]], STEPS[[*b"]}"]] = 1, -1

    def __init__(self, depth: int = 0, end: bytes = b",", level: int = 1) -> None:
        self._depth, self._end, self._level = depth, ord(end), level
        self._inside = self._escaped = 0  # whether the chunks so far end in a text, in a backslash

    @staticmethod
    def of(head: bytes, begins: bool) -> PlainLines:
        """What cuts a file that begins with some bytes.

        Args:
            begins: Whether it is cut from its beginning.
        """
        head = head.removeprefix(BOM).lstrip()
        if head[:1] == b"[":
            return JsonLines(0 if begins else 1, b",", 1)
        with suppress(orjson.JSONDecodeError):
            orjson.loads(head.split(b"\n", 1)[0])
            return PlainLines()
        return JsonLines(0, b"\n", 0)

    @property
    def missing(self) -> str:
        """What the contents that were cut so far lack at their end."""
        return "the end of a list or an object" if self._depth > 0 or self._inside else ""

    def ends(self, chunk: bytes) -> Index:
        """Where lines end in the next chunk, (n,)."""
        data = np.frombuffer(chunk, np.uint8)
        slashes = (data == ord("\\")).nonzero()[0]
        if self._escaped and len(slashes) and not slashes[0]:
            slashes = slashes[1:]
        # Of a row of backslashes every second one makes the next byte plain
        first = slashes[np.diff(slashes, prepend=-2) != 1]
        last = slashes[np.diff(slashes, append=len(data) + 1) != 1]
        plain = last[(last - first) % 2 == 0] + 1
        quotes = data == ord('"')
        quotes[plain[plain < len(data)]] = False
        if self._escaped:
            quotes[:1] = False
        if chunk:
            self._escaped = int(len(plain) > 0 and plain[-1] == len(data))
        quotes = quotes.nonzero()[0]
        steps = self.STEPS[data]
        at = ((steps != 0) | (data == self._end)).nonzero()[0]
        at = at[(np.searchsorted(quotes, at) + self._inside) % 2 == 0]
        depths = self._depth + np.cumsum(steps[at], dtype=np.int64)
        self._depth = int(depths[-1]) if len(at) else self._depth
        self._inside = (self._inside + len(quotes)) % 2
        return at[(data[at] == self._end) & (depths == self._level)]


def element(raw: bytes, first: bool) -> bytes:
    """A value of an array without what is around it.

    Args:
        first: Whether it is the array's first.
    """
    raw = raw.strip()
    if first:
        raw = raw.removeprefix(b"[").lstrip()
    return raw if raw[:1] == b"[" else raw.removesuffix(b"]")


def fields(line: bytes, delimiter: str = ",") -> list[str]:
    """The fields of a line of CSV; none of a blank line.

    Raises:
        UnicodeDecodeError: It is not UTF-8.
        csv.Error: It is no CSV, or a field is too long.
    """
    return next(csv.reader([line.decode()], strict=True, delimiter=delimiter), [])


@lru_cache(maxsize=4)
def header_fields(line: bytes, delimiter: str = ",") -> tuple[str, ...]:
    """The fields of a file's first line. Raises as `fields` does."""
    return tuple(fields(line.removeprefix(BOM), delimiter))
