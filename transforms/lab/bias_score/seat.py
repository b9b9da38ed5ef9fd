"""Association tests of sentence encoders (SEAT; May et al. 2019, after Caliskan et al. 2017).

Two sets of targets X and Y, two sets of attributes A and B, each a set of vectors: of sentences, or
of words (WEAT). The encoder is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

EXACT = 20_000  # splits of the targets up to which all are tried
DRAWS = 10_000  # splits that are drawn otherwise
# Of a split as extreme as the observed one, whose sum differs in the last digit
TOLERANCE = 1e-12


def associations(targets: Floats, a: Floats, b: Floats) -> Floats:
    """How much more each target goes with A: its mean cosine with A less that with B.

    `targets`: Vectors (n, D).

    Returns the associations (n,).

    `a`: Vectors of the attributes A, (k, D). `b`: Vectors of the attributes B, (l, D).
    """
    unit = _unit(targets)
    return (unit @ _unit(a).T).mean(axis=1) - (unit @ _unit(b).T).mean(axis=1)


def effect_size(first: Floats, second: Floats) -> float:
    """The effect size d: the difference of both means over the standard deviation of all.

    As in Dolci et al. 2023, section 5.1.1, with n - 1 (as sent-bias and bias-bench have it).

    `first`: Associations of the targets X (n,). `second`: Those of the targets Y (m,).
    """
    spread = np.concatenate([first, second]).std(ddof=1)
    return float((first.mean() - second.mean()) / spread) if spread > TOLERANCE else 0.0


def p_value(first: Floats, second: Floats, seed: int = 0) -> float:
    """The p value of associations, by permutation of the targets (exact for few targets).

    `first`: Associations of the targets X (n,).

    `second`: Those of the targets Y (m,).
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
