"""Who chooses a counterpart and judges a substitution: a protocol, and the embedded judge that needs no model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Place(NamedTuple):
    """A word to be replaced, sentence[start:end], and the words allowed in its place, the best first.

    confidence: of the substitution so far. key: of document and set, by which draws are made.
    """

    sentence: str
    start: int
    end: int
    candidates: Sequence[str]
    confidence: float = 1.0
    key: str = ""

    @property
    def word(self) -> str:
        """What stands there."""
        return self.sentence[self.start : self.end]


class Chosen(NamedTuple):
    """The candidate chosen; None: none of them fits. settled: whether that is final; if not, it is chosen again later."""

    word: str | None
    settled: bool = True


class Judge(Protocol):
    """Chooses and judges in the place of a person; the embedded one is `Embedded`, an LLM's may be another.

    chooses: whether it is to be given every candidate; otherwise the first alone.
    """

    chooses: bool

    def choose_counterpart(self, place: Place) -> Chosen:
        """The candidate that fits the place best."""
        ...

    def judge_substitution(self, original: str, changed: str, confidence: float = 1.0) -> float:
        """The confidence (0 to 1) that the changed sentence is as correct, in grammar and fact, as the original.

        confidence: of the substitution so far.
        """
        ...


class Embedded:
    """The judge without a model: the first candidate, and a look at what a substitution may have spoilt."""

    chooses = False

    WORDS = ("her", "his", "him", "she", "he", "muslim", "christian", "jewish", "hindu", "buddhist", "elderly", "middle-aged")
    DOUBLED = re.compile(rf"\b({'|'.join(WORDS)}) \1\b", re.IGNORECASE)
    TWICE = tuple(f"{word} {word}" for word in WORDS)

    TWO_PRONOUNS = re.compile(r"\bhim his\b", re.IGNORECASE)  # «gave him his book» → «gave her her book»

    def choose_counterpart(self, place: Place) -> Chosen:
        """The first candidate: lists and role maps have the best first."""
        return Chosen(place.candidates[0] if place.candidates else None)

    def judge_substitution(self, original: str, changed: str, confidence: float = 1.0) -> float:
        """Low for a word said twice that was not before."""
        folded = changed.lower()
        if changed.isascii() and not any(twice in folded for twice in self.TWICE):
            return 1.0  # mostly, and far faster told
        doubled = self.DOUBLED.search(changed)
        if doubled is None or self.DOUBLED.search(original):
            return 1.0
        if doubled[1].lower() != "her" or not self.TWO_PRONOUNS.search(original):
            return 0.3
        return 1.0
