"""How nouns come into a text."""

from __future__ import annotations

import pytest

from evenflow.transforms.substitution.introducing import is_definite_plural, is_own, is_pointed_at, may_be_the_same
from evenflow.transforms.substitution.sets import Item


def item(text: str, noun: str, kind: str = "noun") -> Item:
    at = text.index(noun)
    return Item(at, at + len(noun), noun, "male", kind, 0, None)


@pytest.mark.parametrize(
    ("text", "noun", "kind", "own"),
    [
        ("that was my dad.", "dad", "noun", True),
        ("that was my step-dad.", "dad", "noun", True),
        ("he met a tall man.", "man", "noun", True),
        ("he met the man.", "man", "noun", False),
        ("some tall men left.", "men", "plural", True),
        ("the two men left.", "men", "plural", False),
        ("my dad called him.", "him", "pronoun", False),
    ],
)
def test_own(text: str, noun: str, kind: str, own: bool) -> None:
    assert is_own(text, 0, item(text, noun, kind)) is own


@pytest.mark.parametrize(("text", "noun", "at"), [("this guy is loud.", "guy", True), ("so the guy is loud.", "guy", False)])
def test_pointed_at(text: str, noun: str, at: bool) -> None:
    assert is_pointed_at(text, 0, item(text, noun)) is at


@pytest.mark.parametrize(("text", "definite"), [("then the men left.", True), ("then men left.", False)])
def test_definite_plurals(text: str, definite: bool) -> None:
    assert is_definite_plural(text, 0, item(text, "men", "plural")) is definite


@pytest.mark.parametrize(
    ("text", "noun", "same"),
    [
        ("he acts like a man on fire.", "man", True),
        ("see his art guy is great.", "guy", False),
        ("look at that, guy is great.", "guy", True),
        ("he met a man.", "man", False),
    ],
)
def test_nouns_that_may_be_the_same_person(text: str, noun: str, same: bool) -> None:
    assert may_be_the_same(text, 0, item(text, noun)) is same
