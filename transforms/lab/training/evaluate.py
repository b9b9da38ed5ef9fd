"""Figures of judges: area under the curve, shares with intervals, calibration."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.stats import rankdata

from evenflow.transforms import wilson

Floats = npt.NDArray[np.floating[Any]]
Truth = npt.NDArray[np.bool_]


def share(right: int, n: int) -> str:
    """Format a share with its 95 % interval (Wilson, 1927)."""
    if not n:
        return "none of 0"
    low, high = wilson.interval(right / n, n)
    return f"{right / n:.2f} [{low:.2f}, {high:.2f}] ({right} of {n})"


def area(values: Floats, true: Truth) -> float:
    """Compute the area under the curve: how often a right row is above a wrong one.

    By ranks (Mann and Whitney, 1947).

    `values`: Probabilities or logits, (n,). `true`: The truth, (n,).

    Returns the area, 0 to 1; NaN where all rows are of one kind.
    """
    right, wrong = int(true.sum()), int((~true).sum())
    if not right or not wrong:
        return float("nan")
    ranks = rankdata(values)
    return float((ranks[true].sum() - right * (right + 1) / 2) / (right * wrong))


def platt(logits: Floats, true: Truth) -> list[float]:
    """Calibrate logits to probabilities (Platt, 1999).

    `logits`: Logits, (n,). `true`: The truth, (n,).
    """
    chances = np.where(true, (true.sum() + 1) / (true.sum() + 2), 1 / ((~true).sum() + 2))

    def loss(line: Floats) -> float:
        found = line[0] * logits + line[1]
        return float(np.mean(np.logaddexp(0, found) - chances * found))

    # BFGS, since Newton's steps can diverge from this start
    slope, shift = minimize(loss, np.array([1.0, 0.0])).x.tolist()
    return [slope, shift]
