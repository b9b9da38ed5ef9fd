"""JSON from a model's text: what is accepted, what is refused, and how a schema is asked for."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference_questions import RIGHT, SCHEMA, question

from evenflow.transforms.llm.client import http, parsing
from evenflow.transforms.llm.client.http import Completion, RequestError

CHECKED = parsing.validator(SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        RIGHT,
        f"\n{RIGHT}  ",
        f"```json\n{RIGHT}\n```",
        f"Surely:\n{RIGHT}\nIs there more?",
        f"<think>Is it {{so}}?</think>{RIGHT}",
    ],
)
def test_an_object_is_found_where_it_stands_alone(text: str) -> None:
    assert parsing.parse_answer(Completion(text, False, 0), CHECKED) == {
        "is_stereotype": True,
        "why": "so",
    }


def test_control_characters_in_a_string_are_taken() -> None:
    assert (
        parsing.parse_answer(
            Completion('{"is_stereotype": true, "why": "a\nb\x01"}', False, 0), CHECKED
        )["why"]
        == "a\nb\x01"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", http.EMPTY),
        (" \n", http.EMPTY),
        ("yes", http.NOT_JSON),
        ("[]", http.NOT_JSON),
        ("null", http.NOT_JSON),
        ('"{}"', http.NOT_JSON),
        (RIGHT + RIGHT, http.NOT_JSON),
        (f"It said {RIGHT}, so {RIGHT}", http.NOT_JSON),
        (RIGHT[:-2], http.NOT_JSON),
        ('{"is_stereotype": NaN, "why": ""}', http.NOT_JSON),
        ('{"is_stereotype": true, "why": "a", "why": "b"}', http.NOT_JSON),
        ('{"is_stereotype": true, "why": "\\ud800"}', http.NOT_JSON),
        ("[" * 100_000, http.NOT_JSON),
        ('{"a":' * 100_000, http.NOT_JSON),
        ("{}", http.OFF_SCHEMA),
        ('{"is_stereotype": 1, "why": ""}', http.OFF_SCHEMA),
        ('{"is_stereotype": true, "why": "", "more": 1}', http.OFF_SCHEMA),
        ('{"is_stereotype": true, "why": "' + "x" * 21 + '"}', http.OFF_SCHEMA),
    ],
)
def test_what_is_not_the_answer_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(RequestError) as error:
        parsing.parse_answer(Completion(text, False, 0), CHECKED)
    assert error.value.reason == reason


def test_an_answer_that_was_cut_off_is_refused_even_if_it_parses() -> None:
    with pytest.raises(RequestError) as error:
        parsing.parse_answer(Completion(RIGHT, True, 0), CHECKED)
    assert error.value.reason == http.TRUNCATED


def test_a_message_does_not_show_the_answer() -> None:
    with pytest.raises(RequestError) as error:
        parsing.parse_answer(
            Completion('{"is_stereotype": "SHOWN", "why": "SHOWN"}', False, 0), CHECKED
        )
    assert "SHOWN" not in error.value.detail


@given(st.text())
def test_any_text_is_an_answer_or_a_failure(text: str) -> None:
    try:
        found = parsing.parse_answer(Completion(text, False, 0), CHECKED)
    except RequestError as error:
        assert error.reason
    else:
        assert CHECKED.is_valid(found)


def test_a_schema_is_asked_for_in_the_systems_message() -> None:
    messages = question("Sentence.").messages
    with_system = parsing.with_schema(messages, SCHEMA)
    assert [each["role"] for each in with_system] == ["system", "user"]
    assert with_system[0]["content"].startswith("Judge.")
    assert json.dumps(SCHEMA) in with_system[0]["content"]
    without = parsing.with_schema(messages[1:], SCHEMA)
    assert [each["role"] for each in without] == ["system", "user"]
    assert without[1] == with_system[1] == dict(messages[1])
    assert messages == question("Sentence.").messages


def test_a_schemas_name_is_one_that_servers_take() -> None:
    named = parsing.response_format("a b/ä" + "x" * 100, SCHEMA)["response_format"]["json_schema"]
    assert named["name"] == "a_b__" + "x" * 59


def test_an_invalid_schema_is_refused() -> None:
    with pytest.raises(ValueError, match="not a JSON schema"):
        parsing.validator({"type": "thing"})
