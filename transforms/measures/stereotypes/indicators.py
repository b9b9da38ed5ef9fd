"""How strongly a sentence states a stereotype: ten linguistic indicators, strength, score_scsc.

Each indicator comes with the words that it rests on. The indicators are those of the Social
Category and Stereotype Communication framework (Beukeboom and Burgers 2019), in the form in which
Görge et al. ("Textual Data Bias Detection and Mitigation", section on stereotype assessment,
appendix D.1) ask an LLM for them. Here heads of the encoder answer, and another head gives the
strength, trained on what people call strong. The paper's score, a linear regression over the
indicators, is computed where an LLM gave them (`EncoderScorer.scsc`).

No indicator depends on the group that is named, because its words are hidden (`masking`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import log
from typing import Any

from evenflow.transforms.measures.stereotypes import calibration, probabilities
from evenflow.transforms.measures.stereotypes.masking import (
    Span,
    has_creeds,
    mask,
    names_group,
)
from evenflow.transforms.measures.stereotypes.reasons import STRONG, is_held, reasons, with_words
from evenflow.transforms.models import encoder, files

__all__ = ["EncoderScorer", "Indicator", "Indicators", "shipped"]

# The ten indicators, in the order of the output
NAMES = (
    *("target", "connotation", "gram_form", "ling_form", "behaviour"),
    *("situation", "evaluation", "generalization", "explanation", "signal_word"),
)
# Indicators that rest on the words that name the group
OF_LABEL = frozenset({"target", "connotation", "gram_form", "ling_form"})
# Indicators that only a behaviour or a characteristic has
DESCRIBED = frozenset({"evaluation", "generalization"})
STRONG_WORDS = 2  # words shown for the strength
PROPOSED = 3  # words without which the encoder reads a sentence, as many as it may take time for
LEAST_FALL = 0.5  # by which the logit must fall without a word that weighs
EDGE = 1e-6  # probabilities nearer to 0 and 1 have this logit
# The most frequent words of the language, which say nothing by themselves ("are", "the", "of")
FREQUENT = 150
WORD = re.compile(r"\w+(?:['’]\w+)?")
MOST_WORDS = 400  # words of a sentence that are searched for those; few sentences have more
NEUTRAL = 0.5  # score_scsc without any indicator: the mean of the sentences that people scored
ROUNDED = 4  # decimals of strength and score
OF_CREED = 0.5  # probability from which a stereotype is of a creed alone


@dataclass(frozen=True)
class Indicator:
    """The value of a linguistic indicator.

    `words`: The words that the value rests on, as characters [start, end) of the sentence. `share`:
    The probability (0 to 1) of the value.
    """

    value: str
    words: tuple[tuple[int, int], ...]
    share: float = 1.0


@dataclass(frozen=True)
class Indicators:
    """The linguistic indicators of a sentence.

    `strength`: How strong people would call it (0 to 1), by a head; 0 if the heads cannot judge it.
    `score`: The paper's score (score_scsc, 0 to 1); None: no LLM gave the indicators.
    `association`: The probability that people associate with the group what the sentence says, also
    of a single person; None: not known. `creed`: The probability that the stereotype is of a creed
    alone, and of no people; None: not known, or the attribute has no creeds.
    """

    text: str
    found: Mapping[str, Indicator] = field(default_factory=dict)
    strength: float = 0.0
    score: float | None = None
    association: float | None = None
    creed: float | None = None

    @property
    def is_of_creed(self) -> bool:
        """Whether the stereotype is of a creed alone, and of no people."""
        return self.creed is not None and self.creed >= OF_CREED

    @property
    def decides(self) -> float:
        """What says whether a stereotype is a strong one: score_scsc, or else the strength."""
        return self.strength if self.score is None else self.score

    def to_json(self) -> dict[str, Any]:
        """Plain data: numbers, indicators, reasons; words have offsets into the sentence."""
        return {
            "score": self.score,
            "strength": self.strength,
            "association": self.association,
            "creed": self.creed,
            "held": is_held(*self._values().get("stance", ("", 0.0))),
            "indicators": {
                name: {"value": one.value, "words": _words(self.text, one.words)}
                for name, one in self.found.items()
            },
            "reasons": self.reasons(),
        }

    def reasons(self) -> list[str]:
        """Why the score is what it is, in plain words, the stance first; `weighed` has more."""
        words = {
            name: [self.text[start:end] for start, end in one.words]
            for name, one in self.found.items()
        }
        return reasons(self._values(), words, self.is_of_creed)

    def _values(self) -> dict[str, tuple[str, float]]:
        """The value of each indicator, and its probability."""
        return {name: (one.value, one.share) for name, one in self.found.items()}


class EncoderScorer:
    """Indicators and strength from the heads of the encoder."""

    def __init__(self, reader: probabilities.SentenceReader, weights: Mapping[str, float]):
        self._reader, self._weights = reader, weights

    def indicators(
        self, sentences: Sequence[str], labels: Sequence[Sequence[Span]]
    ) -> list[Indicators | None]:
        """The linguistic indicators of each sentence.

        Returns N results. None: the heads cannot judge the sentence.
        """
        return [self._one(text, own) for text, own in zip(sentences, labels, strict=True)]

    def scsc(self, values: Mapping[str, Indicator]) -> float:
        """The paper's score (0 to 1) of indicators: a linear sum."""
        found = (self._weights.get(f"{name}={one.value}", 0.0) for name, one in values.items())
        return round(min(1.0, max(0.0, NEUTRAL + sum(found))), ROUNDED)

    def _one(self, text: str, labels: Sequence[Span]) -> Indicators | None:
        """The indicators of one sentence; None if it is not English or a single word."""
        shown = mask(text, labels)
        if not self._reader.is_english(shown):
            return None
        prediction = self._reader.read(shown)
        own = tuple((start, end) for start, end, _ in labels)
        found = {"label": Indicator("yes" if own else "no", own)}
        best = {
            name: probabilities.likeliest(prediction.indicators[name])
            for name in NAMES
            if name in prediction.indicators
        }
        described = best.get("situation", ("", 0.0))[0] != "other"
        for name, (value, share) in best.items():
            if name in DESCRIBED and not described:
                value, share = "none", 1.0
            found[name] = Indicator(value, own if name in OF_LABEL else (), share)
        stance, share = probabilities.likeliest(prediction.stance)
        found["stance"] = Indicator(stance, (), share)
        strength = round(prediction.strength, ROUNDED)
        found["strength"] = Indicator(f"{strength:.2f}", ())
        association = round(prediction.association, ROUNDED)
        creed = prediction.creed
        if creed is not None:
            own_creeds = any(has_creeds(attribute) for _, _, attribute in labels)
            creed = round(creed, ROUNDED) if own_creeds else None
        return Indicators(text, found, strength, None, association, creed)

    def weighed(self, text: str, found: dict[str, Any]) -> dict[str, Any]:
        """Add the words that weigh most to what was found of a sentence, where it is strong.

        The encoder reads the sentence again and again for them. So a run looks for them only in the
        sentences that it shows.

        `found`: As `Indicators.to_json`; it is changed and returned.
        """
        own = found["indicators"].get("strength")
        decides = found["strength"] if found["score"] is None else found["score"]
        if own and found["held"] and min(found["strength"], decides) >= STRONG:
            named = found["indicators"]["label"]["words"]
            spans = self._strong_words(text, [(each["start"], each["end"], "") for each in named])
            own["words"] = _words(text, spans)
            found["reasons"] = with_words(found["reasons"], [each["text"] for each in own["words"]])
        return found

    def _strong_words(self, text: str, labels: Sequence[Span]) -> tuple[tuple[int, int], ...]:
        """The words besides labels without which a stereotype is least likely, in their order.

        The first stage proposes, and the encoder reads the sentence without each.
        """
        spans = [each.span() for each in WORD.finditer(text)][:MOST_WORDS]
        spans = [
            (start, end)
            for start, end in spans
            if not any(start < stop and begin < end for begin, stop, _ in labels)
            and (word := text[start:end].casefold()) not in _frequent()
            and not names_group(word)
        ]
        shares = self._reader.first.stereotypes([text[start:end] for start, end in spans])
        order = sorted(range(len(spans)), key=lambda i: (-shares[i], i))[:PROPOSED]
        before = _logit(self._reader.read(mask(text, labels)).probability)
        falls: dict[tuple[int, int], float] = {}
        for span in (spans[i] for i in order):
            left = self._reader.read(_without(text, labels, span))
            falls[span] = before - _logit(left.probability)
        least = max(LEAST_FALL, max(falls.values(), default=0.0) / 2)
        best = sorted(falls, key=lambda span: -falls[span])[:STRONG_WORDS]
        return tuple(sorted(span for span in best if falls[span] >= least))


