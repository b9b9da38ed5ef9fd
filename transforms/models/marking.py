"""Marks the changes of an exchange in its text, for a model or a person to read.

    The [king|queen] of Spain and [his|her] sons waved.

One string holds the paragraph before and after, in little more than half of the tokens that both
would take.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

OPEN, BETWEEN, CLOSE = "[", "|", "]"
GAP = " … "  # between two stretches of a text that are not neighbours
# Characters of context before the first and after the last sentence that changes
BEFORE, AFTER = 140, 60
LONGEST = 420  # characters of one window: about 100 tokens
MOST = 3  # windows of an exchange: further changes mostly repeat what these show

WORD = re.compile(r"\S")

Span = tuple[int, int]
Change = tuple[int, int, str]


def make_windows(text: str, changes: Sequence[Change], sentences: Sequence[Span]) -> list[str]:
    """Make the marked windows of an exchange.

    Args:
        changes: (start, end, replacement) in characters, in order, without overlaps.
        sentences: (start, end) of the sentences that have a change, in order.

    Returns:
        Neighbouring sentences with their context: at least one window for a change, at most `MOST`.
    """
    out: list[str] = []
    first = 0
    while first < len(sentences) and len(out) < MOST:
        last = first
        start = sentences[first][0]
        while (
            last + 1 < len(sentences)
            and sentences[last + 1][1] - start <= LONGEST - BEFORE
            and (sentences[last + 1][0] - sentences[last][1] <= AFTER)
        ):
            last += 1
        end = sentences[last][1]
        own = [each for each in changes if start <= each[0] < end]
        if own:
            low, high = _around(text, start, end, own)
            # Changes in the context are marked too, or half an exchange would be judged.
            within = [(a - low, b - low, word) for a, b, word in changes if low <= a and b <= high]
            out.append(mark_changes(text[low:high], within))
        first = last + 1
    return out


def mark_changes(text: str, changes: Sequence[Change]) -> str:
    """Mark the changes of a text.

    `changes`: (start, end, replacement) in characters, in order, without overlaps.
    """
    parts: list[str] = []
    at = 0
    for start, end, replacement in changes:
        parts += (text[at:start], OPEN, text[start:end], BETWEEN, replacement, CLOSE)
        at = end
    parts.append(text[at:])
    return " ".join("".join(parts).split())


def _around(text: str, start: int, end: int, changes: Sequence[Change]) -> Span:
    """Where a window begins and ends: whole words, of a long sentence those around its changes."""
    if end - start > LONGEST:
        start = max(start, changes[0][0] - LONGEST // 2)
        end = min(end, start + LONGEST)
    low, high = max(0, start - BEFORE), min(len(text), end + AFTER)
    if low:
        low = text.find(" ", low, start) + 1 or start
    if WORD.search(text, high) is not None:  # the blank at a text's end says nothing
        high = max(text.rfind(" ", end, high), end)
    return low, max(high, min(changes[0][1], len(text)))
