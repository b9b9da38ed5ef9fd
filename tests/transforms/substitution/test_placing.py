"""What a label is in its place."""

from __future__ import annotations

import pytest

from evenflow.transforms.substitution.placing import part_of_speech


@pytest.mark.parametrize(
    ("before", "after", "parts", "wanted"),
    [
        ("She is a ", ".", {"noun", "adjective"}, "noun"),
        ("She is ", ".", {"noun", "adjective"}, "adjective"),
        ("every ", " is loud", {"noun", "adjective"}, "noun"),
        ("so not ", " is loud", {"noun", "adjective"}, "adjective"),
        ("The ", " family left.", {"noun", "adjective"}, "adjective"),
        ("A ", " who left", {"noun", "adjective"}, "noun"),
        ("The ", " are lonely", {"adjective", "collective"}, "collective"),
        ("The ", " woman left", {"adjective", "collective"}, "adjective"),
        ("The ", " need help", {"adjective", "collective"}, "collective"),
        ("A ", " left", {"noun"}, "noun"),
        ("The ", " across the hall", {"noun", "adjective"}, "noun"),
        ("The ", " sang", {"noun", "adjective"}, "noun"),
        ("as a ", " ive said", {"noun", "adjective"}, "noun"),
        ("An ", ", gentle man", {"adjective", "collective"}, "adjective"),
        ("The ", " oak fell", {"collective"}, "other"),
    ],
)
def test_part_of_speech(before: str, after: str, parts: set[str], wanted: str) -> None:
    assert part_of_speech(before, after, parts) == wanted
