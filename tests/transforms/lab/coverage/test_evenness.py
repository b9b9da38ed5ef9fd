"""How even groups are before and after a plan."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.schemas.threshold import Threshold
from evenflow.transforms.lab.coverage.evenness import TOGETHER, evenness
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.table import Table


def of(*counts: int) -> dict[str, dict[str, float]]:
    """Of women and men in x, then in y."""
    records = {
        ((sex,), (at,)): count
        for (sex, at), count in zip(("fx", "mx", "fy", "my"), counts, strict=True)
        if count
    }
    table = Table.of({"sex": ["f", "m"], "at": ["x", "y"]}, records, sum(counts))
    return evenness(Coverage(table, Threshold.parse("1")))


def test_figures_of_known_shares() -> None:
    assert of(5, 5, 5, 5) == {
        name: {"balance": 1, "gap": 1, "spread": 1} for name in ("sex", "at", TOGETHER)
    }
    assert of(9, 0, 0, 0)[TOGETHER] == {"balance": 0, "gap": 0, "spread": 0}
    found = of(1, 3, 2, 6)
    assert found["sex"] == {"balance": 0.3333, "gap": 0.5, "spread": 0.5}
    assert found["at"]["balance"] == 0.5 and found["at"]["gap"] == pytest.approx(2 / 3, abs=1e-4)
    assert of(0, 0, 0, 0) == {}


@given(st.lists(st.integers(0, 50), min_size=4, max_size=4).filter(any))
def test_figures_are_shares_and_what_is_even_together_is_even_alone(counts: list[int]) -> None:
    found = of(*counts)
    assert all(-1e-9 <= each <= 1 for figures in found.values() for each in figures.values())
    if found[TOGETHER]["spread"] == 1:
        assert found["sex"]["balance"] > 0.98
