"""Edits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.transforms.substitution.sets import Edit, apply


def test_edits_are_applied_in_the_texts_order() -> None:
    assert apply("abcdef", [Edit(4, 5, ""), Edit(0, 1, "XY")]) == "XYbcdf"


@pytest.mark.parametrize("edits", [[Edit(0, 3, ""), Edit(2, 4, "")], [Edit(5, 9, "")], [Edit(3, 2, "")]])
def test_edits_that_overlap_or_lie_outside_are_an_error(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlaps another or lies outside"):
        apply("abcdef", edits)


@settings(deadline=None)
@given(st.text())
def test_no_edit_changes_nothing(text: str) -> None:
    assert apply(text, []) == text
