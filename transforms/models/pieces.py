"""Word pieces for the encoder, each with what lower case loses and whether it is changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from evenflow.transforms.models.marking import BETWEEN, CLOSE, OPEN

LONGEST = 160  # word pieces read of a text: more than a marked window has
MOST_LETTERS = LONGEST * 16  # characters read: no text has so many to a word piece
CAPITAL, CHANGED = 1, 2  # bits of a piece's type
_PLAIN = f"[^{re.escape(OPEN + BETWEEN + CLOSE)}]*"
CHANGE = re.compile(f"{re.escape(OPEN)}({_PLAIN}){re.escape(BETWEEN)}({_PLAIN}){re.escape(CLOSE)}")


@dataclass(frozen=True)
class Pieces:
    """The n word pieces of a text; the first and the last are the tokenizer's own marks.

    Attributes:
        ids: Their numbers, (n,).
        types: Their types, (n,): `CAPITAL` and `CHANGED` as bits.
        places: Their characters, (n,) pairs; (0, 0) for the tokenizer's own.
    """

    ids: list[int]
    types: list[int]
    places: list[tuple[int, int]]


class Tokenizer:
    """Cuts texts into word pieces.

    Args:
        model: A tokenizer of the package `tokenizers` that lower-cases words.
        first: The number of the piece before every text.
        unknown: The number of the piece that stands for words which it does not know.
    """

    def __init__(self, model: Any, first: int, last: int, unknown: int):
        self._model, self._first, self._last, self.unknown = model, first, last, unknown

    def pieces(self, text: str) -> Pieces:
        """Cut a text into word pieces.

        Args:
            text: The text; lone surrogates are allowed.

        Returns:
            At most `LONGEST` pieces.
        """
        # The tokenizer takes only valid Unicode, without lone surrogates.
        clean = text[:MOST_LETTERS].encode("utf-8", "replace").decode("utf-8")
        found = self._model.encode(clean, add_special_tokens=False)
        ids, offsets, words = (
            each[: LONGEST - 2] for each in (found.ids, found.offsets, found.word_ids)
        )
        changed = [match.span() for match in CHANGE.finditer(clean)]
        types: list[int] = []
        last_word, type_ = None, 0
        for (start, _), word in zip(offsets, words, strict=True):
            if word != last_word:  # a word's pieces have the type of its first letter
                while changed and changed[0][1] <= start:
                    changed.pop(0)
                within = bool(changed) and changed[0][0] <= start
                type_ = CAPITAL * clean[start].isupper() + CHANGED * within
                last_word = word
            types.append(type_)
        return Pieces([self._first, *ids, self._last], [0, *types, 0], [(0, 0), *offsets, (0, 0)])
