"""The protocols of those who score exchanges, judge them, and bar them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from evenflow.transforms.substitution.sets import Set


class FirstScorer(Protocol):
    """Gives every exchange a first probability of being right."""

    def exchanges(self, attribute: str, each: Sequence[Sequence[str]]) -> list[float]:
        """Score exchanges.

        Args:
            attribute: The attribute whose groups are exchanged.

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


class Asked(NamedTuple):
    """Exchanges of a document that a judge is asked about.

    Attributes:
        exchanges: Of each exchange, the index of its set and the target group.
    """

    text: str
    sets: Sequence[Set]
    exchanges: Sequence[tuple[int, str]]


class ExchangeJudge(Protocol):
    """Judges whether exchanges are right."""

    def exchanges(self, documents: Iterable[Asked]) -> Iterable[Sequence[Judged]]:
        """Judge exchanges of documents.

        Args:
            documents: The documents, read one after the other.
        """
        ...


class ByFirstStage:
    """Gives each exchange the probability that its set has from the first stage."""

    def exchanges(self, documents: Iterable[Asked]) -> Iterator[list[Judged]]:
        """Judge exchanges, see `ExchangeJudge`."""
        for document in documents:
            yield [
                Judged(document.sets[number].confidence, "", (number,))
                for number, _ in document.exchanges
            ]


class Bar(Protocol):
    """Bars exchanges, whatever a judge says of them."""

    def bars(self, text: str, proposed: Set) -> bool:
        """Whether a set of a text may not be exchanged: a sentence may state a stereotype."""
        ...
