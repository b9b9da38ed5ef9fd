"""The LLM as detector of stereotypes: six questions about a sentence and their checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenflow.prompts import loader
from evenflow.schemas.config import Config
from evenflow.transforms.llm.cascade import Labels, Tiered, selection
from evenflow.transforms.llm.questions import (
    CONTRADICTION,
    LONGEST_SENTENCE,
    OTHER_LABEL,
    QUOTE,
    Asker,
    Question,
    RejectedError,
)
from evenflow.transforms.llm.quotes import find_quote, find_quotes
from evenflow.transforms.measures.stereotypes import calibration, detect, measured
from evenflow.transforms.measures.stereotypes.masking import is_pronoun

# Probabilities of an answer: the model states none of its own. A yes flags; it has a higher
# probability only if labelled rows showed it (`measured`).
YES, NO = detect.THRESHOLD, 0.0


@dataclass
class TieredDetector(Tiered[float]):
    """A detector of two tiers, in the protocol of `detect.Detector`; see `Tiered`.

    It asks Q1 to Q6 of stereotype detection (main paper, 4.2.3 and D.2).

    Attributes:
        shown: Attribute → the probability of a stereotype after a yes.
    """

    shown: Mapping[str, float] = field(default_factory=dict[str, float])

    def embedded(self, sentences: Sequence[str], labels: Sequence[Labels]) -> list[float | None]:
        """The embedded detector's probabilities."""
        return self.model.detect(sentences, labels)

    def score(self, value: float) -> float:
        """The probability."""
        return value

    def question(self, sentence: str, labels: Labels) -> Question | None:
        """The question about a sentence; None if the sentence is too long."""
        return about_sentence("stereotypes", sentence, labels)

    def check(self, sentence: str, labels: Labels, value: dict[str, Any]) -> float:
        """The probability of a stereotype that an answer stands for."""
        parts = (value["label"], value["belief"], value["said"], value["trait"])
        if not value["mentions_group"]:
            if value["stereotype"] or any(part is not None for part in parts):
                raise RejectedError(CONTRADICTION)
            return NO
        if None in (value["label"], value["belief"], value["trait"]) or (
            (value["trait"] and value["said"] is None)
            or value["stereotype"] != (value["belief"] and value["trait"])
        ):
            raise RejectedError(CONTRADICTION)
        label_span(sentence, labels, value["label"])
        if value["said"] is not None and find_quote(sentence, value["said"]) is None:
            raise RejectedError(QUOTE)
        if not value["stereotype"]:
            return NO
        return min((self.shown.get(name, YES) for *_, name in labels), default=YES)

    def believed(self, own: float | None, answered: float) -> float:
        """The probability after an answer: a yes leaves the embedded model's if that is higher."""
        return answered if answered == NO else max(own or 0.0, answered)

    def detect(self, sentences: Sequence[str], labels: Sequence[Labels]) -> list[float | None]:
        """The probability (0 to 1) of a stereotype in each of N sentences; None: it is unknown."""
        return [each.value for each in self.judge(sentences, labels)]


def tiered(config: Config, asker: Asker) -> TieredDetector:
    """The detector of a configuration with its language model."""
    select = selection(config.llm.detection, detect.UNSURE)
    acting, shown = calibration.acting(config), measured.believed(config)
    own = detect.of(config), asker, select, detect.THRESHOLD, acting, is_pronoun
    return TieredDetector(*own, shown)


def about_sentence(name: str, sentence: str, labels: Labels) -> Question | None:
    """A prompt's question about a sentence, its labels and their attributes."""
    if len(sentence) > LONGEST_SENTENCE:
        return None
    slots = {
        "attributes": sorted({attribute for _, _, attribute in labels}),
        "listed": [
            sentence[start:end] for start, end in sorted({(start, end) for start, end, _ in labels})
        ],
    }
    return Question.of(loader.load(name), sentence, slots)


def label_span(sentence: str, labels: Labels, quote: str) -> tuple[int, int]:
    """The place of the words that an answer calls the label."""
    places = list(find_quotes(sentence, quote))
    if not places:
        raise RejectedError(QUOTE)
    if not labels:
        return places[0]
    for start, end in places:
        if any(start < label_end and label_start < end for label_start, label_end, _ in labels):
            return start, end
    raise RejectedError(OTHER_LABEL)
