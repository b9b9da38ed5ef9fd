"""Quotes: what counts as copied from a sentence, and its place there."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.llm.quotes import find_quote


@pytest.mark.parametrize(
    ("text", "quote", "said"),
    [
        ("Old men are stubborn.", "Old men", "Old men"),
        ("Old men are stubborn.", "are stubborn.", "are stubborn"),
        ("Old men are stubborn.", "old  MEN", "Old men"),
        ("Old\u00a0men\n are", "Old men are", "Old\u00a0men\n are"),
        ("My sister’s “joke”", "sister's \"joke\"", "sister’s “joke"),
        ("She is a well–known nun", "well-known", "well–known"),
        ("The w\u200bo\u200bman", "woman", "w\u200bo\u200bman"),
        ("The woman", "w\u200boman", "woman"),
        ("Une idée", "ide\u0301e", "idée"),
        ("Une ide\u0301", "ide", None),
        ("Une ide\u0301e", "idée", "ide\u0301e"),
        ("Die STRASSE", "straße", "STRASSE"),
        ("Die Straße", "strasse", "Straße"),
        ("woman, a womanly woman", "a womanly woman", "a womanly woman"),
        ("womanly woman", "woman", "woman"),
        ("«All» men", "\"All\"", "All"),
        ("Une idé", "ide", None),
        ("Old men", "men", "men"),
        ("Women", "men", None),
        ("mental", "men", None),
        ("Old men", "young men", None),
        ("Old men", "", None),
        ("Old men ...", "...", None),
        ("", "men", None),
        ("Old, men", "Old men", None),
        ("Old men sang and left", "Old men ... left", None),
    ],
)  # fmt: skip
def test_quotes(text: str, quote: str, said: str | None) -> None:
    span = find_quote(text, quote)
    assert (None if span is None else text[span[0] : span[1]]) == said


@given(
    st.lists(
        st.sampled_from(("old", "Men", "are", "’tis", "idée", "«so»", "a\u200bb")), min_size=1
    ),
    st.data(),
)
def test_words_in_a_row_are_always_found(words: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    quote = " ".join(words[start:end])
    span = find_quote(" ".join(words), quote)
    assert span is not None
    assert find_quote(" ".join(words)[slice(*span)], quote) is not None


@given(st.text(), st.text())
def test_a_place_is_in_the_text(text: str, quote: str) -> None:
    span = find_quote(text, quote)
    assert span is None or 0 <= span[0] < span[1] <= len(text)


@pytest.mark.parametrize("text", ["a" * 200_000, "ab " * 70_000, "e\u0301\u0302" * 70_000])
def test_a_long_text_takes_linear_time(text: str) -> None:
    started = time.process_time()
    find_quote(text, text[1:1000] + "b")
    assert time.process_time() - started < 5  # 0.2 s here; what grows with the square takes minutes
