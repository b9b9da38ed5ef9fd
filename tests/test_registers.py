"""How a text is written, and what it is about."""

from __future__ import annotations

import pytest

from evenflow.transforms import registers


@pytest.mark.parametrize(
    ("text", "caseless"), [("she left.", False), ("word " * 60, True), ("Word here. " * 30, False), ("A" + "b" * 300, True)]
)
def test_whether_capitals_are_written(text: str, caseless: bool) -> None:
    assert registers.is_caseless(text) is caseless


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("this movie was fine", True),
        ("the plot was fine", False),
        ("the plot has a scene in it", True),
        ("we met at noon", False),
    ],
)
def test_texts_about_works(text: str, work: bool) -> None:
    assert registers.is_about_a_work(text) is work
