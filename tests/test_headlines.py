"""Headlines."""

from __future__ import annotations

import pytest

from evenflow.transforms.substitution.headlines import is_headline, needs_no_article


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        ("Pensioner Stops Runaway Tram on Market Street", True),
        ("PENSIONER STOPS TRAM", True),
        ("Pensioner stops runaway tram on Market Street", False),
        ("Anna Met Paul Reed.", False),
        ("A pensioner met Anna", False),
        ("Two Words", False),
        ("", False),
    ],
)
def test_is_headline(text: str, headline: bool) -> None:
    assert is_headline(text) is headline


@pytest.mark.parametrize(
    ("before", "after", "bare"),
    [
        ("", " Stops Runaway Tram", True),
        ("", " stops runaway tram", True),
        ("", " in court over noise", True),
        ("", " found asleep", True),
        ("", " rescued from cliff", True),
        ("", " Williams sang", False),
        ("", " stops runaway tram.", False),
        ("The ", " stops tram", False),
        ("", " class cancelled", False),
    ],
)
def test_a_noun_that_needs_no_article(before: str, after: str, bare: bool) -> None:
    assert needs_no_article(before, after) is bare
