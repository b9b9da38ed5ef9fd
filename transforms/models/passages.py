"""Cuts a document into passages for the reader, and says which word pieces a mention has.

A text is divided into cells of equal length. A mention is read in the passage of its cell: the cell
with context on both sides, and the document's first words. So what is said of a mention depends on
the document alone, and one pass serves all mentions of a cell. Of a cell of exchanges only the part
from its first mention to its last is read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evenflow.transforms.models.pieces import CAPITAL

CELL, BEFORE, AFTER = 900, 700, 300  # characters: about 400 word pieces a passage
# Of exchanges: some 240 word pieces, a third less a document than with the cells above. The area is
# as large, 0.958 for 0.956 in the documents that calibrate
WIDE, AHEAD, BEHIND = 1300, 500, 200
OPENING = 120  # characters of the document's beginning before a passage that does not have it
LONGEST = 512  # word pieces of a passage, as many as the encoder has places
# Bits of a piece's type, beside CAPITAL: of a mention, and of the new word that stands behind it
MENTION, NEW = 2, 4
TYPES = 8
FIRST, LAST = 101, 102  # the pieces of BERT's vocabulary around a text

Ints = npt.NDArray[np.int64]


class Place(NamedTuple):
    """A mention in a text.

    Attributes:
        new: The word that an exchange puts there; empty where the groups leave no choice.
    """

    start: int
    end: int
    new: str = ""


class Passage(NamedTuple):
    """What the encoder reads at once.

    Attributes:
        ids: n word pieces, (n,).
        types: Their types, (n,): `CAPITAL`, `MENTION`, `NEW` as bits.
        own: Indices of the places that are judged here.
        spans: By index of a place in the passage, judged here or not: its pieces and those of its
            new word (first, last + 1). A place that does not fit is missing.
    """

    ids: Ints
    types: Ints
    own: list[int]
    spans: dict[int, tuple[int, int]]


class Excerpt(NamedTuple):
    """The part of a document that the passage of a cell is made of.

    Attributes:
        text: The document's first words, and the text around the cell.
        low: Where the passage begins in it, see `passage`.
        skipped: The number of characters left out before `low`.
    """

    text: str
    low: int
    high: int
    skipped: int


def excerpt(text: str, cell: int) -> Excerpt:
    """Cut what the passage of a cell needs out of a document.

    Returns:
        The excerpt. Its passage is that of the document if places move along.
    """
    low, high = max(0, cell * CELL - BEFORE), (cell + 1) * CELL + AFTER
    skipped = max(0, low - OPENING)
    return Excerpt(
        text[: low - skipped] + text[low : high + 1], low - skipped, high - skipped, skipped
    )


def of_cell(model: Any, text: str, places: Sequence[Place], cell: int) -> Passage:
    """Cut the passage of a cell of exchanges, `WIDE` characters in which a place begins."""
    first, last = (bisect_left(places, each * WIDE, key=_start) for each in (cell, cell + 1))
    low, high = max(0, places[first].start - AHEAD), places[last - 1].end + BEHIND
    return passage(model, text, low, high, places, range(first, last))


def passage(
    model: Any, text: str, low: int, high: int, places: Sequence[Place], own: Iterable[int]
) -> Passage:
    """Make one passage.

    Args:
        low: First character; the passage begins with the next word.
        high: Character after the last; the passage ends with the word before.
        own: Indices of the places that are judged here.
    """
    if low:
        low = max(low, text.find(" ", low, low + 40) + 1)
    if high < len(text):
        high = max(text.rfind(" ", high - 40, high), high - 40)
    ids, types = [FIRST], [0]
    if low:
        ahead, kinds, _ = _pieces(model, text[: min(OPENING, low)])
        ids += [*ahead, LAST]
        types += [*kinds, 0]
    found, kinds, starts = _pieces(model, text[low:high])
    spans: dict[int, tuple[int, int]] = {}
    at = 0
    for number in range(*(bisect_left(places, each, key=_start) for each in (low, high))):
        first, last = (bisect_left(starts, each - low, at) for each in places[number][:2])
        last = max(first + 1, last)
        new = _pieces(model, places[number].new)[0] if places[number].new else []
        if last > len(found) or len(ids) + last - at + len(new) >= LONGEST:
            break
        begin = len(ids) + first - at
        ids += [*found[at:last], *new]
        types += [*kinds[at:first], *(each | MENTION for each in kinds[first:last])]
        types += [NEW] * len(new)
        spans[number] = (begin, len(ids))
        at = last
    room = LONGEST - 1 - len(ids)
    ids += [*found[at : at + room], LAST]
    types += [*kinds[at : at + room], 0]
    return Passage(
        np.array(ids, np.int64),
        np.array(types, np.int64),
        list(own),
        spans,
    )


def _start(place: Place) -> int:
    return place.start


def _pieces(model: Any, text: str) -> tuple[list[int], list[int], list[int]]:
    """The pieces of a text: their numbers, types and first characters."""
    clean = text.encode("utf-8", "replace").decode("utf-8")  # as many characters as before
    found = model.encode(clean, add_special_tokens=False)
    starts = [start for start, _ in found.offsets]
    return found.ids, [CAPITAL * clean[start].isupper() for start in starts], starts
