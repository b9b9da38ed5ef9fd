"""Association tests of sentence encoders (SEAT; May et al. 2019, after Caliskan et al. 2017).

Two sets of targets X and Y, two sets of attributes A and B, each a set of vectors: of sentences, or
of words (WEAT). The encoder is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

EXACT = 20_000  # splits of the targets up to which all are tried
DRAWS = 10_000  # splits, and samples of the interval, otherwise
# Of a split as extreme as the observed one, whose sum differs in the last digit
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Association:
    """How much more X goes with A, and Y with B, than the other way round.

    Attributes:
        effect: Effect size d, -2 to 2.
        p: Share of the splits of the targets into sets of these sizes whose difference is at least
            the observed one; small where the association is no chance.
        low: Lower bound of the 95 % interval of d.
        high: Upper bound of that interval.
        targets: Number of targets.
    """

    effect: float
    p: float
    low: float
    high: float
    targets: int


def associate(x: Floats, y: Floats, a: Floats, b: Floats, seed: int = 0) -> Association:
    """Test an association.

    d is the difference of the targets' mean associations over the standard deviation of all, as in
    Dolci et al. 2023, section 5.1.1, with n - 1 (as sent-bias and bias-bench have it).

    Args:
        x: Vectors of the targets that are thought to go with A, (n, D), at least 2.
        y: Vectors of those that are thought to go with B, (m, D), at least 2.
        a: Vectors of the attributes A, (k, D).
        b: Vectors of the attributes B, (l, D).
        seed: Seed of the draws.

    Returns:
        The effect size, with a p value by permutation of the targets (exact for few targets), and
        an interval by bootstrap over the targets of each set (percentiles).

    Raises:
        ValueError: A set is too small, a vector is zero or not finite, or all targets have the
            same association.
    """
    for name, each, least in (("x", x, 2), ("y", y, 2), ("a", a, 1), ("b", b, 1)):
        if len(each) < least:
            raise ValueError(f"{name}: {least} vectors or more were expected, not {len(each)}")
        if not np.isfinite(each).all() or not np.linalg.norm(each, axis=1).all():
            raise ValueError(f"{name}: a vector is zero or not finite")
    own = associations(np.concatenate([x, y]), a, b)
    spread = own.std(ddof=1)
    if spread <= TOLERANCE:
        raise ValueError("all targets have the same association")
    random, size = np.random.default_rng(seed), len(x)
    first, second = own[:size], own[size:]
    draws = [
        (random.choice(first, len(first)), random.choice(second, len(second))) for _ in range(DRAWS)
    ]
    sampled = np.array([effect_size(one, other) for one, other in draws])
    low, high = np.quantile(sampled, (0.025, 0.975))
    return Association(
        effect_size(first, second), _p_value(own, size, random), float(low), float(high), len(own)
    )


def associations(targets: Floats, a: Floats, b: Floats) -> Floats:
    """How much more each target goes with A: its mean cosine with A less that with B.

    Args:
        targets: Vectors (n, D).
        a: Vectors of the attributes A, (k, D).
        b: Vectors of the attributes B, (l, D).

    Returns:
        The associations (n,).
    """
    unit = _unit(targets)
    return (unit @ _unit(a).T).mean(axis=1) - (unit @ _unit(b).T).mean(axis=1)


def effect_size(first: Floats, second: Floats) -> float:
    """The effect size d of associations.

    Args:
        first: Associations of the targets X (n,).
        second: Those of the targets Y (m,).

    Returns:
        d; 0 where nothing varies.
    """
    spread = np.concatenate([first, second]).std(ddof=1)
    return float((first.mean() - second.mean()) / spread) if spread > TOLERANCE else 0.0


def p_value(first: Floats, second: Floats, seed: int = 0) -> float:
    """The p value of associations, as in `associate`.

    Args:
        first: Associations of the targets X (n,).
        second: Those of the targets Y (m,).
        seed: Seed of the draws.

    Returns:
        The share of splits whose first set has at least the observed sum.
    """
    return _p_value(np.concatenate([first, second]), len(first), np.random.default_rng(seed))


def _p_value(own: Floats, size: int, random: np.random.Generator) -> float:
    """The share of splits whose first set has at least the observed sum."""
    observed = own[:size].sum() - TOLERANCE
    if comb(len(own), size) <= EXACT:
        sums = [own[list(chosen)].sum() for chosen in combinations(range(len(own)), size)]
        return float(np.mean(np.array(sums) >= observed))
    reached = sum(sums >= observed for sums in _drawn(own, size, random))
    # The observed split is one of them (Phipson and Smyth 2010)
    return (int(reached) + 1) / (DRAWS + 1)


def _drawn(own: Floats, size: int, random: np.random.Generator) -> Iterator[float]:
    """Sums of the first set in random splits."""
    for _ in range(DRAWS):
        yield float(random.permutation(own)[:size].sum())


def _unit(rows: Floats) -> Floats:
    """Vectors (n, D) of length 1."""
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
