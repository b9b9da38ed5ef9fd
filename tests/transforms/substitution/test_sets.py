"""Edits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.transforms.substitution.sets import Edit, apply, within


def test_edits_are_applied_in_the_texts_order() -> None:
    assert apply("abcdef", [Edit(4, 5, ""), Edit(0, 1, "XY")]) == "XYbcdf"


@pytest.mark.parametrize(
    "edits", [[Edit(0, 3, ""), Edit(2, 4, "")], [Edit(5, 9, "")], [Edit(3, 2, "")]]
)
def test_edits_that_overlap_or_lie_outside_are_an_error(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlaps another or lies outside"):
        apply("abcdef", edits)


@settings(deadline=None)
@given(st.text())
def test_no_edit_changes_nothing(text: str) -> None:
    assert apply(text, []) == text


def test_edits_within_a_stretch_are_moved_to_it_and_none_is_cut() -> None:
    edits = [Edit(0, 1, "x"), Edit(2, 3, "y"), Edit(4, 6, "z"), Edit(7, 9, "w")]
    assert within(edits, 2, 7) == [Edit(0, 1, "y"), Edit(2, 4, "z")]
    assert within(edits, 1, 5) == [Edit(1, 2, "y")]  # one that ends behind the stretch is not in it
    assert within(edits, 5, 9) == [Edit(2, 4, "w")]  # nor one that begins before it
    assert within([], 0, 9) == []
