"""Who chooses a counterpart and judges a substitution in the place of a person: the protocol of a
language model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Slot(NamedTuple):
    """A word to be replaced, sentence[start:end], and the words allowed in its place, the best
    first.

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
    """The candidate chosen; None: none of them fits. settled: whether that is final; if not, it is
    chosen again later.
    """

    word: str | None
    settled: bool = True


class SubstitutionJudge(Protocol):
    """Chooses and judges in the place of a person.

    chooses: whether it is to be given every candidate; otherwise the first alone.
    """

    chooses: bool

    def choose_counterpart(self, place: Slot) -> Chosen:
        """The candidate that fits the place best."""
        ...

    def judge_substitution(
        self, original: str, changed: str, confidence: float = 1.0
    ) -> float | None:
        """The confidence (0 to 1) that the changed sentence is as correct as the original; None: no
        answer.

        confidence: of the substitution so far.
        """
        ...


class Embedded:
    """Nobody is asked: the first candidate, and no verdict."""

    chooses = False

    def choose_counterpart(self, place: Slot) -> Chosen:
        """The first candidate: lists and role maps have the best first."""
        return Chosen(place.candidates[0] if place.candidates else None)

    def judge_substitution(
        self, original: str, changed: str, confidence: float = 1.0
    ) -> float | None:
        """None."""
        return None
