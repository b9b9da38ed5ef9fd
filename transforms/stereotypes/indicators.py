"""How strongly a sentence states a stereotype: ten linguistic indicators, each with its words, and
a score (score_scsc).

The indicators are those of the Social Category and Stereotype Communication framework (Beukeboom
and Burgers 2019), in the form that Görge et al. ("Textual Data Bias Detection and Mitigation",
section on stereotype assessment, appendix D.1) ask of an LLM; here heads of the encoder answer. The
score is a head too, learnt from what people call strong; there it is a linear regression over
indicators, and here such a one says how far an LLM's answers move it where they are others
(`Scorer.moved`).

No indicator knows which group is named: its words are hidden (`stereotyping.masking`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from evenflow.transforms.models.files import ModelError
from evenflow.transforms.stereotypes import calibration, probabilities
from evenflow.transforms.stereotypes.masking import Span, prepared
from evenflow.transforms.stereotypes.reasons import reasons

__all__ = ["EncoderScorer", "Indicator", "Indicators", "ModelError", "shipped"]

# The ten, in the order in which they are told, with the value of a sentence that has nothing of
# them.
NAMES = ("target", "connotation", "gram_form", "ling_form", "behaviour", "situation", "evaluation", "generalization",
         "explanation", "signal_word")  # fmt: skip
# What rests on the words that name the group
OF_LABEL = frozenset({"target", "connotation", "gram_form", "ling_form"})
# What only a behaviour or a characteristic has
DESCRIBED = frozenset({"evaluation", "generalization"})
STRONG_WORDS = 3  # words shown for the strength
WORD = re.compile(r"\w+(?:['’]\w+)?")
MOST_WORDS = 400  # words of a sentence that are looked at for those: more a sentence seldom has
# Strength of a sentence of which the heads cannot say it: the mean of those that people scored
NEUTRAL = 0.5
ROUNDED = 4  # decimals of strength and score


@dataclass(frozen=True)
class Indicator:
    """An indicator's value, the characters [start, end) of the words it rests on, and how probable
    the value is.
    """

    value: str
    words: tuple[tuple[int, int], ...]
    share: float = 1.0


@dataclass(frozen=True)
class Indicators:
    """What was found in a sentence, by indicator, the strength of its content (0..1) and its score
    (score_scsc, 0..1).
    """

    text: str
    found: Mapping[str, Indicator] = field(default_factory=dict)
    strength: float = 0.0
    score: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain data: score, strength, and for each indicator its value and words with their
        offsets into the sentence.
        """
        return {
            "score": self.score,
            "strength": self.strength,
            "indicators": {
                name: {
                    "value": one.value,
                    "words": [
                        {"start": start, "end": end, "text": self.text[start:end]}
                        for start, end in one.words
                    ],
                }
                for name, one in self.found.items()
            },
        }

    def reasons(self) -> list[str]:
        """Why the score is what it is, in words for a person, the stance first."""
        values = {name: (one.value, one.share) for name, one in self.found.items()}
        words = {
            name: [self.text[start:end] for start, end in one.words]
            for name, one in self.found.items()
        }
        return reasons(values, words, self.strength)


class EncoderScorer:
    """The heads of the encoder as indicators and score.

    Args:
        reader: Whoever reads prepared sentences.
        weights: What a value adds to the score of a sentence, by «indicator=value».
    """

    def __init__(self, reader: probabilities.SentenceReader, weights: Mapping[str, float]):
        self._reader, self._weights = reader, weights

    def indicators(
        self, sentences: Sequence[str], labels: Sequence[Sequence[Span]]
    ) -> list[Indicators | None]:
        """The indicators of each sentence, None for «cannot say».

        labels: for each sentence the words (start, end, attribute) that name the groups asked
        about; may be empty. Raises ValueError where sentences and labels differ in number.
        """
        return [self._one(text, own) for text, own in zip(sentences, labels, strict=True)]

    def moved(
        self, found: Indicators | None, values: Mapping[str, Indicator]
    ) -> tuple[float, float]:
        """Strength and score of a sentence of which others say other values. found: what the heads
        say of it, if they can.
        """
        before = {} if found is None else found.found
        strength = NEUTRAL if found is None else found.strength
        more = sum(
            self._weights.get(f"{name}={one.value}", 0.0)
            - self._weights.get(f"{name}={before[name].value}", 0.0)
            for name, one in values.items()
            if name in before
        )
        return strength, round(min(1.0, max(0.0, strength + more)), ROUNDED)

    def _one(self, text: str, labels: Sequence[Span]) -> Indicators | None:
        shown = prepared(text, labels)
        if not self._reader.is_english(shown):
            return None
        told = self._reader.read(shown)
        own = tuple((start, end) for start, end, _ in labels)
        found = {"label": Indicator("yes" if own else "no", own)}
        best = {
            name: probabilities.likeliest(told.indicators[name])
            for name in NAMES
            if name in told.indicators
        }
        described = best.get("situation", ("", 0.0))[0] != "other"
        for name, (value, share) in best.items():
            if name in DESCRIBED and not described:
                value, share = "none", 1.0
            found[name] = Indicator(value, own if name in OF_LABEL else (), share)
        stance, share = probabilities.likeliest(told.stance)
        found["stance"] = Indicator(stance, (), share)
        strength = round(told.strength, ROUNDED)
        found["strength"] = Indicator(f"{strength:.2f}", self._heavy(text, labels))
        return Indicators(text, found, strength, strength)

    def _heavy(self, text: str, labels: Sequence[Span]) -> tuple[tuple[int, int], ...]:
        """The words besides labels that speak most for a stereotype, in the sentence's order.

        By the first stage, which is linear: what a word adds there does not hang on the others.
        """
        spans = [each.span() for each in WORD.finditer(text)][:MOST_WORDS]
        spans = [
            (start, end)
            for start, end in spans
            if not any(start < stop and begin < end for begin, stop, _ in labels)
        ]
        if not spans:
            return ()
        base = self._reader.first.stereotypes([""])[0]
        shares = self._reader.first.stereotypes([text[start:end] for start, end in spans])
        order = sorted(range(len(spans)), key=lambda i: (-shares[i], i))[:STRONG_WORDS]
        return tuple(spans[i] for i in sorted(order) if shares[i] > base)


@cache
def shipped() -> EncoderScorer:
    """The scorer of this package. Raises ModelError where a model is missing or does not fit."""
    return EncoderScorer(probabilities.shipped(), calibration.shipped().weights)
