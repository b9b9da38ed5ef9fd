"""Sentences that stay by their words: what they say of the past would become false."""

from __future__ import annotations

import re
from collections.abc import Iterable

from evenflow.schemas.config.repair import RANGE
from evenflow.wordlists import spelling

# Whole numbers: no part of a word, of a decimal fraction or of a larger number
NUMBER = re.compile(r"(?<![\w.,])\d{1,18}(?!\w|[.,]\d)")


class Protected:
    """Finds sentences that have a word or a number of some."""

    def __init__(self, given: Iterable[str]):
        ranges = {each: found for each in given if (found := RANGE.fullmatch(each))}
        words = "|".join(re.escape(_folded(each)) for each in given if each not in ranges)
        self._words = re.compile(rf"(?<!\w)(?:{words})(?!\w)") if words else None
        self._ranges = [range(int(each[1]), int(each[2]) + 1) for each in ranges.values()]

    def has(self, sentence: str) -> bool:
        """Whether a sentence has one of them."""
        if self._words is not None and self._words.search(_folded(sentence)):
            return True
        return bool(self._ranges) and any(
            int(number) in own for number in NUMBER.findall(sentence) for own in self._ranges
        )


def _folded(text: str) -> str:
    """A text in the spelling of labels, with single blanks."""
    return " ".join(spelling.fold(text).split())
