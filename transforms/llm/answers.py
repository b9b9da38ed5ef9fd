"""Asks an LLM and checks its answers; an asker that counts is told of the rejected ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Literal, TypeVar

from jsonschema import Draft202012Validator

from evenflow.transforms.llm.questions import Answer, Asker, Origin, Question

T = TypeVar("T")

# Characters of the longest sentence that is asked about. The main paper asks about up to 47 tokens
# (D.3). An answer that quotes 1000 characters twice has about 500 tokens, which a client allows.
# The schemas allow no longer quotes.
LONGEST_SENTENCE = 1000

# Reasons for which an answer is rejected.
SCHEMA = "does not have the schema's form"
QUOTE = "quotes words that are not in the sentence"
OTHER_LABEL = "is about other words than the labels"
CONTRADICTION = "contradicts itself"
# Reasons for which nothing is asked.
TOO_LONG = "sentence too long"


class RejectedError(ValueError):
    """An answer that may not be used; the message is one of the reasons above."""


@dataclass(frozen=True)
class QuestionOutcome(Generic[T]):
    """The outcome of a question, or a value that the embedded model gave unasked.

    `value`: None: there is no valid answer, or the sentence cannot be judged.
    """

    value: T | None
    origin: Literal["embedded"] | Origin
    reason: str = ""


def ask_checked(
    asker: Asker,
    questions: Sequence[Question | None],
    check: Callable[[int, dict[str, Any]], T],
) -> list[QuestionOutcome[T]]:
    """Asks questions and checks their answers; the embedded model decides where there is no value.

    `questions`: N questions. None: the sentence is too long to be asked about.
    """
    asked = [question for question in questions if question is not None]
    answers = iter(asker.ask(asked) if asked else [])
    out: list[QuestionOutcome[T]] = []
    for index, question in enumerate(questions):
        if question is None:
            outcome: QuestionOutcome[T] = QuestionOutcome(None, "fallback", TOO_LONG)
        else:
            answer = next(answers)
            outcome = _outcome(question, answer, partial(check, index))
            # An asker that counts answers counts the rejected ones as fallbacks
            reject: Callable[..., None] | None = getattr(asker, "reject", None)
            if outcome.reason and answer.value is not None and reject is not None:
                reject(question, answer, outcome.reason)
        out.append(outcome)
    return out


def _outcome(
    question: Question, answer: Answer, check: Callable[[dict[str, Any]], T]
) -> QuestionOutcome[T]:
    """The outcome of an answered question."""
    if answer.value is None:
        return QuestionOutcome(None, "fallback", answer.reason)
    try:
        if not Draft202012Validator(question.schema).is_valid(answer.value):
            raise RejectedError(SCHEMA)
        return QuestionOutcome(check(answer.value), answer.origin)
    except RejectedError as rejected:
        return QuestionOutcome(None, answer.origin, str(rejected))
