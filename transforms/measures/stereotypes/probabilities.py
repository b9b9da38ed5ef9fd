"""The probabilities that the two models give for masked sentences.

The sieve reads every sentence. The encoder reads those that the sieve does not clear.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from math import exp
from typing import TYPE_CHECKING, Any

from evenflow.transforms.measures.stereotypes import calibration
from evenflow.transforms.measures.stereotypes.masking import Span, mask
from evenflow.transforms.measures.stereotypes.reasons import SURE
from evenflow.transforms.models import files

if TYPE_CHECKING:
    from evenflow.transforms.models.encoder import Stereotype

WORD = re.compile(r"[^\W\d_]+")
LEAST_WORDS = 2  # one word states nothing
# Share of words that the encoder's vocabulary has whole, from which a sentence is English. Of 2,583
# English sentences 12 have fewer; of ten sentences in Latin letters of other languages all have.
LEAST_KNOWN = 0.51
# Sentences whose values are kept, so that the indicators need not read a detected sentence again
KEPT = 8192
# Stances of a sentence whose author does not hold what it says
NOT_HELD = frozenset({"denied", "objected", "irony", "reported"})


class SentenceReader:
    """Reads masked sentences with both models.

    `sieve`, `second`: `models.sieve.Sieve`, `models.encoder.Encoder`. `cleared`: Probability by the
    sieve below which the second model is not asked. `first`: `models.static.FirstStage`, which says
    which words of a sentence may be those that weigh most; None: the sieve.
    """

    def __init__(
        self,
        sieve: Any,
        second: Any,
        cleared: float,
        words: frozenset[str],
        scale: tuple[float, float] = (1.0, 0.0),
        first: Any = None,
    ):
        self.sieve, self.second, self.cleared, self.words = sieve, second, cleared, words
        self.first = first or sieve
        self._slope, self._shift = scale
        self.read = lru_cache(KEPT)(self._read)

    def detect(
        self, sentences: Sequence[str], labels: Sequence[Sequence[Span]]
    ) -> list[float | None]:
        """The probability of a stereotype in each sentence, see `detect.Detector`."""
        return self.probabilities([mask(*each) for each in zip(sentences, labels, strict=True)])

    def probabilities(self, inputs: Sequence[str]) -> list[float | None]:
        """The probability of a stereotype of the placeholder's group in each sentence.

        Returns N probabilities (0 to 1) on one scale. A sentence that the sieve clears has the
        share of stereotypes among cleared sentences with its value. None: a single word, or another
        language.
        """
        firsts = self.sieve.stereotypes(inputs)
        return [
            None
            if not self.is_english(text)
            else self._of_cleared(first)
            if first < self.cleared
            else held_probability(self.read(text))
            for text, first in zip(inputs, firsts, strict=True)
        ]

    def _of_cleared(self, first: float) -> float:
        """The probability of a stereotype in a sentence that the sieve clears."""
        odds = (first / (1 - first)) ** self._slope * exp(self._shift)
        return odds / (1 + odds)

    def is_english(self, text: str) -> bool:
        """Whether a masked sentence has enough words, and enough English ones."""
        words = WORD.findall(text.lower())
        return len(words) >= LEAST_WORDS and sum(
            word in self.words for word in words
        ) >= LEAST_KNOWN * len(words)

    def _read(self, text: str) -> Stereotype:
        """The encoder's prediction for one sentence."""
        return self.second.stereotypes([text])[0]


def held_probability(prediction: Stereotype) -> float:
    """The probability of a stereotype that the sentence itself holds.

    A stereotype does not count if the sentence surely denies, mocks or only reports it.

    Returns:
        A probability (0 to 1), rounded to four decimals, so that a table of 32-bit numbers decides
        as the filter did.
    """
    stance, share = likeliest(prediction.stance)
    held = 1 - share if stance in NOT_HELD and share >= SURE else 1.0
    return round(min(prediction.probability, held), 4)


def likeliest(classes: Mapping[str, float]) -> tuple[str, float]:
    """The likeliest class and its probability; ("", 0) without classes."""
    return max(classes.items(), key=lambda each: each[1], default=("", 0.0))


@cache
def shipped() -> SentenceReader:
    """A reader with both models of this package."""
    # Imported here: their libraries take a part of a second to load
    from evenflow.transforms.models import encoder, sieve, static

    second = encoder.Encoder.shipped()
    vocabulary = (files.SHIPPED / encoder.VOCABULARY).read_text(encoding="utf-8").splitlines()
    words = frozenset(piece for piece in vocabulary if not piece.startswith("##"))
    known = calibration.shipped()
    first, own = static.FirstStage.shipped(), sieve.Sieve.shipped()
    return SentenceReader(own, second, known.cleared, words, known.scale, first)
