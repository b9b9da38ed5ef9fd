"""Asks a server one question of each prompt: the check before a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenflow.prompts import loader
from evenflow.transforms.llm.client.http import REFUSED
from evenflow.transforms.llm.questions import Asker, Question


@dataclass(frozen=True)
class PromptCheck:
    """The outcome of a prompt's question."""

    prompt: str
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
        checks.append(PromptCheck(name, answer.reason, answer.seconds, answer.tokens))
        if answer.reason == REFUSED:
            break
    return checks


def example(prompt: loader.Prompt) -> Question:
    """A prompt's question about the sentence of its first example."""
    slots = dict(prompt.examples[0][0])
    sentence = str(slots.pop(loader.SENTENCE))
    return Question.of(prompt, sentence, slots)
