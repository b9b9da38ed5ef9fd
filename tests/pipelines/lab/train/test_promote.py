"""What is promoted, from figures alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.pipelines.lab.train.promote import Compared, decide

BOUNDS = st.floats(-1, 1)


@pytest.mark.parametrize(
    ("better", "figure", "low", "high", "worse"),
    [
        ("higher", 0.5, -0.04, 0.1, 0.04),
        ("higher", 0.5, 0.01, 0.1, -0.01),
        ("lower", 0.3, -0.1, 0.02, 0.02),
        ("0.5", 0.6, -0.15, -0.02, -0.02),
        ("0.5", 0.6, -0.22, -0.02, 0.02),
        ("0.5", 0.5, -0.03, 0.02, 0.03),
        ("higher", None, None, None, None),
        ("higher", 0.5, None, None, None),
        ("higher", 0.5, 0.0, 0.0, 0.03),
        ("lower", 0.5, 0.0, 0.0, 0.03),
        ("0.5", 0.5, 0.0, 0.0, 0.03),
    ],
)
def test_by_how_much_a_figure_may_be_worse(
    better: str, figure: float, low: float, high: float, worse: float | None
) -> None:
    found = Compared("s", "base", better, figure, low, high, 100).worse
    assert found == (None if worse is None else pytest.approx(worse))


@given(st.sampled_from(["higher", "lower", "0.5"]), st.floats(0, 1), BOUNDS, BOUNDS)
def test_no_difference_of_the_interval_is_worse_than_said(
    better: str, figure: float, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    worst = Compared("s", "base", better, figure, low, high, 100).worse
    assert worst is not None
    for part in (0, 0.3, 0.7, 1):
        change = low + part * (high - low)
        now = {"higher": -change, "lower": change}.get(
            better, abs(figure + change - 0.5) - abs(figure - 0.5)
        )
        assert now <= worst + 1e-9


def test_one_figure_that_may_be_worse_or_says_nothing_keeps_a_model_aside() -> None:
    good = Compared("hellaswag", "base", "higher", 0.4, -0.01, 0.02, 100)
    bad = Compared("crows_pairs", "last", "0.5", 0.6, -0.02, 0.08, 100)
    silent = Compared("bbq", "last", "lower", 0.2, None, None, 1)
    assert decide([good], 0.05) == (
        True,
        "promoted: no figure is worse than base by more than 0.05",
    )
    promoted, why = decide([good, bad, silent], 0.05)
    assert not promoted
    assert why == (
        "kept aside: crows_pairs may be worse than last by 0.080; bbq has no interval against last"
        " (margin 0.05)"
    )
