"""Patterns of what stands before a mention."""

from __future__ import annotations

import pytest

from evenflow.transforms.substitution import placing as leads


@pytest.mark.parametrize(
    ("before", "there"),
    [
        ("I saw the ", True),
        ("The old ", True),
        ("the very old ", False),
        ("the man of ", False),
        ("breathe ", False),
    ],
)
def test_a_word_and_up_to_one_other(before: str, there: bool) -> None:
    found = leads.compile_lead("the|an?", 1, but="of").search(before)
    assert (found is not None) is there
