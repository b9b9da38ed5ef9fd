"""Finds URLs, e-mail addresses and @handles in a text. Labels are not searched for inside them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from evenflow.transforms.text.narrow import narrow

# The characters that cannot stand in a URL (RFC 3986, appendix C, and typographic quotation marks).
_URL = re.compile(r"[^\s<>\"“”«»|\\^{}`]+")
_SCHEME = re.compile(r"[\w+.-]")
_LOCAL = re.compile(r"[\w.%+-]")
_DOMAIN = re.compile(r"@[\w-]+(?:\.[\w-]+)+")
# Characters before the @ of an e-mail address (RFC 5321, 4.5.3.1.1). No scheme is as long.
LOCAL_LONGEST = 64
_HANDLE = re.compile(r"@\w+")


def find_links(text: str, raw: bytes | None = None) -> list[tuple[int, int]]:
    """Find URLs (with a scheme or from www.), e-mail addresses and @handles.

    They name a page or an account, which a replaced label would break. A hashtag is not a link.

    `raw`: What `narrow` reads of it; None: it is read here.

    Returns start and end of each link in characters, in order, without overlaps.
    """
    found: list[tuple[int, int]] = []
    done = 0
    for at in sorted(_anchors(narrow(text).raw if raw is None else raw)):
        span = _link(text, at, done) if at >= done else None
        if span is not None:
            found.append(span)
            done = span[1]
    return found


def _anchors(raw: bytes) -> Iterator[int]:
    """Where a link may be."""
    for mark in (b"@", b"://"):
        at = raw.find(mark[:1])  # one rare byte is found ten times as fast as several
        while at >= 0:
            if raw.startswith(mark, at):
                yield at
            at = raw.find(mark[:1], at + 1)
    if len(raw) > 1:
        twos = np.ndarray((len(raw) - 1,), np.dtype("<u2"), raw, strides=(1,))
        for at in (twos == int.from_bytes(b"ww", "little")).nonzero()[0].tolist():
            if raw.startswith(b"www.", at):
                yield at


def _link(text: str, at: int, done: int) -> tuple[int, int] | None:
    """The link at an anchor, or None. Characters before `done` belong to an earlier link."""
    if text[at] == "@":
        start = _back(text, at, done, _LOCAL)
        match = _DOMAIN.match(text, at) if start < at else None
        if match is None and not (at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")):
            start, match = at, _HANDLE.match(text, at)
    elif text[at] == ":":
        start = _back(text, at, done, _SCHEME)
        match = _URL.match(text, at + 3) if start < at else None
    else:
        start = at
        match = (
            None
            if at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")
            else _URL.match(text, at + 4)
        )
    return None if match is None else (start, match.end())


def _back(text: str, at: int, done: int, allowed: re.Pattern[str]) -> int:
    """The start of the run of allowed characters that ends at `at`."""
    least = max(done, at - LOCAL_LONGEST)
    while at > least and allowed.match(text[at - 1]):
        at -= 1
    return at
