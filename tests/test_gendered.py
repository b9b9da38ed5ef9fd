"""Gendered words as items."""

from __future__ import annotations

import pytest

from evenflow.transforms.labels import LabelFinder
from evenflow.transforms.substitution import gendered, roles
from evenflow.transforms.substitution.gendered import Gendered
from evenflow.transforms.substitution.wordsets import WordSets
from evenflow.wordlists import loader

GENDER = loader.load("gender")


def items(text: str) -> list[tuple[str, float]]:
    whole = [(0, len(text))]
    found = Gendered(GENDER, roles.of(GENDER)).items(text, whole, LabelFinder([GENDER]).find(text), WordSets(text, whole))
    return [(item.word, item.weight) for item in found]


def test_which_lists_are_gendered() -> None:
    assert gendered.is_gendered(GENDER)
    assert not gendered.is_gendered(loader.load("age"))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("To man is human.", "man"),
        ("They will father a child.", "father"),
        ("The female mice slept.", "female"),
        ("A Dairy Queen opened.", "queen"),
        ("We trust in God.", "god"),
        ("I know He will help.", "he"),
        ("Move the king to e2.", "king"),
        ("Their god is a sin to god.", "god"),
        ("The army lost 900 men.", "men"),
    ],
)
def test_no_persons_at_all(text: str, word: str) -> None:
    assert dict(items(text))[word] < 0.5


@pytest.mark.parametrize(
    "text",
    [
        "The king slept.",
        "A male voice called.",
        "Local Man Finds Ring in His Soup",
        "The man left.",
        "A female engineer left.",
        "He left.",
        "My old father left.",
    ],
)
def test_persons(text: str) -> None:
    assert all(weight == 1 for _, weight in items(text))
