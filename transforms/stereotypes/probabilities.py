"""What the two models say of prepared sentences: the first stage of all, the encoder of those that
it does not clear.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Protocol

from evenflow.transforms.models import files
from evenflow.transforms.stereotypes import calibration, masking
from evenflow.transforms.stereotypes.reasons import SURE

if TYPE_CHECKING:
    from evenflow.transforms.models.encoder import Stereotype

WORD = re.compile(r"[^\W\d_]+")
LEAST_WORDS = 2  # one word states nothing
# Share of words that the encoder's vocabulary has whole, from which a sentence is English: of 2,583
# English sentences 12 have fewer, of ten sentences in Latin letters of other languages all.
LEAST_KNOWN = 0.51
# Sentences whose values are kept, so that what was detected is not read again for its indicators
KEPT = 8192
# Stances of a sentence that does not hold what it says
NOT_HELD = frozenset({"denied", "objected", "irony", "reported"})


class First(Protocol):
    """A model that costs nothing: `models.static.FirstStage`."""

    def stereotypes(self, inputs: Sequence[str], /) -> list[float]: ...


class Second(Protocol):
    """A model that knows more: `models.encoder.Encoder`."""

    def stereotypes(self, inputs: Sequence[str], /) -> list[Stereotype]: ...


class SentenceReader:
    """Reads sentences with both models.

    Args:
        first, second: The models.
        cleared: First probability below which the second is not asked.
        words: The vocabulary that tells English.
    """

    def __init__(self, first: First, second: Second, cleared: float, words: frozenset[str]):
        self.first, self.second, self.cleared, self.words = first, second, cleared, words
        self.read = lru_cache(KEPT)(self._read)

    def chances(self, inputs: Sequence[str]) -> list[float | None]:
        """The probability that each prepared sentence states a stereotype of the placeholder's
        group.

        Returns: None where nothing can be said: one word alone, or another language. A sentence
            that the first stage clears has the first stage's probability.
        """
        firsts = self.first.stereotypes(inputs)
        return [
            None
            if not self.is_english(text)
            else first
            if first < self.cleared
            else chance(self.read(text))
            for text, first in zip(inputs, firsts, strict=True)
        ]

    def is_english(self, text: str) -> bool:
        """Whether a prepared sentence has words enough that are English."""
        words = WORD.findall(text.lower())
        return len(words) >= LEAST_WORDS and sum(
            word in self.words for word in words
        ) >= LEAST_KNOWN * len(words)

    def _read(self, text: str) -> Stereotype:
        return self.second.stereotypes([text])[0]


def chance(told: Stereotype) -> float:
    """The probability of a stereotype that the sentence holds: what it surely denies, mocks or
    reports does not count.

    Four decimals, so that a table of 32-bit numbers decides as the filter did.
    """
    stance, share = likeliest(told.stance)
    held = 1 - share if stance in NOT_HELD and share >= SURE else 1.0
    return round(min(told.probability, held), 4)


def likeliest(classes: Mapping[str, float]) -> tuple[str, float]:
    """The likeliest class and its probability; of none: ("", 0)."""
    return max(classes.items(), key=lambda each: each[1], default=("", 0.0))


@cache
def shipped() -> SentenceReader:
    """Both models of this package. Raises ModelError where a file is missing, damaged or of another
    version.
    """
    # Their libraries take a part of a second
    from evenflow.transforms.models import encoder, static

    second = encoder.Encoder.shipped()
    vocabulary = (files.SHIPPED / encoder.VOCABULARY).read_text(encoding="utf-8").splitlines()
    words = frozenset(piece for piece in vocabulary if not piece.startswith("##"))
    return SentenceReader(static.FirstStage.shipped(), second, calibration.shipped().cleared, words)


@cache
def digest() -> str:
    """SHA-256 of all that what is found depends on. Raises ModelError."""
    from evenflow.transforms.models import encoder, static

    whole = hashlib.sha256()
    for path in (
        files.SHIPPED / encoder.MANIFEST,
        files.SHIPPED / static.MANIFEST,
        calibration.PATH,
        masking.PATH,
    ):
        try:
            whole.update(path.read_bytes())
        except OSError as error:
            raise files.ModelError(
                f"{path}: cannot be read ({error.strerror or error}); {files.REBUILD}"
            ) from error
    return whole.hexdigest()
