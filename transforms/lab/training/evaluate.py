"""Figures of judges: area under the curve, shares with intervals, reliability, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.stats import rankdata

from evenflow.transforms import wilson

DRAWS = 300  # bootstrap samples of documents
BINS = 10
SEED = 0
Floats = npt.NDArray[np.floating[Any]]
Truth = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class JudgeFigures:
    """The figures of a judge on some rows.

    Attributes:
        n: Number of rows.
        right: Share of rows that are right or acceptable.
        area: Area under the curve of true against false positives; NaN where all rows are of one
            kind.
        low: Lower bound of its 95 % interval, by a bootstrap over documents.
        high: Upper bound of the same interval.
    """

    n: int
    right: float
    area: float
    low: float
    high: float


def figures(chances: Floats, true: Truth, documents: Sequence[str]) -> JudgeFigures:
    """Compute the figures of a judge.

    Args:
        chances: Its probabilities, (n,).
        true: The truth, (n,).
        documents: The document of each row, (n,).

    Returns:
        The figures.
    """
    _, codes = np.unique(np.asarray(documents), return_inverse=True)
    groups = (
        [np.flatnonzero(codes == code) for code in range(codes.max() + 1)] if len(codes) else []
    )
    rng = np.random.default_rng(SEED)
    draws: list[float] = []
    for _ in range(DRAWS if groups else 0):
        at = np.concatenate([groups[code] for code in rng.integers(0, len(groups), len(groups))])
        draws.append(area(chances[at], true[at]))
    low, high = (
        (float(each) for each in np.nanquantile(draws, [0.025, 0.975]))
        if not np.isnan(draws).all()
        else (np.nan, np.nan)
    )
    return JudgeFigures(
        len(true),
        float(true.mean()) if len(true) else np.nan,
        area(chances, true),
        low,
        high,
    )


def share(right: int, n: int) -> str:
    """Format a share with its 95 % interval (Wilson, 1927).

    Args:
        right: Number of hits.
        n: Number of rows.

    Returns:
        Share, interval and counts, or “none of 0”.
    """
    if not n:
        return "none of 0"
    low, high = wilson.interval(right / n, n)
    return f"{right / n:.2f} [{low:.2f}, {high:.2f}] ({right} of {n})"


def area(values: Floats, true: Truth) -> float:
    """Compute the area under the curve: how often a right row is above a wrong one.

    By ranks (Mann and Whitney, 1947).

    Args:
        values: Probabilities or logits, (n,).
        true: The truth, (n,).

    Returns:
        The area, 0 to 1; NaN where all rows are of one kind.
    """
    right, wrong = int(true.sum()), int((~true).sum())
    if not right or not wrong:
        return float("nan")
    ranks = rankdata(values)
    return float((ranks[true].sum() - right * (right + 1) / 2) / (right * wrong))


def platt(logits: Floats, true: Truth) -> list[float]:
    """Calibrate logits to probabilities (Platt, 1999).

    Args:
        logits: Logits, (n,).
        true: The truth, (n,).

    Returns:
        Slope and shift.
    """
    chances = np.where(true, (true.sum() + 1) / (true.sum() + 2), 1 / ((~true).sum() + 2))

    def loss(line: Floats) -> float:
        found = line[0] * logits + line[1]
        return float(np.mean(np.logaddexp(0, found) - chances * found))

    # BFGS, since Newton's steps can diverge from this start
    slope, shift = minimize(loss, np.array([1.0, 0.0])).x.tolist()
    return [slope, shift]


def reliability(chances: Floats, true: Truth) -> list[tuple[float, float, int]]:
    """Compare probabilities with the truth in `BINS` bins.

    Args:
        chances: Probabilities, (n,).
        true: The truth, (n,).

    Returns:
        Of each bin that has rows: the mean probability, the true share, the number of rows.
    """
    bins = np.minimum((chances * BINS).astype(int), BINS - 1)
    out: list[tuple[float, float, int]] = []
    for number in range(BINS):
        own = bins == number
        if own.any():
            out.append((float(chances[own].mean()), float(true[own].mean()), int(own.sum())))
    return out


def worst(values: npt.NDArray[Any], sizes: Sequence[int]) -> Floats:
    """Find the least of each run of values: of the windows of an exchange.

    Args:
        values: The values of all runs.
        sizes: The length of each run, at least 1.

    Returns:
        The least value of each run.
    """
    return np.minimum.reduceat(
        np.asarray(values, float), np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int)
    )
