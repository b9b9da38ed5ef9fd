"""Word classes."""

from __future__ import annotations

import pytest

from evenflow.transforms.text import english, language


def test_words_are_text_even_where_yaml_has_another_meaning() -> None:
    assert {"on"} <= english.words("prepositions")


def test_an_unknown_class_is_an_error() -> None:
    with pytest.raises(KeyError):
        english.words("nothing")


def test_the_words_that_tell_english_are_its_class() -> None:
    assert set(language.WEIGHTS) == set(english.words("english"))
