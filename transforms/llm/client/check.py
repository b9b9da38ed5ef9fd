"""Asks a server one question of each prompt, and says what came back: the look before a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenflow.prompts import loader
from evenflow.transforms.llm.client.http import REFUSED
from evenflow.transforms.llm.client.server import ServerInfo
from evenflow.transforms.llm.questions import Answer, Asker, Question


@dataclass(frozen=True)
class PromptCheck:
    """What came of a prompt's question. reason: empty for an answer within its schema."""

    prompt: str
    version: int
    digest: str
    reason: str
    seconds: float
    tokens: int

    @property
    def is_sound(self) -> bool:
        """Whether it was answered within its schema."""
        return not self.reason


def check(asker: Asker, names: Sequence[str]) -> list[PromptCheck]:
    """The check of each named prompt, one after the other, with the sentence of the prompt's own
    first example.

    It stops where the server refuses the key: no other question would fare better. Raises
    PromptError.
    """
    checks: list[PromptCheck] = []
    for name in names:
        prompt = loader.load(name)
        (answer,) = asker.ask([example(prompt)])
        checks.append(_checked(prompt, answer))
        if answer.reason == REFUSED:
            break
    return checks


def example(prompt: loader.Prompt) -> Question:
    """A prompt's question about the sentence of its first example."""
    slots = dict(prompt.examples[0][0])
    sentence = str(slots.pop(loader.SENTENCE))
    return Question.of(prompt, sentence, slots)


def as_json(
    server: ServerInfo, model: str, checks: Sequence[PromptCheck], said: Sequence[str]
) -> Mapping[str, Any]:
    """All that a check found, as plain data. said: the client's messages."""
    seconds = sum(each.seconds for each in checks)
    tokens = sum(each.tokens for each in checks)
    return {
        "version": server.version,
        "model": model,
        "prompts": [
            {
                "prompt": each.prompt,
                "version": each.version,
                "digest": each.digest,
                "sound": each.is_sound,
                "reason": each.reason or None,
                "seconds": round(each.seconds, 3),
                "tokens": each.tokens,
            }
            for each in checks
        ],
        # Prompts and answers together, asked one by one: a server with many questions under way has
        # a multiple of it.
        "tokens_a_second": round(tokens / seconds, 1) if seconds else None,
        "said": list(said),
    }


def _checked(prompt: loader.Prompt, answer: Answer) -> PromptCheck:
    return PromptCheck(
        prompt.name, prompt.version, prompt.digest, answer.reason, answer.seconds, answer.tokens
    )
