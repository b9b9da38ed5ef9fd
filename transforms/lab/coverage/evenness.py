"""How even groups are before and after a plan (IntersectionRE, Figure 4b); 1 is even, 0 one group.

The paper gives no formulas. Here, of the shares p of M groups: `balance` is min p / max p, `gap` is
1 - (max p - min p), and `spread` is 1 - the standard deviation of p by the one of a single group.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt

from evenflow.transforms.measures.coverage.mups import Coverage

DIGITS, MOST = 4, 1 << 16  # of figures; combinations of values that are looked at
TOGETHER = "all together"


def evenness(coverage: Coverage) -> dict[str, dict[str, float]]:
    """Describe how even the values of attributes are."""
    lattice, names = coverage.table.lattice, coverage.table.attributes
    sizes = lattice.sizes.tolist()
    patterns = {name: _alone(sizes, at) for at, name in enumerate(names)}
    if len(names) > 1 and np.prod(lattice.sizes.astype(float)) <= MOST:
        patterns[TOGETHER] = np.array(list(product(*map(range, sizes))), np.int64)
    counts = {
        name: coverage.count(lattice.encode(digits))
        for name, digits in patterns.items()
        if len(digits) > 1
    }
    return {name: _figures(each / each.sum()) for name, each in counts.items() if each.sum()}


def _alone(sizes: list[int], at: int) -> npt.NDArray[np.int64]:
    """The patterns that give one attribute a value, (c, d)."""
    digits = np.tile(np.array(sizes, np.int64), (sizes[at], 1))
    digits[:, at] = np.arange(sizes[at])
    return digits


def _figures(shares: npt.NDArray[np.float64]) -> dict[str, float]:
    single = np.sqrt((1 - 1 / len(shares)) / len(shares))  # deviation of (1, 0, …, 0)
    found = {
        "balance": shares.min() / shares.max(),
        "gap": 1 - (shares.max() - shares.min()),
        "spread": 1 - shares.std() / single,
    }
    return {name: round(float(each), DIGITS) for name, each in found.items()}
