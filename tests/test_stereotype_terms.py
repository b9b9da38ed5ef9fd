"""Words as hashes and their classes."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.stereotyping import stereotype_terms as terms
from evenflow.wordlists import loader


def kind(word: str) -> str | None:
    number = int(terms.shipped().classes(terms.hashed([word]))[0]) >> terms.KIND_SHIFT
    return terms.KINDS[number - 1] if number else None


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("women", "person"),
        ("Mexicans", "ethnic"),
        ("norway", "place"),
        ("muslims", "religion"),
        ("lawyers", "profession"),
        ("families", None),
        ("table", None),
        ("lazy", None),
    ],
)
def test_kinds(word: str, expected: str | None) -> None:
    assert kind(word) == expected


def test_every_word_of_the_shipped_lists_is_a_term() -> None:
    pronouns = {"he", "she", "him", "her", "his", "hers", "himself", "herself"}
    for name in loader.SHIPPED:
        for label in loader.load(name).labels:
            if label.isascii() and label.isalpha() and label.lower() not in pronouns:
                assert kind(label) is not None, label


def test_no_word_of_grammar_is_a_term() -> None:
    stored = yaml.safe_load(terms.TERMS_PATH.read_text(encoding="utf-8"))
    named = {word for word, bits in terms.words().items() if bits >> terms.KIND_SHIFT}
    assert not named & {word for words in stored["cues"].values() for word in words.split()}
    assert {word for word in named if len(word) < 3} <= {"mr", "ms", "ma", "pa"}


def test_cues() -> None:
    bits = terms.words()
    assert bits["never"] & 1 << terms.CUE_CLASSES.index("negation")
    assert bits["myth"] & 1 << terms.CUE_CLASSES.index("counter")
    assert bits["she"] & terms.PRONOUN_BIT and not bits["she"] >> terms.KIND_SHIFT
    assert bits["james"] == terms.NAME_BIT


@given(st.text())
def test_tokens_cover_what_is_no_blank(text: str) -> None:
    codes = terms.encode(text)
    assert len(codes) == len(text)
    starts, ends, _ = terms.tokens(codes)
    inside = np.zeros(len(text) + 1, int)
    np.add.at(inside, starts, 1)
    np.add.at(inside, ends, -1)
    assert np.array_equal(np.cumsum(inside)[:-1] > 0, codes != terms.BLANK)


@given(st.text("abcé", min_size=1, max_size=12), st.text("abc .", max_size=20))
def test_a_hash_does_not_depend_on_the_place(word: str, before: str) -> None:
    alone = terms.encode(word)
    later = terms.encode(f"{before} {word}")
    start = len(before) + 1
    first = terms.Hasher(alone)(np.array([0]), np.array([len(word)]))
    second = terms.Hasher(later)(np.array([start]), np.array([start + len(word)]))
    assert first == second


def test_several_words_are_no_word() -> None:
    with pytest.raises(ValueError, match="a word was expected"):
        terms.hashed(["two words"])
