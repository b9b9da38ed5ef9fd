"""Simulates what a gate judges while its input stays as it is: which thresholds fit.

Windows of documents are drawn with replacement from documents that were seen (Efron 1979), and each
gets the interval's lower bound, which the gate compares with its thresholds. The share of windows
at or above a threshold is how often the gate would warn or block although nothing has changed: a
false alarm. Documents are drawn one by one. Where neighbours are alike, as the documents of one
file may be, more windows are above.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evenflow.transforms.measures.representation.interval import intervals

WINDOWS = 2000  # the share above the 99.9 % quantile is then known to about 0.15 points
DRAWN_AT_ONCE = 4_000_000  # numbers of draws in memory: windows times documents


def lower_bounds(
    counts: npt.NDArray[np.int64],
    target: npt.NDArray[np.float64],
    documents: int,
    confidence: float,
    windows: int = WINDOWS,
    seed: int = 0,
) -> npt.NDArray[np.float64]:
    """Draw windows and compute the lower bound of each one's DR.

    Args:
        counts: Mentions (D, M) of M groups in the D documents that were seen.
        target: The target's shares (M,).
        documents: Number of documents of a window.
        confidence: Level of the interval.
        windows: Number of windows.
        seed: Of the draws.

    Returns:
        The bounds, in ascending order; windows without two documents that name a group are left
        out.
    """
    naming = counts.any(axis=1)
    own = counts[naming].astype(float)
    share = len(own) / max(len(counts), 1)
    if not len(own):
        return np.zeros(0)
    crossed = (own[:, :, None] * own[:, None, :]).reshape(len(own), -1)
    rng = np.random.default_rng(seed)
    found: list[npt.NDArray[np.float64]] = []
    step = max(DRAWN_AT_ONCE // len(own), 1)
    for first in range(0, windows, step):
        sizes = rng.binomial(documents, share, min(step, windows - first))
        sizes = sizes[sizes >= 2]
        drawn = rng.multinomial(sizes, np.full(len(own), 1 / len(own))).astype(float)
        products = (drawn @ crossed).reshape(len(sizes), *2 * own.shape[1:])
        if len(sizes):
            found.append(
                intervals(sizes.astype(float), drawn @ own, products, target, confidence).low
            )
    return np.sort(np.concatenate(found)) if found else np.zeros(0)
