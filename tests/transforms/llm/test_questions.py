"""The key of a question: equal for equal questions only."""

from __future__ import annotations

from substitution_questions import about


def test_different_questions_have_different_keys() -> None:
    questions = (
        about("a", "b"),
        about("a", "c"),
        about("c", "b"),
        about("a", "b", "e"),
        about("\ud800", "é"),
    )
    keys = [each.key for each in questions]
    assert len(set(keys)) == len(keys)
    assert about("a", "b").key == keys[0]
    assert all(len(key) == 64 for key in keys)
