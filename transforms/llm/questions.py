"""What is asked of an LLM and what comes back: the plain data between the judges and whoever does
the asking.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

# Where an answer's value came from. A fallback has no value: the embedded model answers in its
# place.
Origin = Literal["model", "cache", "fallback"]
# Reason of a fallback: the question was heard, and its answer is there when work is done again
REHEARSED = "not asked yet"


@dataclass(frozen=True)
class Question:
    """One question to an LLM: a filled template and what its answer must look like.

    `prompt` is the template's name, `digest` the SHA-256 of template, schema and examples,
    `messages` the chat (role and content), `schema` the JSON schema of the answer, `sentence` the
    text asked about. `worth`, 0 to 1, is how much hangs on the answer: 1 where the embedded model
    is at its decision; a budget goes by it, and nothing else.
    """

    prompt: str
    digest: str
    messages: tuple[Mapping[str, str], ...]
    schema: Mapping[str, Any]
    sentence: str
    worth: float = field(default=0.0, compare=False)

    @property
    def key(self) -> str:
        """SHA-256 (64 hexadecimal digits) of all that the answer depends on, the model apart: what
        a cache is keyed by.

        Prompt and sentence alone are not enough: the same sentence is asked about with other
        candidates.
        """
        said = json.dumps(
            [self.digest, [dict(message) for message in self.messages]], sort_keys=True
        )
        return hashlib.sha256(said.encode("ascii")).hexdigest()


@dataclass(frozen=True)
class Answer:
    """What came back: `value` is the JSON object, or None with the reason; `tokens` in all;
    `seconds` of waiting.
    """

    value: dict[str, Any] | None
    origin: Origin
    reason: str = ""
    tokens: int = 0
    seconds: float = 0.0


def worth(score: float | None, middle: float) -> float:
    """How much hangs on an answer, 0 to 1: the nearer the embedded model's score is to its
    decision, the more.

    score: None where the embedded model cannot say; then everything does.
    """
    return 1.0 if score is None else 1.0 - abs(score - middle)


class Asker(Protocol):
    """Whoever asks an LLM. It answers every question, in order, and marks as fallback what got no
    answer.
    """

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """One answer a question, in the order of the questions."""
        ...
