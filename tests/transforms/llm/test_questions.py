"""The key of a question: the same for the same question, another for any other."""

from __future__ import annotations

from substitution_questions import about


def test_the_key_tells_questions_apart() -> None:
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
