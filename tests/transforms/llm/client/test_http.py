"""HTTP responses: waits, reasons of failures, messages, and completions."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.llm.client import http
from evenflow.transforms.llm.client.http import (
    Completion,
    RequestError,
    error_text,
    parse_completion,
    request_error,
    retry_after,
)

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0),
        (" 7 ", 7),
        ("Tue, 14 Nov 2023 22:13:50 GMT", 30),
        ("Tue, 14 Nov 2023 22:00:00 GMT", 0),
        (None, None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("²", None),
        ("9" * 400, 999_999_999),
    ],
)
def test_retry_after_has_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


@given(st.text())
def test_retry_after_takes_any_text(value: str) -> None:
    found = retry_after(value, NOW)
    assert found is None or found >= 0


@pytest.mark.parametrize("status", range(300, 600))
def test_every_status_has_a_reason_and_only_passing_trouble_is_tried_again(status: int) -> None:
    found = request_error(status, {}, b"")
    assert found.reason
    assert found.retry == (status in (408, 425, 429) or (status >= 500 and status != 501))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": {"message": "no room"}}', "no room"),
        (b'{"object": "error", "message": "no room"}', "no room"),
        (b'{"detail": "no room"}', "no room"),
        (b'{"error": "no room"}', "no room"),
        (b"<html>\n no   room", "<html> no room"),
        (b"\xff", "�"),
        (b"x" * 1000, "x" * http.SHOWN + "…"),
    ],
)
def test_a_servers_words_are_cut_and_on_one_line(body: bytes, said: str) -> None:
    assert error_text(body) == said


def test_a_completion_has_its_text_and_tokens() -> None:
    choice = {"message": {"content": "yes"}, "finish_reason": "length"}
    assert parse_completion(
        json.dumps({"choices": [choice], "usage": {"total_tokens": 5}}).encode()
    ) == Completion("yes", True, 5)
    for usage in (
        None,
        {},
        {"total_tokens": "many"},
        {"total_tokens": -1},
        {"total_tokens": 1 << 80},
    ):
        assert (
            parse_completion(json.dumps({"choices": [choice], "usage": usage}).encode()).tokens == 0
        )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["choices", "message", "content", "usage"]), inner)
    ),
)


@given(JSON.map(lambda data: json.dumps(data).encode()) | st.binary())
def test_anything_else_is_a_failure_and_no_other_error(body: bytes) -> None:
    try:
        found = parse_completion(body)
    except RequestError as error:
        assert error.reason == http.NO_COMPLETION
    else:
        assert isinstance(found.text, str)
