"""Nouns bound to a named person."""

from __future__ import annotations

import pytest

from evenflow.transforms import people, registers
from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.binding import bound, may_be_name, said_of_named
from evenflow.transforms.substitution.sets import Item


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


@pytest.mark.parametrize(
    ("text", "word", "before", "of_named"),
    [
        ("Anna is a devout Christian.", "Christian", False, True),
        ("harry powell , a catholic with a habit , left .", "catholic", False, True),
        ("He is a Muslim.", "Muslim", True, True),
        ("He is a Muslim.", "Muslim", False, False),
        ("They keep calling obama a muslim.", "muslim", False, True),
        ("They keep calling me a muslim.", "muslim", False, False),
        ("an outraged catholic butcher ( michael gambon ) shouts", "catholic", False, True),
        ("an elderly lady nicknamed cookie left", "elderly", False, True),
        ("My neighbor is a Jew.", "Jew", False, False),
        ("The man in the van was a Jew.", "Jew", False, False),
        ("the owner of the van was a jew.", "jew", False, False),
        ("they say trump is a jew.", "jew", False, True),
        ("grace is a devout muslim.", "muslim", False, True),
        ("Anna met a Jew.", "Jew", False, False),
    ],
)
def test_what_is_said_of_a_named_person(text: str, word: str, before: bool, of_named: bool) -> None:
    at = text.index(word)
    item = Item(at, at + len(word), word.lower(), "islam", "noun", 0, None)
    named = people.named(text, 0, len(text), registers.is_caseless(text) or text == text.lower())
    assert said_of_named(text, (0, len(text)), item, named, before) is of_named


@pytest.mark.parametrize(
    ("word", "name"), [("zwuck", True), ("zwuckism", False), ("neighbour", False), ("that", False), ("everybody", False)]
)
def test_words_that_may_be_names(word: str, name: bool) -> None:
    assert may_be_name(word) is name
