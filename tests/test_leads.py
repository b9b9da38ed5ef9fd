"""What stands before a mention."""

from __future__ import annotations

import pytest

from evenflow.transforms.substitution import leads


@pytest.mark.parametrize(
    ("before", "there"),
    [("I saw the ", True), ("The old ", True), ("the very old ", False), ("the man of ", False), ("breathe ", False)],
)
def test_a_word_and_up_to_one_other(before: str, there: bool) -> None:
    found = leads.after("the|an?", 1, but="of").search(before)
    assert (found is not None) is there


def test_a_possessive_stands_for_the_word() -> None:
    assert leads.after_possessor("the", 1, leads.PLAIN).search("a teacher's young ")
    assert not leads.after_possessor("the", 1, leads.PLAIN).search("a teacher, young ")


def test_a_comma_may_stand_behind_an_other() -> None:
    assert leads.after("an?", 2, leads.WITH_COMMA).search("a tall, kind ")
    assert not leads.after("an?", 2).search("a tall, kind ")
