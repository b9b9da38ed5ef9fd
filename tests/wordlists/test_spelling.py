"""Which spellings are the same word."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.wordlists.spelling import fold, is_ignored, is_word, spell


@pytest.mark.parametrize(
    ("one", "other", "same", "same_case"),
    [
        ("She", "she", True, False),
        ("fiancée", "fiance\u0301e", True, True),
        ("fiancée", "fiancee", False, False),
        ("straße", "STRASSE", True, False),
        ("straße", "strasse", True, False),
        ("İ", "i", False, False),
        ("ı", "i", False, False),
        ("İ", "i\u0307", True, False),
        ("ﬁt", "fit", True, True),
        ("ｓｈｅ", "she", True, True),
        ("Ⅳ", "iv", True, False),
        ("σάς", "ΣΆΣ", True, False),
        ("ma'am", "ma’am", True, True),
        ("ma'am", "maam", False, False),
        ("in-law", "in‑law", True, True),
        ("in-law", "in-\nlaw", True, True),
        ("in-law", "in law", False, False),
        ("old man", "old\u00a0\n man", True, True),
        ("old man", "oldman", False, False),
        ("wo\u00adman", "woman", True, True),
        ("a²", "a2", False, False),
    ],
)
def test_spellings(one: str, other: str, same: bool, same_case: bool) -> None:
    assert (fold(one) == fold(other)) == same
    assert (spell(one) == spell(other)) == same_case


@given(st.text())
def test_folding_twice_is_folding_once_and_encoding_does_not_matter(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    words = "".join(c for c in text if is_word(c))
    assert fold(words) == fold(unicodedata.normalize("NFD", words)) == fold(words.lower())


@pytest.mark.parametrize(
    "character", "\u00ad\u200b\u200d\u200e\u202e\u2066\ufeff\ufe0f\u034f\u061c\u180e\U000e0100"
)
def test_ignored(character: str) -> None:
    assert is_ignored(character) and not is_word(character)


@pytest.mark.parametrize("character", "aÉж女9٣_\u0301\u093eªⅣʰ")
def test_of_a_word(character: str) -> None:
    assert is_word(character) and not is_ignored(character)


@pytest.mark.parametrize("character", " -'’.²½①™😀\u0600\u3164\u2800\ud800\x00\ufffd\ue000\u20ac")
def test_of_no_word(character: str) -> None:
    assert not is_word(character) and not is_ignored(character)
