"""A sentence with gendered words: what several words ask of it, found once and only if asked for."""

from __future__ import annotations

from functools import cached_property

from evenflow.transforms.substitution import headlines

BEFORE, AFTER = 60, 40  # characters on either side of a word that say what it is there
QUOTE_OPEN = "\"“‘'(*_-–—:[>/ \n\t"


class Said:
    """The sentence text[start:end]. words: its different words. capitals: whether the text is written with capitals."""

    def __init__(self, text: str, start: int, end: int, words: frozenset[str], capitals: bool):
        self.text = text
        self.start = start
        self.end = end
        self.words = words
        self.capitals = capitals
        self.introduced: set[str] = set()  # groups of which a headline has somebody

    @cached_property
    def headline(self) -> bool:
        """Whether it is written like a headline."""
        return self.capitals and headlines.is_headline(self.text[self.start : self.end])

    @cached_property
    def stops(self) -> bool:
        """Whether it ends as sentences do, and headlines do not."""
        return self.text[self.start : self.end].rstrip().endswith((".", "!", "?", "…"))

    def before(self, at: int) -> str:
        """What stands before a place of it."""
        return self.text[max(self.start, at - BEFORE) : at]

    def after(self, at: int) -> str:
        """What stands behind a place of it."""
        return self.text[at : min(self.end, at + AFTER)]

    def begins(self, at: int, before: str) -> bool:
        """Whether it begins at a place, but for marks before it."""
        return at - self.start <= BEFORE and not before.strip(QUOTE_OPEN)


def is_shouted(said: str) -> bool:
    """Whether a word is in capitals throughout."""
    return len(said) > 1 and said.isupper()
