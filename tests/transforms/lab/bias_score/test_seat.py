"""Association tests, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from evenflow.transforms.lab.bias_score import seat

A, B = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])


def at(*differences: float) -> np.ndarray:
    """Unit vectors whose cosine with A less that with B is given."""
    # cos t - sin t = sqrt(2) cos(t + 45°)
    angles = np.arccos(np.array(differences) / np.sqrt(2)) - np.pi / 4
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def associate(x: np.ndarray, y: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """The effect size of two sets of targets, and its p value."""
    first, second = (seat.associations(each, a, b) for each in (x, y))
    return seat.effect_size(first, second), seat.p_value(first, second)


def test_the_effect_by_hand() -> None:
    # Associations 0.8, 0.4 and -0.4, -0.8: means ±0.6, standard deviation sqrt(1.6 / 3)
    effect, p = associate(at(0.8, 0.4), 5 * at(-0.4, -0.8), 2 * A, B)
    assert effect == pytest.approx(1.2 / np.sqrt(1.6 / 3))
    # Of the 6 splits only the observed one has such a sum
    assert p == pytest.approx(1 / 6)


def test_ties_count_as_reached() -> None:
    # Sums of two of 0.5, 0.5, 0.5, -0.5: three of six are 1.0
    assert associate(at(0.5, 0.5), at(0.5, -0.5), A, B)[1] == pytest.approx(0.5)


def test_drawn_splits_are_near_the_exact_share(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    x, y = at(*random.uniform(-0.5, 0.9, 6)), at(*random.uniform(-0.9, 0.5, 6))
    exact = associate(x, y, A, B)
    monkeypatch.setattr(seat, "DRAWS", 900)  # of 924
    drawn = associate(x, y, A, B)
    assert drawn[1] == pytest.approx(exact[1], abs=4 * np.sqrt(exact[1] / seat.DRAWS) + 1e-4)
    assert drawn[0] == exact[0]
    assert associate(x, y, A, B) == drawn
