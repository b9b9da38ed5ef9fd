"""Chains of mentions, seen through the sets they become."""

from __future__ import annotations

import pytest

from evenflow.transforms.counterfactuals import rewrite
from evenflow.transforms.substitution import sets
from evenflow.wordlists import loader

GENDER = loader.load("gender")


def chains(text: str) -> list[list[str]]:
    return [[mention.label for mention in each.mentions] for each in rewrite(text, [GENDER], "gender").sets]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("A man came. He sat down. His dog slept.", [["man", "he", "his"]]),
        ("She is a waitress.", [["she", "waitress"]]),
        ("A woman met a man. She liked him.", [["woman", "she"], ["man", "him"]]),
        ("A woman fell. The woman cried.", [["woman", "woman"]]),
        ("My sister works as a nun and she is happy.", [["sister", "nun", "she"]]),
        ("The boys played. The girls sang.", [["boys"], ["girls"]]),
    ],
)
def test_mentions_of_the_same_person_are_one_set(text: str, wanted: list[list[str]]) -> None:
    assert chains(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "Anna came home. She was tired.",
        "When she came home, Anna was tired.",
        "My friend Tom said he was late.",
        "Maria Lopez is a waitress. Her boss likes her.",
        "JOHN LOST HIS HAT.",
        "We spoke with Priya Natarajan. She agreed.",
    ],
)
def test_whoever_a_name_may_mean_stays(text: str) -> None:
    result = rewrite(text, [GENDER], "gender")
    assert result.text == text
    assert {bar.reason for each in result.sets for bar in each.barred} <= {sets.REFERS, sets.UNSURE, sets.NAMED, sets.BOUND}


def test_another_persons_name_bars_nothing() -> None:
    assert rewrite("A woman met Tom. She smiled.", [GENDER], "gender").text == "A man met Tom. He smiled."
