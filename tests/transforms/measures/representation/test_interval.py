"""The interval of DR covers the true score in simulated streams, and keeps known figures."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from evenflow.transforms.measures.representation.dr import score, sums
from evenflow.transforms.measures.representation.interval import Intervals, intervals

# The streams are few, so the limits are wide: of 600 intervals at 95 %, under 91.5 % or over 98.5 %
# cover the true score once in 10,000 times.
STREAMS, LEAST, MOST = 600, 91.5, 98.5


def streams(
    shares: list[float], documents: int, concentration: float, mean: float, seed: int
) -> NDArray[np.int64]:
    """Draw counts (STREAMS, documents, M).

    Shares within a document are Dirichlet; a document's number of mentions is geometric.
    """
    rng = np.random.default_rng(seed)
    within = rng.dirichlet(np.array(shares) * concentration, size=(STREAMS, documents))
    return rng.multinomial(rng.geometric(1 / mean, size=(STREAMS, documents)), within * (1 - 1e-12))


def intervals_of(counts: NDArray[np.int64], target: NDArray[np.float64]) -> Intervals:
    """Intervals of (STREAMS, documents, M) counts."""
    products = (counts.transpose(0, 2, 1) @ counts).astype(float)
    documents = np.full(len(counts), float(counts.shape[1]))
    return intervals(documents, counts.sum(axis=1).astype(float), products, target, 0.95)


# Dr, corrected, low, high of test_known_figures_stay
KNOWN = (0.188406, 0.177096, 0.118998, 0.254344)
CELLS = [
    ([0.5, 0.5], 50, [0.5, 0.5]),
    ([0.6, 0.4], 200, [0.5, 0.5]),
    ([0.2, 0.8], 200, [0.65, 0.35]),
    ([0.4, 0.35, 0.25], 200, [0.4, 0.35, 0.25]),
    ([0.6, 0.2, 0.2], 50, [0.4, 0.4, 0.2]),
    ([0.2, 0.2, 0.2, 0.2, 0.2], 100, [0.2, 0.2, 0.2, 0.2, 0.2]),
    ([0.25, 0.2, 0.2, 0.2, 0.15], 400, [0.2, 0.2, 0.2, 0.2, 0.2]),
]


@pytest.mark.parametrize(("shares", "documents", "target"), CELLS)
def test_coverage(shares: list[float], documents: int, target: list[float]) -> None:
    q = np.array(target)
    dr = np.abs(np.array(shares) - q).sum() / 2
    counts = streams(shares, documents, 1.0, 4.0, seed=documents + len(shares))
    found = intervals_of(counts, q)
    covered = 100 * ((found.low <= dr + 1e-9) & (found.high >= dr - 1e-9)).mean()
    assert LEAST <= covered <= MOST
    total = counts.sum(axis=1)
    p = total / total.sum(axis=1, keepdims=True)
    sign = np.sign(p - q)
    half = 0.98 * np.sqrt(
        ((sign**2 * p).sum(axis=1) - (sign * p).sum(axis=1) ** 2) / total.sum(axis=1)
    )
    # The naive interval fails the same test
    assert 100 * (np.abs(found.dr - dr) <= half).mean() < LEAST


def test_an_even_stream_is_called_uneven_about_once_in_twenty() -> None:
    found = intervals_of(streams([0.5, 0.5], 300, 2.0, 5.0, seed=4), np.array([0.5, 0.5]))
    assert 0.015 <= (found.low > 0).mean() <= 0.085


def test_the_correction_takes_off_most_of_the_bias() -> None:
    even = np.full(5, 0.2)
    found = intervals_of(streams([0.2] * 5, 200, 1.0, 4.0, seed=6), even)
    assert found.corrected.mean() < found.dr.mean() / 2
    shares = np.array([0.3, 0.2, 0.2, 0.2, 0.1])
    found = intervals_of(streams(shares.tolist(), 1000, 1.0, 4.0, seed=7), even)
    assert abs(found.corrected.mean() - 0.1) < (found.dr.mean() - 0.1) / 2


def test_a_row_does_not_depend_on_the_others() -> None:
    counts = streams([0.4, 0.35, 0.25], 60, 1.0, 4.0, seed=9)[:90]
    q = np.full(3, 1 / 3)
    together, alone = intervals_of(counts, q), intervals_of(counts[17:18], q)
    for name in ("dr", "corrected", "low", "high"):
        assert getattr(together, name)[17] == pytest.approx(getattr(alone, name)[0], abs=1e-9)


@pytest.mark.parametrize("documents", [2, 3, 10, 50, 1000])
def test_one_group_alone_is_no_certainty(documents: int) -> None:
    """The missing group's share may still be some documents' worth.

    It is at least the rule of three's 3 / D.
    """
    found = score(sums(np.array([[4, 0]] * documents)))
    assert found.low is not None and found.high == 0.5
    assert found.low <= max(0, 0.5 - 3 / documents)
    assert found.low >= 0.5 - 12 / documents


def test_one_document_with_nearly_all_mentions_is_no_certainty() -> None:
    found = score(sums(np.array([[900, 100]] + [[1, 1]] * 49)))
    assert found.low is not None and found.high is not None and found.high - found.low > 0.4


def test_width_shrinks_as_one_over_the_root() -> None:
    counts = streams([0.7, 0.3], 1600, 1.0, 4.0, seed=11)[:40]
    q = np.array([0.5, 0.5])
    wide, narrow = intervals_of(counts[:, :400], q), intervals_of(counts, q)
    assert (wide.high - wide.low).mean() / (narrow.high - narrow.low).mean() == pytest.approx(
        2, rel=0.1
    )


def test_known_figures_stay() -> None:
    """The same sums give the same digits on every machine: change these only with the method."""
    counts = np.array([[5, 1, 0], [2, 2, 1], [0, 3, 0], [4, 0, 2], [1, 1, 1]] * 12)
    found = score(sums(counts))
    assert (found.dr, found.corrected, found.low, found.high) == pytest.approx(KNOWN, abs=2e-6)
    at_a_jump = score(sums(np.array([[2, 0], [1, 2], [1, 1], [1, 0], [0, 2]])))
    assert at_a_jump.high == pytest.approx(0.465735, abs=2e-6)
