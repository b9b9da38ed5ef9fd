"""Association tests of sentence encoders (SEAT; May et al. 2019, after Caliskan et al. 2017).

Two sets of targets X and Y, two sets of attributes A and B, each a set of vectors: of sentences, or
of words (WEAT). The encoder is the caller's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import permutation_test

Floats = npt.NDArray[np.float64]

DRAWS = 20_000  # splits of the targets up to which all are tried; otherwise so many are drawn
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
    """The p value of associations, by permutation of the targets (exact for few targets)."""
    seeded: Any = {"random_state": seed}  # rng= from SciPy 1.15 on
    found: Any = permutation_test(
        (first, second),
        lambda own, _, axis: own.sum(axis),
        n_resamples=DRAWS,
        alternative="greater",
        **seeded,
    )
    return float(found.pvalue)


def _unit(rows: Floats) -> Floats:
    """Vectors (n, D) of length 1."""
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
