"""The LLM as detector of stereotypes: six questions about a sentence, and what their answers may
say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenflow.prompts import loader
from evenflow.transforms.llm.answers import (
    CONTRADICTION,
    LONGEST_SENTENCE,
    OTHER_LABEL,
    QUOTE,
    Rejected,
)
from evenflow.transforms.llm.cascade import Judged, Labels, Select, Tiered
from evenflow.transforms.llm.questions import Asker, Question
from evenflow.transforms.llm.quotes import find_quote, find_quotes
from evenflow.transforms.stereotypes.detect import Detector

YES, NO = 1.0, 0.0  # probabilities: the model answers yes or no and states none of its own


class Detection:
    """Q1 to Q6 of stereotype detection (main paper, 4.2.3 and D.2), as an examination for
    llm_tiers.Tiered.
    """

    def question(self, sentence: str, labels: Labels) -> Question | None:
        """The question about a sentence; None where it is too long."""
        return about_sentence("stereotypes", sentence, labels)

    def checked(self, sentence: str, labels: Labels, value: dict[str, Any]) -> float:
        """The probability of a stereotype. Raises Rejected, see llm_answers for the reasons."""
        parts = (value["label"], value["belief"], value["said"], value["trait"])
        if not value["mentions_group"]:
            if value["stereotype"] or any(part is not None for part in parts):
                raise Rejected(CONTRADICTION)
            return NO
        if value["label"] is None or value["belief"] is None or value["trait"] is None:
            raise Rejected(CONTRADICTION)
        if value["trait"] and value["said"] is None:
            raise Rejected(CONTRADICTION)
        if value["stereotype"] != (value["belief"] and value["trait"]):
            raise Rejected(CONTRADICTION)
        label_span(sentence, labels, value["label"])
        if value["said"] is not None and find_quote(sentence, value["said"]) is None:
            raise Rejected(QUOTE)
        return YES if value["stereotype"] else NO


class TieredDetector:
    """A detector of two tiers, in the protocol of stereotypes.py; see llm_tiers for select and
    middle.
    """

    def __init__(self, embedded: Detector, asker: Asker, select: Select, middle: float = 0.5):
        self._tiers = Tiered(embedded.detect, float, Detection(), asker, select, middle)
        self.tally = self._tiers.tally

    def judge(self, sentences: Sequence[str], labels: Sequence[Labels]) -> list[Judged[float]]:
        """For each sentence the probability of a stereotype (None: cannot say), where it is from,
        and why.
        """
        return self._tiers.judge(sentences, labels)

    def detect(self, sentences: Sequence[str], labels: Sequence[Labels]) -> list[float | None]:
        """For each sentence the probability (0 to 1) of a stereotype; None: cannot say."""
        return [each.value for each in self.judge(sentences, labels)]


def about_sentence(name: str, sentence: str, labels: Labels) -> Question | None:
    """A prompt's question about a sentence, its labels and their attributes; None where the
    sentence is too long.
    """
    if len(sentence) > LONGEST_SENTENCE:
        return None
    prompt = loader.load(name)
    slots = {
        "attributes": sorted({attribute for _, _, attribute in labels}),
        "listed": [
            sentence[start:end] for start, end in sorted({(start, end) for start, end, _ in labels})
        ],
    }
    return Question(
        prompt.name,
        prompt.digest,
        tuple(prompt.messages(sentence, **slots)),
        prompt.schema,
        sentence,
    )


def label_span(sentence: str, labels: Labels, quote: str) -> tuple[int, int]:
    """Where the words stand that an answer calls the label: a place that holds a listed label, if
    there are listed ones.

    Raises Rejected for words that are not there, or that have nothing of a listed label.
    """
    places = list(find_quotes(sentence, quote))
    if not places:
        raise Rejected(QUOTE)
    if not labels:
        return places[0]
    for start, end in places:
        if any(start < label_end and label_start < end for label_start, label_end, _ in labels):
            return start, end
    raise Rejected(OTHER_LABEL)
