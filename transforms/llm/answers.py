"""Asks and checks: what of an LLM's answers may be used, and a count of what was not, by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from jsonschema import Draft202012Validator

from evenflow.transforms.llm.questions import Answer, Asker, Origin, Question

T = TypeVar("T")

# Characters. The main paper asks up to 47 tokens (D.3); an answer that quotes 1000 characters twice
# has about 500 tokens, as many as a client lets it have. The schemas allow no longer quotes.
LONGEST_SENTENCE = 1000

# Reasons for which an answer is rejected.
SCHEMA = "does not have the schema's form"
QUOTE = "quotes words that are not in the sentence"
OTHER_LABEL = "is about other words than the labels"
CONTRADICTION = "contradicts itself"
OTHER_WORDS = "substitutes more than label and agreement"
# Reasons for which nothing is asked.
TOO_LONG = "sentence too long"


class Rejected(ValueError):
    """An answer that may not be used; its text is one of the reasons above."""


@dataclass(frozen=True)
class Checked(Generic[T]):
    """What an answer came to: a value that passed every check, or none and the reason."""

    value: T | None
    origin: Origin
    reason: str = ""


@dataclass
class AnswerCounts:
    """How the answers of a step fared; additive. rejected and fallbacks: counts by reason."""

    accepted: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)

    @property
    def questions(self) -> int:
        """All that was to be asked, answered or not."""
        return self.accepted + self.rejected.total() + self.fallbacks.total()

    def count(self, outcome: Checked[Any]) -> None:
        """Count one outcome."""
        if outcome.origin == "fallback":
            self.fallbacks[outcome.reason] += 1
        elif outcome.value is None:
            self.rejected[outcome.reason] += 1
        else:
            self.accepted += 1

    def __add__(self, other: AnswerCounts) -> AnswerCounts:
        return AnswerCounts(
            self.accepted + other.accepted,
            self.rejected + other.rejected,
            self.fallbacks + other.fallbacks,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data for ledger and report."""
        return {
            "questions": self.questions,
            "accepted": self.accepted,
            "rejected": dict(sorted(self.rejected.items())),
            "fallbacks": dict(sorted(self.fallbacks.items())),
        }


def ask_checked(
    asker: Asker,
    questions: Sequence[Question | None],
    check: Callable[[int, dict[str, Any]], T],
    tally: AnswerCounts,
) -> list[Checked[T]]:
    """An outcome for each question, in order; what has no value is for the embedded model to
    answer.

    questions: None where the sentence is too long to be asked about. check: makes an answer to the
    question of that index into a value, or raises Rejected; it only sees answers that have the
    schema's form. The tally counts every outcome.
    """
    asked = [question for question in questions if question is not None]
    answers = iter(asker.ask(asked) if asked else [])
    out: list[Checked[T]] = []
    for index, question in enumerate(questions):
        if question is None:
            outcome: Checked[T] = Checked(None, "fallback", TOO_LONG)
        else:
            outcome = _outcome(question, next(answers), partial(check, index))
        tally.count(outcome)
        out.append(outcome)
    return out


def _outcome(
    question: Question, answer: Answer, check: Callable[[dict[str, Any]], T]
) -> Checked[T]:
    if answer.value is None:
        return Checked(None, "fallback", answer.reason)
    try:
        if not Draft202012Validator(question.schema).is_valid(answer.value):
            raise Rejected(SCHEMA)
        return Checked(check(answer.value), answer.origin)
    except Rejected as rejected:
        return Checked(None, answer.origin, str(rejected))
