"""Sentence bounds by rules: a terminator, then blanks, then no lower-case letter; and every blank line."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

_END = re.compile(r"[.!?…]+[\"'”’)\]]*\s+(?=[^\sa-z])|\n[ \t\r]*\n\s*")
_TITLES = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Prof|Gen|Sen|Rep|Gov|vs|No|[A-Z]))\.$")


def bounds(text: str) -> npt.NDArray[np.int64]:
    """Offsets (n,) at which sentences begin, the first 0; white space belongs to the sentence before. Empty text: none."""
    if not text:
        return np.zeros(0, np.int64)
    ends = [
        match.end()
        for match in _END.finditer(text)
        if match.end() < len(text)
        and ("\n\n" in match.group() or not _TITLES.search(text, max(0, match.start() - 6), match.start() + 1))
    ]
    return np.array(sorted({0, *ends}), np.int64)


def sentences(text: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence, without white space around; a stretch of white space alone is none."""
    starts = bounds(text).tolist()
    out = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        body = text[start:end]
        if stripped := body.strip():
            begin = start + body.index(stripped[0])
            out.append((begin, begin + len(stripped)))
    return out
