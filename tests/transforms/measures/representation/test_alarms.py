"""Thresholds from a simulation: how often an input that stays as it is would be at them."""

from __future__ import annotations

import numpy as np
import pytest

from evenflow.transforms.measures.representation.alarms import lower_bounds


def _stream(documents: int, seed: int) -> np.ndarray:
    """Counts of two groups, of which one is named three times as often; half name none."""
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(1, 1, (documents, 1)) * [1.0, 3.0]) * rng.integers(
        0, 2, (documents, 1)
    )


def test_fresh_windows_of_the_same_stream_are_seldom_at_the_threshold() -> None:
    even = np.full(2, 0.5)
    seen = lower_bounds(_stream(2000, 1), even, 200, 0.95, windows=1000)
    fresh = lower_bounds(_stream(50_000, 2), even, 200, 0.95, windows=1000, seed=3)
    threshold = np.quantile(seen, 0.99)
    assert 0.0 < np.mean(fresh >= threshold) < 0.03
    # The lower bound is nearly always below the true score, 0.25
    assert np.mean(fresh > 0.25) < 0.05


@pytest.mark.parametrize(
    ("counts", "documents"),
    [(np.zeros((5, 2), np.int64), 100), (np.ones((5, 2), np.int64), 1), (np.zeros((0, 2), int), 9)],
)
def test_windows_without_mentions_have_no_bound(counts: np.ndarray, documents: int) -> None:
    assert len(lower_bounds(counts, np.full(2, 0.5), documents, 0.95, windows=10)) == 0
