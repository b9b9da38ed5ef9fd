"""The real vLLM with a tiny model of random weights: protocol, enforcement, concurrency,
limits.

What such a model answers is noise; only that it answers, and in which form, is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from inference_questions import question
from parts import require
from services import tiny_qwen, vllm_server

from evenflow.prompts import loader
from evenflow.transforms.llm.client.client import Client
from evenflow.transforms.llm.client.settings import ServerSettings
from evenflow.transforms.llm.questions import Question

# With random weights an object rarely closes by chance alone: a bound on its text does it.
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"enum": ["VALID", "INVALID"]}, "sure": {"type": "boolean"}},
    "required": ["verdict", "sure"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerSettings]:
    """A server for all tests."""
    require(vllm_server.installed())
    model = vllm_server.make_model(tmp_path_factory.mktemp("models") / "tiny")
    with vllm_server.started(model) as server:
        yield server


def test_the_schema_is_enforced_whatever_the_model_would_say(settings: ServerSettings) -> None:
    words: list[str] = []
    with Client(settings, say=words.append) as client:
        answers = client.ask(
            [question(f"Sentence {number}.", schema=SCHEMA) for number in range(100)]
        )
    assert {each.origin for each in answers} == {"model"}
    assert all(each.tokens > 0 for each in answers)
    assert words == []  # nothing had to be asked for in words


@pytest.mark.parametrize(
    ("changed", "text", "reason"),
    [
        ({}, "x" * (2 * tiny_qwen.CONTEXT), "too long for the model"),
        ({"model": "other"}, "a", "no such model"),
        ({"key": None}, "a", "key refused"),
        ({"max_tokens": 1}, "a", "answer cut off"),
        ({"deadline": 0.01}, "a", "timeout"),
    ],
)
def test_what_it_refuses_has_its_reason(
    settings: ServerSettings, changed: dict[str, object], text: str, reason: str
) -> None:
    with Client(replace(settings, **changed), say=lambda _: None) as client:
        assert client.ask([question(text, schema=SCHEMA)])[0].reason == reason


def test_the_check_asks_every_prompt(settings: ServerSettings) -> None:
    with Client(settings, say=lambda _: None) as client:
        checks = client.ask([Question.example(loader.load(name)) for name in loader.names()])
    # Noise may run on to max_tokens; a refusal would be another reason.
    assert {each.reason for each in checks} <= {"", "answer cut off"}
    assert all(each.tokens > 0 for each in checks)
