"""Questions to an LLM and their answers, plain data between the judges and the clients.

An asker that counts is told of the answers that the checks reject.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Generic, Literal, Protocol, TypeVar

from jsonschema import Draft202012Validator

from evenflow.prompts.loader import SENTENCE, Prompt, Slot, json_digest, load

# Where an answer's value comes from. A fallback has no value: the embedded model decides.
Origin = Literal["model", "cache", "fallback"]
# Reason of a fallback: the question is asked later, and the work is done again with its answer
DEFERRED = "not asked yet"
# For English in common models' vocabularies; other languages need more tokens
CHARACTERS_A_TOKEN = 4.0
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


@dataclass(frozen=True)
class Question:
    """One question to an LLM: a filled template and the form of its answer.

    Attributes:
        digest: SHA-256 of template, schema and examples.
        messages: The chat: role and content of each message.
        worth: How much depends on the answer (0 to 1): 1 if the embedded model is at its threshold.
            Only a budget uses it.
    """

    prompt: str
    digest: str
    messages: tuple[Mapping[str, str], ...]
    schema: Mapping[str, Any]
    sentence: str
    worth: float = field(default=0.0, compare=False)

    @property
    def key(self) -> str:
        """SHA-256 (64 hexadecimal digits) of all that the answer depends on, except the model.

        Caches use it as their key. Prompt and sentence alone are not enough: the same sentence is
        asked about with other candidates.
        """
        return json_digest([self.digest, [dict(message) for message in self.messages]]).hex()

    @property
    def tokens(self) -> int:
        """Tokens of the question and its answer, by their lengths: a budget is spent by these."""
        characters = sum(len(each["content"]) for each in self.messages)
        return round(characters / CHARACTERS_A_TOKEN + answer_tokens(self.prompt))

    @classmethod
    def of(
        cls, prompt: Prompt, sentence: str, slots: Mapping[str, Slot], worth: float = 0.0
    ) -> Question:
        """The question of a prompt about a sentence.

        Args:
            slots: The prompt's other slots.
            worth: How much depends on the answer (0 to 1).

        Raises:
            PromptError: A slot is missing or unknown.
        """
        messages = tuple(prompt.messages(sentence, **slots))
        return cls(prompt.name, prompt.digest, messages, prompt.schema, sentence, worth)

    @classmethod
    def example(cls, prompt: Prompt) -> Question:
        """A prompt's question about its own first example, which shows whether a server answers."""
        slots = dict(prompt.examples[0][0])
        return cls.of(prompt, str(slots.pop(SENTENCE)), slots)


@dataclass(frozen=True)
class Answer:
    """The answer to a question.

    Attributes:
        value: The JSON object; None for a fallback.
        reason: Why there is no value.
        tokens: Tokens of prompt and answer together.
        model: The model that answered; empty where it is not known.
    """

    value: dict[str, Any] | None
    origin: Origin
    reason: str = ""
    tokens: int = 0
    seconds: float = 0.0
    model: str = field(default="", kw_only=True)


@cache
def answer_tokens(prompt: str) -> float:
    """Tokens of an answer to a prompt: the average over the prompt's examples."""
    lengths = [len(json.dumps(answer)) for _, answer in load(prompt).examples]
    return sum(lengths) / len(lengths) / CHARACTERS_A_TOKEN


def worth(score: float | None, middle: float) -> float:
    """How much depends on an answer: more, the nearer the score is to the threshold.

    `score`: The embedded model's score (0 to 1); None: it cannot judge.

    Returns A worth from 0 to 1; 1 without a score.
    """
    return 1.0 if score is None else 1.0 - abs(score - middle)


class Asker(Protocol):
    """Asks an LLM. It answers every question; a question without an answer gets a fallback."""

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer a question, in the order of the questions."""
        ...


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
