"""Asking and checking: one outcome for every question, counted once."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_asker import NO_ANSWER, Says

from evenflow.transforms.llm.answers import (
    QUOTE,
    SCHEMA,
    TOO_LONG,
    AnswerCounts,
    RejectedError,
    ask_checked,
)
from evenflow.transforms.llm.questions import Question

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
    tally = AnswerCounts()
    words = ("silent", "good", "odd", "bad", "good")
    outcomes = ask_checked(
        asker, [question("silent"), None, *map(question, words[1:])], check, tally
    )
    assert [(each.value, each.origin, each.reason) for each in outcomes] == [
        (None, "fallback", NO_ANSWER),
        (None, "fallback", TOO_LONG),
        ("2: good", "model", ""),
        (None, "model", SCHEMA),
        (None, "model", QUOTE),
        ("5: good", "model", ""),
    ]
    assert tally.to_json() == {
        "questions": 6,
        "accepted": 2,
        "rejected": {SCHEMA: 1, QUOTE: 1},
        "fallbacks": {NO_ANSWER: 1, TOO_LONG: 1},
    }
    assert len(asker.calls) == 1


@pytest.mark.parametrize("questions", [[], [None, None]])
def test_an_asker_gets_no_empty_batch(questions: list[None]) -> None:
    asker = Says(lambda data: {"choice": None})
    assert [each.reason for each in ask_checked(asker, questions, check, AnswerCounts())] == [
        TOO_LONG
    ] * len(questions)
    assert not asker.calls


@pytest.mark.parametrize(
    "value", [[], "choice", 3, True, {"choice": "a", "b": 1}, {"choice": 1}, {1: 2}]
)
def test_odd_answers_are_rejected(value: Any) -> None:
    outcome = ask_checked(Says(lambda data: value), [question("a")], check, AnswerCounts())[0]
    assert (outcome.value, outcome.reason) == (None, SCHEMA)


TALLIES = st.builds(
    AnswerCounts,
    st.integers(0, 9),
    st.dictionaries(st.text(max_size=2), st.integers(1, 9)).map(Counter),
    st.dictionaries(st.text(max_size=2), st.integers(1, 9)).map(Counter),
)


@given(TALLIES, TALLIES)
def test_tallies_add_up(one: AnswerCounts, other: AnswerCounts) -> None:
    both = one + other
    assert both.questions == one.questions + other.questions
    assert both == other + one
    assert json.loads(json.dumps(both.to_json())) == both.to_json()
