"""Association tests, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from evenflow.transforms.lab.bias_score import seat
from evenflow.transforms.lab.bias_score.seat import associate

A, B = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])


def at(*differences: float) -> np.ndarray:
    """Unit vectors whose cosine with A less that with B is given."""
    # cos t - sin t = sqrt(2) cos(t + 45°)
    angles = np.arccos(np.array(differences) / np.sqrt(2)) - np.pi / 4
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def test_the_effect_by_hand() -> None:
    # Associations 0.8, 0.4 and -0.4, -0.8: means ±0.6, standard deviation sqrt(1.6 / 3)
    found = associate(at(0.8, 0.4), 5 * at(-0.4, -0.8), 2 * A, B)
    assert found.effect == pytest.approx(1.2 / np.sqrt(1.6 / 3))
    assert found.targets == 4
    # Of the 6 splits only the observed one has such a sum
    assert found.p == pytest.approx(1 / 6)
    assert found.low <= found.effect <= found.high


def test_turned_sets_have_the_opposite_effect() -> None:
    found = associate(at(-0.4, -0.8), at(0.8, 0.4), A, B)
    assert found.effect == pytest.approx(-1.2 / np.sqrt(1.6 / 3))
    assert found.p == 1.0
    assert associate(at(0.8, 0.4), at(-0.4, -0.8), B, A).effect == pytest.approx(found.effect)


def test_ties_count_as_reached() -> None:
    # Sums of two of 0.5, 0.5, 0.5, -0.5: three of six are 1.0
    assert associate(at(0.5, 0.5), at(0.5, -0.5), A, B).p == pytest.approx(0.5)


def test_drawn_splits_are_near_the_exact_share(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    x, y = at(*random.uniform(-0.5, 0.9, 6)), at(*random.uniform(-0.9, 0.5, 6))
    exact = associate(x, y, A, B)
    monkeypatch.setattr(seat, "EXACT", 0)
    monkeypatch.setattr(seat, "DRAWS", 10_000)
    drawn = associate(x, y, A, B)
    assert drawn.p == pytest.approx(exact.p, abs=4 * np.sqrt(exact.p / seat.DRAWS) + 1e-4)
    assert drawn.effect == exact.effect
    assert associate(x, y, A, B) == drawn


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (at(0.5), "x: 2 vectors or more"),
        (np.array([[0.0, 0.0], [1, 0]]), "x: a vector is zero"),
        (np.array([[np.nan, 0.0], [1, 0]]), "x: a vector is zero or not finite"),
        (at(0.5, 0.5), "the same association"),
    ],
)
def test_bad_sets_are_refused(x: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        associate(x, at(0.5, 0.5), A, B)
