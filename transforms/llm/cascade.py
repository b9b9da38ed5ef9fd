"""Two tiers: an embedded model answers, and an LLM in its stead where a rule of selection says so.

The mode of a step is that rule: `asks_none` (embedded), `asks_all` (llm), or `Unsure` (cascade),
which asks about what the embedded model is unsure of, the most valuable first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, Protocol, TypeVar

from evenflow.transforms.llm.answers import AnswerCounts, ask_checked
from evenflow.transforms.llm.questions import Asker, Origin, Question, worth

T = TypeVar("T")
Value = TypeVar("Value", covariant=True)

# From what the embedded model says of each item (0 to 1, None: it cannot say) to the items to ask,
# most valuable first.
Select = Callable[[Sequence[float | None]], Sequence[int]]
Mode = Literal["embedded", "cascade", "llm"]
Labels = Sequence[tuple[int, int, str]]  # (start, end, attribute) in the sentence


def asks_none(scores: Sequence[float | None]) -> Sequence[int]:
    """The mode `embedded`."""
    return []


def asks_all(scores: Sequence[float | None]) -> Sequence[int]:
    """The mode `llm`; those that the embedded model knows least of come first, should there be a
    budget.
    """
    return sorted(range(len(scores)), key=lambda index: (_distance(scores[index], 0.5), index))


@dataclass(frozen=True)
class Unsure:
    """The mode `cascade`: what scores within a band, those nearest to its decision first.

    low, high: the band's ends, included. middle: the threshold that decides. What the embedded
    model cannot say is not asked: it is no sentence that it knows the language of, and the rest of
    the pipeline leaves it alone as well. Raises ValueError unless 0 <= low <= middle <= high <= 1.
    """

    low: float
    high: float
    middle: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.middle <= self.high <= 1:
            raise ValueError(
                f"low {self.low!r}, middle {self.middle!r}, high {self.high!r}: rising numbers from"
                " 0 to 1 expected"
            )

    def __call__(self, scores: Sequence[float | None]) -> Sequence[int]:
        inside = [
            index
            for index, score in enumerate(scores)
            if score is not None and self.low <= score <= self.high
        ]
        return sorted(inside, key=lambda index: (_distance(scores[index], self.middle), index))


def selection(mode: Mode, band: tuple[float, float], middle: float) -> Select:
    """The rule of a mode; band and middle are those of `Unsure`. Raises ValueError for another mode
    or a wrong band.
    """
    rules: dict[str, Select] = {
        "embedded": asks_none,
        "cascade": Unsure(*band, middle),
        "llm": asks_all,
    }
    if mode not in rules:
        raise ValueError(f"mode {mode!r}: {', '.join(rules)} was expected")
    return rules[mode]


def _distance(score: float | None, middle: float) -> float:
    return 0.0 if score is None else abs(score - middle)


class Examination(Protocol[Value]):
    """A step that an LLM can do: what to ask about a sentence, and what an answer means."""

    def question(self, sentence: str, labels: Labels) -> Question | None:
        """The question; None where the sentence is too long to be asked about."""
        ...

    def checked(self, sentence: str, labels: Labels, value: dict[str, Any]) -> Value:
        """The value that an answer of the schema's form stands for. Raises llm_answers.Rejected."""
        ...


@dataclass(frozen=True)
class Judged(Generic[T]):
    """A value and where it is from: embedded where nothing was asked, fallback where no answer
    could be used, and why.
    """

    value: T | None
    origin: Literal["embedded"] | Origin
    reason: str = ""


class Tiered(Generic[T]):
    """Sentences' values from an embedded model, and from an LLM where select says so.

    embedded: the embedded model's values of sentences with their labels. score: what select goes
    by. middle: the score at which the embedded model decides. tally counts what became of the
    questions.
    """

    def __init__(
        self,
        embedded: Callable[[Sequence[str], Sequence[Labels]], Sequence[T | None]],
        score: Callable[[T], float],
        examination: Examination[T],
        asker: Asker,
        select: Select,
        middle: float = 0.5,
    ):
        self.embedded = embedded
        self.score = score
        self.examination = examination
        self.asker = asker
        self.select = select
        self.middle = middle
        self.tally = AnswerCounts()

    def judge(self, sentences: Sequence[str], labels: Sequence[Labels]) -> list[Judged[T]]:
        """A value for each sentence with its origin; labels: the spans in each."""
        values = self.embedded(sentences, labels)
        out: list[Judged[T]] = [Judged(value, "embedded") for value in values]
        scores = [None if value is None else self.score(value) for value in values]
        asked = self.select(scores)
        outcomes = ask_checked(
            self.asker,
            [self._question(sentences[index], labels[index], scores[index]) for index in asked],
            lambda number, value: self.examination.checked(
                sentences[asked[number]], labels[asked[number]], value
            ),
            self.tally,
        )
        for index, outcome in zip(asked, outcomes, strict=True):
            if outcome.value is None:
                out[index] = Judged(values[index], "fallback", outcome.reason)
            else:
                out[index] = Judged(outcome.value, outcome.origin, outcome.reason)
        return out

    def _question(self, sentence: str, labels: Labels, score: float | None) -> Question | None:
        question = self.examination.question(sentence, labels)
        return None if question is None else replace(question, worth=worth(score, self.middle))
