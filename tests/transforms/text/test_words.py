"""What counts as a word."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.text.words import blanked, split_runs


@given(st.text(), st.integers(0), st.integers(0))
def test_a_blanked_text_has_the_runs_of_each_part(text: str, first: int, last: int) -> None:
    assert len(blanked(text)) == len(text)
    assert blanked(text)[first:last].split() == split_runs(text[first:last])


def test_runs_by_hand() -> None:
    assert split_runs("Don't stop, Zoë_1!") == ["Don", "t", "stop", "Zoë_1"]
