"""Pairs that name both sides: text -> the words that stay as they are."""

from __future__ import annotations

import pytest
from person_chains import chains

from evenflow.transforms.substitution import sets


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("He or she left.", "he she"),
        ("She/he left.", "he she"),
        ("Men and women came.", "men women"),
        ("Men, women came.", "men women"),
        ("Men versus women", "men women"),
        ("He, not she, left.", "he she"),
        ("her and his", "her his"),
        ("his mother and father", "father mother"),
        ("The king or the queen left.", "king queen"),
        ("Mr. and Mrs. Lee left.", "mr mrs"),
        ("a waiter and a waitress", "waiter waitress"),  # words that are no labels
        ("A boy and his sister sang.", ""),
        ("He and his wife left.", ""),
        ("The men left. And women came.", ""),
        ("He said that she left.", ""),
        ("He and the very old tall she", ""),  # too many words between
        (f"men and {'x' * 40} women", ""),
    ],
)
def test_what_names_both_sides(text: str, refused: str) -> None:
    items = [item for chain in chains("gender", text) for item in chain]
    assert " ".join(sorted(item.word for item in items if item.refusal == sets.EVEN)) == refused
    assert {item.refusal for item in items} <= {"", sets.EVEN}
