"""The different words of each sentence of a text: what tells without a search that a sentence has nothing of some kind."""

from __future__ import annotations

import re
from collections.abc import Sequence

WORD = re.compile(r"\w+")


class WordSets:
    """The words of a text's sentences, in lower case, each sentence's found once and only if asked for.

    sentences: (start, end) in order.
    """

    def __init__(self, text: str, sentences: Sequence[tuple[int, int]]):
        self._text = text
        self._sentences = sentences
        self._known: dict[int, frozenset[str]] = {}

    def __getitem__(self, place: int) -> frozenset[str]:
        known = self._known.get(place)
        if known is None:
            start, end = self._sentences[place]
            known = self._known[place] = words_of(self._text[start:end])
        return known


def words_of(said: str) -> frozenset[str]:
    """The different words of a text, in lower case."""
    return frozenset(WORD.findall(said.lower()))
