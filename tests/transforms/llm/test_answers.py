"""Asking and checking: one outcome for every question, counted once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from scripted_asker import NO_ANSWER, Says

from evenflow.transforms.llm.questions import (
    QUOTE,
    SCHEMA,
    TOO_LONG,
    Question,
    RejectedError,
    ask_checked,
)

CHOICE = {
    "type": "object",
    "properties": {"choice": {"type": "string"}},
    "required": ["choice"],
    "additionalProperties": False,
}


def question(word: str) -> Question:
    """A question about a word."""
    chat = ({"role": "user", "content": json.dumps({"word": word})},)
    return Question("test", "digest", chat, CHOICE, word)


def check(index: int, value: dict[str, Any]) -> str:
    """Accepts every choice except "refuse"."""
    if value["choice"] == "refuse":
        raise RejectedError(QUOTE)
    return f"{index}: {value['choice']}"


def test_each_question_has_its_outcome_in_order() -> None:
    asker = Says(
        lambda data: {"good": {"choice": "good"}, "odd": {"choose": 1}, "silent": None}.get(
            data["word"], {"choice": "refuse"}
        )
    )
    words = ("silent", "good", "odd", "bad", "good")
    outcomes = ask_checked(asker, [question("silent"), None, *map(question, words[1:])], check)
    assert [(each.value, each.origin, each.reason) for each in outcomes] == [
        (None, "fallback", NO_ANSWER),
        (None, "fallback", TOO_LONG),
        ("2: good", "model", ""),
        (None, "model", SCHEMA),
        (None, "model", QUOTE),
        ("5: good", "model", ""),
    ]
    assert len(asker.calls) == 1


@pytest.mark.parametrize("questions", [[], [None, None]])
def test_an_asker_gets_no_empty_batch(questions: list[None]) -> None:
    asker = Says(lambda data: {"choice": None})
    assert [each.reason for each in ask_checked(asker, questions, check)] == [TOO_LONG] * len(
        questions
    )
    assert not asker.calls


@pytest.mark.parametrize(
    "value", [[], "choice", 3, True, {"choice": "a", "b": 1}, {"choice": 1}, {1: 2}]
)
def test_odd_answers_are_rejected(value: Any) -> None:
    outcome = ask_checked(Says(lambda data: value), [question("a")], check)[0]
    assert (outcome.value, outcome.reason) == (None, SCHEMA)
