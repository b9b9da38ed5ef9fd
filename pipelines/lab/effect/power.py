"""What an experiment shows, and the smallest effect that it could have seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

LEVEL, POWER = 0.95, 0.8
RUNS = 20_000  # that are simulated
STEPS = np.arange(0.0, 20.0, 0.01)  # effects that are tried, in standard errors


@dataclass(frozen=True)
class Effect:
    """A figure, or a difference of two, with its interval.

    Attributes:
        value: Its mean over the seeds.
        low: Lower bound of the 95 % interval.
        high: Upper bound.
        smallest: The smallest effect that is shown in 80 % of such experiments.
    """

    value: float
    low: float
    high: float
    smallest: float

    @property
    def shown(self) -> bool:
        """Whether the interval is without 0."""
        return self.low * self.high > 0


def effect(values: Sequence[float] | npt.NDArray[np.float64], halves: bool = True) -> Effect:
    """Estimate an effect from halves of a corpus, or from documents that are drawn apart.

    Args:
        values: The figure of each of k seeds, 2 or more.
        halves: Whether each seed draws half of the corpus.
    """
    mean, own = float(np.mean(values)), error(values, halves, len(values))
    half = _student(len(values)) * own
    return Effect(mean, mean - half, mean + half, smallest(own, len(values)))


def error(values: Sequence[float] | npt.NDArray[np.float64], halves: bool, seeds: int) -> float:
    """The standard error of a figure, from its spread over seeds.

    If a seed draws half of the documents, the spread of such halves is the standard error of a
    figure of all documents (delete-half jackknife, Shao and Wu 1989), so it is not divided by the
    root of the number of seeds: more seeds make the interval surer, not narrower than the corpus
    allows. If seeds draw few documents each, it is divided: such an error is of draws from this
    corpus, and says nothing of how the corpus was drawn.

    Args:
        values: The figure of each of some seeds.
        halves: Whether each draws half of the corpus.
        seeds: The k seeds of the run that the error is of.
    """
    spread = float(np.std(values, ddof=1))
    return spread if halves else spread / seeds**0.5


def smallest(error: float, seeds: int) -> float:
    """The smallest effect that is shown with power 0.8, for a standard error and k seeds."""
    return error * _standard(seeds)


def power(size: float, error: float, seeds: int) -> float:
    """Simulate how often an effect is shown.

    Args:
        size: The true effect.
        error: The true standard error.
        seeds: The k seeds by which a run estimates it.

    Returns:
        The share of runs whose interval is without 0.
    """
    random = np.random.default_rng(0)
    found = size + error * random.standard_normal(RUNS)
    spread = error * np.sqrt(random.chisquare(seeds - 1, RUNS) / (seeds - 1))
    return float(np.mean(np.abs(found) > _student(seeds) * spread))


@cache
def _standard(seeds: int) -> float:
    """The smallest effect that is shown with power 0.8, in standard errors."""
    low, high = 0, len(STEPS) - 1
    while low < high:
        middle = (low + high) // 2
        if power(float(STEPS[middle]), 1.0, seeds) < POWER:
            low = middle + 1
        else:
            high = middle
    return float(STEPS[low])


def _student(seeds: int) -> float:
    """Student's quantile of the interval."""
    return float(stdtrit(seeds - 1, (1 + LEVEL) / 2))
