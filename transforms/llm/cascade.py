"""Two tiers: an embedded model decides, and an LLM where a selection rule says so.

The mode of a step is that rule: `select_all` (llm), or `Unsure` (cascade), which selects what the
embedded model is unsure of. A budget asks the most valuable questions first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeVar

from evenflow.transforms.llm.questions import Asker, Question, QuestionOutcome, ask_checked, worth

T = TypeVar("T")

# From the embedded model's score of each item (0 to 1; None: it cannot judge) to the items to ask
# about, in order.
Select = Callable[[Sequence[float | None]], Sequence[int]]
Mode = Literal["embedded", "cascade", "llm"]
Labels = Sequence[tuple[int, int, str]]  # (start, end, attribute) in the sentence


def select_all(scores: Sequence[float | None]) -> Sequence[int]:
    """The mode `llm`: selects everything."""
    return range(len(scores))


@dataclass(frozen=True)
class Unsure:
    """The mode `cascade`: selects the scores within a band.

    What the embedded model cannot judge is not selected: it does not know the language of the
    sentence, and the rest of the pipeline skips the sentence as well.
    """

    low: float
    high: float

    def __call__(self, scores: Sequence[float | None]) -> Sequence[int]:
        """The indices of the scores within the band."""
        return [
            index
            for index, score in enumerate(scores)
            if score is not None and self.low <= score <= self.high
        ]


def selection(mode: Mode, band: tuple[float, float]) -> Select:
    """The selection rule of a mode; embedded selects nothing."""
    rules: dict[Mode, Select] = {"embedded": lambda scores: (), "llm": select_all}
    return rules.get(mode, Unsure(*band))


@dataclass
class Tiered(ABC, Generic[T]):
    """Values of sentences from an embedded model, and from an LLM where a rule says so.

    Attributes:
        model: The embedded model.
        middle: The score at which the embedded model decides.
        acting: Attributes that are asked about; none: all.
        is_pronoun: Whether a label names no group by itself. A sentence with such labels alone is
            not asked about.
    """

    model: Any
    asker: Asker
    select: Select
    middle: float = 0.5
    acting: Collection[str] = ()
    is_pronoun: Callable[[str], bool] = lambda label: False

    @abstractmethod
    def embedded(self, sentences: Sequence[str], labels: Sequence[Labels]) -> list[T | None]:
        """The embedded model's value of each sentence; None: it cannot judge it."""

    @abstractmethod
    def score(self, value: T) -> float:
        """The score (0 to 1) of a value, by which the rule selects."""

    @abstractmethod
    def question(self, sentence: str, labels: Labels) -> Question | None:
        """The question about a sentence; None if the sentence is too long to be asked about."""

    @abstractmethod
    def check(self, sentence: str, labels: Labels, value: dict[str, Any]) -> T:
        """The value that an answer stands for.

        Args:
            value: An answer that has the schema's form.

        Raises:
            RejectedError: The answer may not be used.
        """

    def judge(self, sentences: Sequence[str], labels: Sequence[Labels]) -> list[QuestionOutcome[T]]:
        """A value for each sentence with its origin.

        Returns:
            N judged values, in order.
        """
        values = self.embedded(sentences, labels)
        out: list[QuestionOutcome[T]] = [QuestionOutcome(value, "embedded") for value in values]
        scores = [None if value is None else self.score(value) for value in values]
        asked = [i for i in self.select(scores) if self._may_ask(sentences[i], labels[i])]
        outcomes = ask_checked(
            self.asker,
            [
                question and replace(question, worth=worth(scores[index], self.middle))
                for index in asked
                for question in [self.question(sentences[index], labels[index])]
            ],
            lambda number, value: self.check(
                sentences[asked[number]], labels[asked[number]], value
            ),
        )
        for index, outcome in zip(asked, outcomes, strict=True):
            if outcome.value is None:
                out[index] = QuestionOutcome(values[index], "fallback", outcome.reason)
            else:
                value = self.believed(values[index], outcome.value)
                out[index] = QuestionOutcome(value, outcome.origin, outcome.reason)
        return out

    def _may_ask(self, sentence: str, labels: Labels) -> bool:
        """Whether a sentence names a group that something is done about."""
        named = [each for each in labels if not self.is_pronoun(sentence[each[0] : each[1]])]
        if not self.acting:
            return bool(named) or not labels
        return any(name in self.acting for *_, name in named)

    def believed(self, own: T | None, answered: T) -> T:
        """The value after an answer: by default what was answered."""
        return answered
