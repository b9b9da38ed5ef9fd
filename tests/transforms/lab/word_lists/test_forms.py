"""Singular and plural of labels."""

from __future__ import annotations

import pytest

from evenflow.transforms.lab.word_lists import forms


@pytest.mark.parametrize(
    ("word", "singular", "plural"),
    [
        ("christian", None, "christians"),
        ("christians", "christian", None),
        ("businesswoman", None, "businesswomen"),
        ("businesswomen", "businesswoman", None),
        ("brother-in-law", None, "brothers-in-law"),
        ("wife", None, "wives"),
        ("child", None, "children"),
        ("his", None, None),
        ("her", None, None),
        ("sis", None, "ses"),
    ],
)
def test_number(word: str, singular: str | None, plural: str | None) -> None:
    assert (forms.singular(word), forms.plural(word)) == (singular, plural)
    assert forms.other_number(word) == (singular or plural)