def _words(text: str, spans: Iterable[tuple[int, int]]) -> list[dict[str, Any]]:
    """Words of a sentence as plain data."""
    return [{"start": start, "end": end, "text": text[start:end]} for start, end in spans]


def _without(text: str, labels: Sequence[Span], span: tuple[int, int]) -> str:
    """The masked form of a sentence without a word."""
    start, end = span
    moved = [
        (first - (end - start), last - (end - start), name) if first >= end else (first, last, name)
        for first, last, name in labels
    ]
    return mask(text[:start] + text[end:], moved)


def _logit(probability: float) -> float:
    """The logit of a probability, which is kept from 0 and 1."""
    held = min(1 - EDGE, max(EDGE, probability))
    return log(held / (1 - held))


@cache
def _frequent() -> frozenset[str]:
    """The FREQUENT words; the encoder's vocabulary is in order of frequency."""
    vocabulary = (files.SHIPPED / encoder.VOCABULARY).read_text(encoding="utf-8").splitlines()
    words = [piece for piece in vocabulary if len(piece) > 1 and piece.isalpha()]
    letters = [piece for piece in vocabulary if len(piece) == 1]
    return frozenset([*words[:FREQUENT], *letters])


@cache
def shipped() -> EncoderScorer:
    """The scorer of this package."""
    return EncoderScorer(probabilities.shipped(), calibration.shipped().weights)
