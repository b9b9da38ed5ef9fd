"""What the encoder reads of a text: word pieces, and of each what is lost in small letters, and
whether it is changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from evenflow.transforms.models.marking import BETWEEN, CLOSE, OPEN

LONGEST = 160  # word pieces read of a text: more than a marked window has
MOST_LETTERS = LONGEST * 16  # characters looked at; no text has as many to a word piece
CAPITAL, CHANGED = 1, 2  # bits of a piece's type
TYPES = 4
_PLAIN = f"[^{re.escape(OPEN + BETWEEN + CLOSE)}]*"
CHANGE = re.compile(f"{re.escape(OPEN)}({_PLAIN}){re.escape(BETWEEN)}({_PLAIN}){re.escape(CLOSE)}")


@dataclass(frozen=True)
class Pieces:
    """Word pieces of a text: their numbers and types, both (n,), the first and the last being the
    tokenizer's own marks.
    """

    ids: list[int]
    types: list[int]


class Tokenizer:
    """Cuts texts into word pieces.

    Args: model: A tokenizer of the package `tokenizers`, of words in small letters, whose marks are
        first and last. first: The number of the piece before every text. last: The number of the
        piece after it.
    """

    def __init__(self, model: Any, first: int, last: int):
        self._model, self._first, self._last = model, first, last

    def pieces(self, text: str) -> Pieces:
        """The pieces of a text, at most LONGEST."""
        # Lone surrogates are no Unicode text.
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
        return Pieces([self._first, *ids, self._last], [0, *types, 0])
