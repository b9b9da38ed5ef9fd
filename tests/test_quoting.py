"""Whose words a quotation is."""

from __future__ import annotations

import pytest

from evenflow.transforms.substitution import quoting, sets
from evenflow.transforms.substitution.quoting import OF_NOBODY, OF_SOURCE, Quoting
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.wordsets import WordSets


def weight(text: str, word: str) -> float:
    start = text.index(word)
    whole = [(0, len(text))]
    item = Item(start, start + len(word), word, "female", "pronoun", 0, None)
    Quoting(text, whole, WordSets(text, whole)).check([item], [item])
    return item.weight


@pytest.mark.parametrize(
    ("text", "word", "wanted"),
    [
        ('"Did she call?" asked the clerk.', "she", OF_NOBODY),
        ('A resident said, "She fixed it for free."', "She", OF_NOBODY),
        ('"Did she call?" asked Robert Miles.', "she", OF_SOURCE),
        ('"Did she call?" asked Zorvan.', "she", OF_SOURCE),
        ('We sang "When She Was Mine" twice.', "She", OF_SOURCE),
        ('They call it "her kind of thing" there.', "her", OF_SOURCE),
        ("She called.", "She", 1.0),
    ],
)
def test_whose_words(text: str, word: str, wanted: float) -> None:
    assert weight(text, word) == wanted


def test_a_report_has_sources() -> None:
    rest = "The plan was well received by all. " * 12
    text = f'"It helps," she says. {rest} "We trust her."'
    assert weight(text, "her") == OF_SOURCE


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('"Yes, Dad."', True),
        ('"Where is it?"', True),
        ('"The Old Man of the Hills"', False),
        ('"Rest Well, Kind Gentlemen"', False),
        ('"STOP HER NOW"', False),
        ('"..."', False),
    ],
)
def test_what_is_said(text: str, wanted: bool) -> None:
    assert quoting.is_utterance(text, 0, len(text)) is wanted


def test_a_reason_is_given() -> None:
    text = '"Did she call?" asked the clerk.'
    whole = [(0, len(text))]
    item = Item(5, 8, "she", "female", "pronoun", 0, None)
    Quoting(text, whole, WordSets(text, whole)).check([item], [item])
    assert item.reason == sets.QUOTATION
