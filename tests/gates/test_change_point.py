"""The change-point test: its false alarms, and that it sees a change."""

from __future__ import annotations

import numpy as np
import pytest

from evenflow.gates.change_point import Cusum, threshold


def run_length(figures: np.ndarray, stated: float) -> int:
    """Figures up to the first alarm, or all."""
    state = Cusum()
    for number, figure in enumerate(figures):
        state, change = state.add(float(figure), stated)
        if change:
            return number
    return len(figures)


def test_the_threshold_gives_known_run_lengths() -> None:
    # Hawkins and Olwell 1998, table 3.1 (two-sided, k = 0.5): h = 4 has 168, h = 5 has 465
    assert threshold(168) == pytest.approx(4, abs=0.03)
    assert threshold(465) == pytest.approx(5, abs=0.03)


@pytest.mark.parametrize(("mean", "spread"), [(0.0, 1.0), (0.3, 0.02)])
def test_false_alarms_are_as_rare_as_stated(mean: float, spread: float) -> None:
    stated, most = 60.0, 400
    rng = np.random.default_rng(1)
    found = [run_length(rng.normal(mean, spread, most), stated) for _ in range(300)]
    # Alarms of a constant rate: those cut off at `most` are few. 300 runs know the mean to 6 %
    assert np.mean(found) == pytest.approx(stated, rel=0.2)


def test_a_change_is_seen_soon_and_named() -> None:
    rng = np.random.default_rng(2)
    state = Cusum()
    for figure in rng.normal(0.2, 0.02, 40):
        state, change = state.add(float(figure), 1000)
        assert change is None
    changes: list[str | None] = []
    while not any(changes):
        state, change = state.add(float(rng.normal(0.25, 0.02)), 1000)
        changes.append(change)
    assert (changes[-1], state) == ("rise", Cusum()) and len(changes) < 10


def test_a_figure_that_never_moves_raises_nothing() -> None:
    assert run_length(np.full(200, 0.5), 20) == 200
