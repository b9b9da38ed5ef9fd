"""The protocols of those who score exchanges, judge them, and choose counterparts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from evenflow.transforms.substitution.sets import Set


class FirstScorer(Protocol):
    """Gives every exchange a first probability of being right."""

    def exchanges(self, attribute: str, each: Sequence[Sequence[str]]) -> list[float]:
        """Score exchanges.

        Args:
            attribute: The attribute whose groups are exchanged.
            each: The marked windows of each exchange.

        Returns:
            The probability (0 to 1) that each exchange is right.
        """
        ...


class Judged(NamedTuple):
    """What a judge says of an exchange.

    Attributes:
        probability: That it is right, 0 to 1.
        reason: Why it is not; empty if it is.
        joined: The indices of the sets of the same person, the asked one among them, which must
            change together.
    """

    probability: float
    reason: str
    joined: tuple[int, ...]


class ExchangeJudge(Protocol):
    """Judges whether an exchange is right."""

    def exchanges(
        self, text: str, sets: Sequence[Set], asked: Sequence[tuple[int, str]]
    ) -> Sequence[Judged]:
        """Judge exchanges of a document.

        Args:
            text: The document.
            sets: All its sets of one attribute.
            asked: Of each exchange, the index of its set and the target group.

        Returns:
            An answer for each exchange.
        """
        ...


class Bar(Protocol):
    """Bars exchanges, whatever a judge says of them."""

    def bars(self, text: str, proposed: Set) -> bool:
        """Whether a set of a text may not be exchanged: a sentence may state a stereotype."""
        ...


class Slot(NamedTuple):
    """A word to be replaced, sentence[start:end], with its candidates.

    Attributes:
        sentence: The sentence.
        start: First character of the word in the sentence.
        end: Character after the last.
        candidates: The words allowed in its place, the best first.
        confidence: Of the substitution so far, 0 to 1.
        key: Of document and set; decides random draws.
    """

    sentence: str
    start: int
    end: int
    candidates: Sequence[str]
    confidence: float = 1.0
    key: str = ""

    @property
    def word(self) -> str:
        """The word to be replaced."""
        return self.sentence[self.start : self.end]


class Chosen(NamedTuple):
    """A choice among candidates.

    Attributes:
        word: The candidate chosen; None: none of them fits.
        settled: Whether the choice is final; if not, it is made again later.
    """

    word: str | None
    settled: bool = True


class SubstitutionJudge(Protocol):
    """Chooses counterparts and judges substitutions.

    Attributes:
        chooses: Whether it is given every candidate; otherwise only the first.
    """

    chooses: bool

    def choose_counterpart(self, place: Slot) -> Chosen:
        """Choose the candidate that fits a place best.

        Args:
            place: The place with its candidates.

        Returns:
            The choice.
        """
        ...

    def judge_substitution(
        self, original: str, changed: str, confidence: float = 1.0
    ) -> float | None:
        """Judge whether a changed sentence is as correct as the original.

        Args:
            original: The sentence.
            changed: The sentence with its substitution.
            confidence: Of the substitution so far, 0 to 1.

        Returns:
            The confidence (0 to 1) that it is; None: no answer.
        """
        ...


class Embedded:
    """Asks nobody: takes the first candidate and gives no verdict."""

    chooses = False

    def choose_counterpart(self, place: Slot) -> Chosen:
        """Take the first candidate: lists and role maps have the best first."""
        return Chosen(place.candidates[0] if place.candidates else None)

    def judge_substitution(
        self, original: str, changed: str, confidence: float = 1.0
    ) -> float | None:
        """Give no answer."""
        return None
