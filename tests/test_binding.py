"""Nouns bound to a named person."""

from __future__ import annotations

import pytest

from evenflow.transforms import people, sets
from evenflow.transforms.binding import bound
from evenflow.transforms.sets import Item


@pytest.mark.parametrize(
    ("text", "noun", "reason"),
    [
        ("My brother John left.", "brother", sets.NAMED),
        ("His wife, Mary, left.", "wife", sets.NAMED),
        ("A boy named Tom left.", "boy", sets.NAMED),
        ("John is a good man.", "man", sets.REFERS),
        ("John Miller, a father of two, left.", "father", sets.REFERS),
        ("The chairman of the Board, Paul Reed, left.", "chairman", sets.NAMED),
        ("He plays a grumpy policeman.", "policeman", "named work or organisation"),
    ],
)
def test_a_bound_noun(text: str, noun: str, reason: str) -> None:
    at = text.index(noun)
    item = Item(at, at + len(noun), noun, "male", "noun", 0, None)
    sex = "f" if noun == "wife" else "m"
    found = bound(text, (0, len(text)), item, people.named(text, 0, len(text), False), sex, False, False)
    assert found is not None and found[1] == reason and found[0] < 0.5


def test_a_free_noun() -> None:
    text = "A man saw Mary."
    item = Item(2, 5, "man", "male", "noun", 0, None)
    assert bound(text, (0, len(text)), item, people.named(text, 0, len(text), False), "m", False, False) is None
