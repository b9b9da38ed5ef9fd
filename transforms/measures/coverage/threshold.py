"""What τ asks of a pattern's count, with or without an interval.

A share is a statement about where the records come from. So a pattern is called uncovered only when
the upper bound of its share is below τ. The bound grows with the count: for a given number of
records there is one count below which it is below τ, and the search needs only that number.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evenflow.schemas.threshold import Threshold

TINY = 1e-300  # where the bound is 0 or 1 whatever the function says


def limit(threshold: Threshold, total: float, squares: float, confidence: float | None) -> int:
    """The count below which a pattern is called uncovered.

    `confidence`: Level of the two-sided interval; None: the count itself is compared.
    """
    needed = threshold.needed(total)
    if threshold.share is None or confidence is None or not total:
        return needed
    least, most = 0, needed  # the bound of `needed` is never below the threshold
    while least < most:
        middle = (least + most) // 2
        if interval(middle, total, squares, confidence)[1].item() < threshold.share:
            least = middle + 1
        else:
            most = middle
    return least


def interval(
    count: npt.ArrayLike, total: float, squares: npt.ArrayLike, confidence: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Confidence intervals of shares.

    Clopper and Pearson's, on the effective number of records total² / squares, as Korn and Graubard
    (1998) do for clustered samples. With Kish's squares, records of one document count as if they
    were all alike, so the interval is rather too wide than too narrow. `clusters.Design` has those
    of a pattern.

    `count`: Records that match, (n,) or a number. `squares`: Sum over clusters of their squared
    number of records, (n,) or a number.

    Returns their lower and their upper bounds, 0 to 1.
    """
    effective = total * total / np.asarray(squares, float)
    hits = np.asarray(count) * effective / total
    rest = np.maximum(effective - hits, 0)
    tail = (1 - confidence) / 2
    from scipy.special import betaincinv  # most runs need none of scipy, which loads slowly

    low = np.where(hits > 0, betaincinv(np.maximum(hits, TINY), rest + 1, tail), 0.0)
    high = np.where(rest > 0, betaincinv(hits + 1, np.maximum(rest, TINY), 1 - tail), 1.0)
    return low, high
