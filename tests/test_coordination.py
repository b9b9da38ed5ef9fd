"""Pairs that are even already."""

from __future__ import annotations

import pytest

from evenflow.transforms import sets
from evenflow.transforms.counterfactuals import rewrite
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
        ("A woman and her son left.", 0),
    ],
)
def test_pairs(text: str, mentions: int) -> None:
    assert even(text) == mentions
