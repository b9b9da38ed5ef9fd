"""Models of stereotypes for tests: one word decides, so that it is plain what the steps around them
do.
"""

from __future__ import annotations

from collections.abc import Sequence

from evenflow.transforms.measures.stereotypes.calibration import Calibration
from evenflow.transforms.measures.stereotypes.indicators import EncoderScorer
from evenflow.transforms.measures.stereotypes.probabilities import SentenceReader
from evenflow.transforms.models.encoder import Stereotype

WORDS = frozenset(
    [
        *("all", "are", "creed", "folk", "folks", "is", "lazy", "maybe", "never", "very", "who"),
        *("late", "the", "bought", "bread", "and", "sadly"),
    ]
)
STANCES = {"never": "denied", "who": "reported"}
WEIGHTS = {"evaluation=negative": 0.2, "evaluation=positive": -0.1, "target=specified target": -0.3}


class First:
    """«lazy» may be a stereotype, «maybe» less so."""

    def stereotypes(self, inputs: Sequence[str], /) -> list[float]:
        return [0.6 if "lazy" in text else 0.3 if "maybe" in text else 0.01 for text in inputs]


class Second:
    """«lazy» is one, as strong as it is «very», unless a word of STANCES says that it is not held;
    asked: what it read.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []

    def stereotypes(self, inputs: Sequence[str], /) -> list[Stereotype]:
        self.asked += inputs
        return [self._one(text) for text in inputs]

    def _one(self, text: str) -> Stereotype:
        stance = next(
            (stance for word, stance in STANCES.items() if word in text.split()), "stated"
        )
        said = {
            "target": {"generic target": 0.9, "specified target": 0.1},
            "situation": {"enduring characteristics": 0.9, "other": 0.1},
            "evaluation": {"negative": 0.8, "positive": 0.2},
        }
        chance = 0.95 if "lazy" in text else 0.4
        return Stereotype(
            chance,
            min(1.0, 0.6 + 0.2 * text.count("very")),
            said,
            {stance: 0.9, "none": 0.1},
            chance,
        )


def reader(second: Second | None = None) -> SentenceReader:
    return SentenceReader(First(), second or Second(), 0.1, WORDS)


def scorer() -> EncoderScorer:
    return EncoderScorer(reader(), WEIGHTS)


def calibration(**cuts: float) -> Calibration:
    """Of attributes by the probability from which what is called is right."""
    return Calibration(0.1, WEIGHTS, {name: [(cut, 50, 50)] for name, cut in cuts.items()})
