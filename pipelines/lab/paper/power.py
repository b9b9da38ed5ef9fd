"""What an experiment shows, and the smallest effect that it could have seen."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import stdtrit
from scipy.stats import nct

LEVEL, POWER = 0.95, 0.8
MOST = 20.0  # standard errors that are looked at


def effect(values: npt.NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Estimate an effect from halves of a corpus: it, its interval, the smallest that is shown."""
    mean, own = float(np.mean(values)), error(values)
    half = student(len(values)) * own
    return mean, mean - half, mean + half, own * smallest(len(values))


def error(values: npt.NDArray[np.float64]) -> float:
    """The standard error of a figure, from its spread over halves of a corpus.

    The spread is the standard error of a figure of all documents (delete-half jackknife, Shao and
    Wu 1989), so it is not divided by the root of the number of seeds: more seeds make the interval
    surer, not narrower than the corpus allows.
    """
    return float(np.std(values, ddof=1))


@cache
def smallest(seeds: int) -> float:
    """The smallest effect that k seeds show with power 0.8, in standard errors."""
    return float(brentq(lambda size: power(size, 1.0, seeds) - POWER, 0.0, MOST))  # pyright: ignore[reportArgumentType]


def power(size: float, error: float, seeds: int) -> float:
    """How often an effect is shown: Student's test of a value with so many degrees of freedom."""
    if not error:
        return float(size != 0)
    bound = student(seeds)
    shift = size / error
    # SciPy has no number for a far tail of less than 1e-30
    other_way = np.nan_to_num(nct.cdf(-bound, seeds - 1, shift))
    return float(nct.sf(bound, seeds - 1, shift) + other_way)


def student(seeds: int) -> float:
    """Student's quantile of the interval."""
    return float(stdtrit(seeds - 1, (1 + LEVEL) / 2))
