"""A sentence's words as one text, so that phrases and the words of a class can be looked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenflow.transforms.stereotyping.indicator_patterns import NEEDED
from evenflow.transforms.stereotyping.indicator_tagging import LONGEST, Token
from evenflow.transforms.stereotyping.indicator_words import phrases, words


class Joined:
    """A sentence's lower-case words between spaces, so that phrases can be looked for, and the way back to places."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.text = " ".join(token.lower[:LONGEST] for token in tokens)
        self._words = self.text.split(" ")

    def search(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The first place where one of NEEDED is, if it is anywhere."""
        return None if NEEDED[pattern].isdisjoint(self._words) else pattern.search(self.text)

    def of(self, name: str) -> list[int]:
        """Places of the words of a class."""
        chosen = words(name)
        return [] if chosen.isdisjoint(self._words) else [place for place, word in enumerate(self._words) if word in chosen]

    def span(self, start: int, end: int) -> list[int]:
        """Places of the words that begin within text[start:end]."""
        if not self.text or (start and self.text[start - 1] != " "):
            return []
        first = self.text.count(" ", 0, start)
        return list(range(first, first + self.text.count(" ", start, end) + 1))

    def places(self, name: str) -> list[int]:
        """Places of the words of a class's phrases."""
        return [place for match in phrases(name).finditer(self.text) for place in self.span(*match.span())]
