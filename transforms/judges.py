"""Who chooses a counterpart and judges a substitution: a protocol, and the embedded judge that needs no model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol


class Judge(Protocol):
    """Chooses and judges in the place of a person; the embedded one is `Embedded`, an LLM's may be another."""

    def choose_counterpart(self, sentence: str, start: int, end: int, candidates: Sequence[str]) -> str | None:
        """The candidate that fits the place sentence[start:end] best; None if none does."""
        ...

    def judge_substitution(self, original: str, changed: str) -> float:
        """The confidence (0 to 1) that the changed sentence is as correct, in grammar and fact, as the original."""
        ...


class Embedded:
    """The judge without a model: the first candidate, and a look at what a substitution may have spoilt."""

    DOUBLED = re.compile(r"\b(her|his|him|she|he|Muslim|Christian|Jewish|Hindu|Buddhist|elderly|middle-aged) \1\b", re.IGNORECASE)

    TWO_PRONOUNS = re.compile(r"\bhim his\b", re.IGNORECASE)  # «gave him his book» → «gave her her book»

    def choose_counterpart(self, sentence: str, start: int, end: int, candidates: Sequence[str]) -> str | None:
        """The first candidate: lists and role maps have the best first."""
        return candidates[0] if candidates else None

    def judge_substitution(self, original: str, changed: str) -> float:
        """Low for a word said twice that was not before."""
        doubled = self.DOUBLED.search(changed)
        if doubled is None or self.DOUBLED.search(original):
            return 1.0
        if doubled[1].lower() != "her" or not self.TWO_PRONOUNS.search(original):
            return 0.3
        return 1.0
