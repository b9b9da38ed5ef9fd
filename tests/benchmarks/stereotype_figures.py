"""Figures of labelled sentences, with their intervals: shares (Wilson), areas and ranks
(bootstrap).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from figures import share
from scipy.stats import rankdata

Values = npt.NDArray[Any]
DRAWS = 1000  # of the bootstrap


def interval(figure: Callable[[Values], float], n: int) -> str:
    """A figure of n cases given by index, with its bootstrap interval."""
    rng = np.random.default_rng(0)
    low, high = np.nanquantile(
        [figure(rng.integers(0, n, n)) for _ in range(DRAWS)], (0.025, 0.975)
    )
    return f"{figure(np.arange(n)):.3f} [{low:.3f}, {high:.3f}] (n={n})"


def area(chances: Values, true: Values) -> Callable[[Values], float]:
    """Area under the ROC curve of the cases at some places, by the sum of the positives' ranks."""

    def of(at: Values) -> float:
        own = true[at]
        n = int(own.sum())
        if not 0 < n < len(at):
            return float("nan")
        return float((rankdata(chances[at])[own].sum() - n * (n + 1) / 2) / (n * (len(at) - n)))

    return of


def removal(called: Sequence[bool], true: Sequence[bool], strong: Sequence[bool]) -> str:
    """Precision and recall of what is taken out, and recall of the strong ones."""
    hits = sum(a and b for a, b in zip(called, true, strict=True))
    strongest = sum(a and b for a, b in zip(called, strong, strict=True))
    return (
        f"precision {share(hits, sum(called))}, recall {share(hits, sum(true))}, of strong ones"
        f" {share(strongest, sum(strong))}"
    )
