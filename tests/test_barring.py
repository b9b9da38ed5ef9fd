"""What lowers the confidence of items."""

from __future__ import annotations

import pytest

from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.barring import LONGEST_SENTENCE, bar, is_english
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.wordsets import WordSets


def barred(text: str, word: str, attribute: str = "gender", others: tuple[tuple[int, int], ...] = ()) -> tuple[float, str]:
    start = text.index(word)
    group = {"gender": "female", "religion": "islam"}[attribute]
    item = Item(start, start + len(word), word.lower(), group, "noun", 0, None)
    whole = [(0, len(text))]
    bar(text, whole, [item], attribute, others, WordSets(text, whole))
    return item.weight, item.reason


@pytest.mark.parametrize(
    ("text", "word", "reason"),
    [
        ("The woman is pregnant.", "woman", "biology"),
        ('They said "the woman left" and went.', "woman", sets.QUOTATION),
        ("Die Frau kaufte woman Brot gestern Morgen dort.", "woman", sets.FOREIGN),
        ("woman " * LONGEST_SENTENCE, "woman", sets.LONG),
        ("See `woman` here.", "woman", "code or address"),
    ],
)
def test_a_reason_lowers_the_weight(text: str, word: str, reason: str) -> None:
    weight, said = barred(text, word)
    assert weight < 0.5 and said == reason


def test_nothing_lowers_an_ordinary_sentence() -> None:
    assert barred("The woman left.", "woman") == (1.0, "")


@pytest.mark.parametrize(("others", "weight"), [(((0, 9),), 0.0), (((0, 3),), 1.0), (((10, 14),), 1.0)])
def test_a_mention_of_another_attribute_may_overlap(others: tuple[tuple[int, int], ...], weight: float) -> None:
    assert barred("The woman left.", "woman", others=others)[0] == weight


def test_neighbours_tell_doctrine() -> None:
    text = "They fast in Ramadan. The Muslim left."
    item = Item(26, 32, "muslim", "islam", "noun", 1, None)
    sentences = [(0, 21), (22, len(text))]
    bar(text, sentences, [item], "religion", (), WordSets(text, sentences))
    assert item.weight < 0.5 and item.reason == sets.DOCTRINE


@pytest.mark.parametrize(
    ("text", "english"),
    [("Kurz.", True), ("She was at the market with them.", True), ("Gestern kaufte Heinz frisches Brot beim Nachbarn.", False)],
)
def test_english(text: str, english: bool) -> None:
    assert is_english(text) is english
