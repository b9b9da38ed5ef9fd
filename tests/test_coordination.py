"""Pairs that are even already."""

from __future__ import annotations

import pytest

from evenflow.transforms.counterfactuals import rewrite
from evenflow.transforms.substitution import sets
from evenflow.wordlists import loader

GENDER = loader.load("gender")


def even(text: str) -> int:
    found = rewrite(text, [GENDER], "gender").sets
    return sum(bar.reason == sets.EVEN for each in found for bar in each.barred)


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("He or she left.", 2),
        ("Each may take his or her hat.", 2),
        ("Men and women came.", 2),
        ("My mother and my father left.", 2),
        ("Boys & girls play.", 2),
        ("Both the men and the ladies sang.", 2),
        ("Sisters, brothers and friends came.", 2),
        ("A man met a woman.", 0),
        ("We asked 12 male and 9 female nurses.", 2),
        ("Wives cook more often than their husbands.", 2),
        ("My sister is as tall as my brother.", 2),
        ("A woman and her son left.", 0),
    ],
)
def test_pairs(text: str, mentions: int) -> None:
    assert even(text) == mentions


@pytest.mark.parametrize(
    ("text", "compared"),
    [
        ("Women are not as strong as men.", True),
        ("The women did well. The men did not.", True),
        ("40 per cent of callers were men.", True),
        ("Not every man wants to hurt women.", True),
        ("Two men came. A woman left.", False),
        ("The men left.", False),
    ],
)
def test_men_and_women_who_are_compared(text: str, compared: bool) -> None:
    found = rewrite(text, [GENDER], "gender").sets
    assert any(bar.reason == sets.COMPARED for each in found for bar in each.barred) is compared


def test_a_contrast_with_the_sentence_before() -> None:
    found = rewrite("It suits many men. But women like it less.", [GENDER], "gender")
    assert {bar.reason for each in found.sets for bar in each.barred} == {sets.COMPARED}
