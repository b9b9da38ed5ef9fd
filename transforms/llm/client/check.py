"""Asks a server one question of each prompt: the check before a run."""

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
    """The outcome of a prompt's question."""

    prompt: str
    version: int
    digest: str
    reason: str
    seconds: float
    tokens: int

    @property
    def is_sound(self) -> bool:
        """Whether the answer was within its schema."""
        return not self.reason


def check(asker: Asker, names: Sequence[str]) -> list[PromptCheck]:
    """Checks prompts one after the other, each with the sentence of its own first example.

    It stops if the server refuses the key, since no other question would do better.

    Returns:
        A check for each prompt that was asked.

    Raises:
        PromptError: No prompt has one of these names.
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
    """All results of a check as plain data."""
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
        # Prompts and answers together, asked one by one; with many questions under way a server
        # reaches a multiple of it
        "tokens_a_second": round(tokens / seconds, 1) if seconds else None,
        "said": list(said),
    }


def _checked(prompt: loader.Prompt, answer: Answer) -> PromptCheck:
    """The check of a prompt's answer."""
    return PromptCheck(
        prompt.name, prompt.version, prompt.digest, answer.reason, answer.seconds, answer.tokens
    )
