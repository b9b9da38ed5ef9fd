"""What τ asks of a pattern's count, with or without an interval.

A share is a statement about where the records come from. So a pattern is called uncovered only when
the upper bound of its share is below τ. The bound grows with the count: for a given number of
records there is one count below which it is below τ, and the search needs only that number.
"""

from __future__ import annotations

from scipy.special import betaincinv

from evenflow.schemas.threshold import Threshold


def limit(threshold: Threshold, total: float, squares: float, confidence: float | None) -> int:
    """The count below which a pattern is called uncovered.

    Args:
        threshold: The least coverage.
        total: Number of records.
        squares: Sum over clusters of their squared number of records (`Table`).
        confidence: Level of the two-sided interval; None: the count itself is compared.

    Returns:
        That count. With a threshold that is a count, there is no interval.
    """
    needed = threshold.needed(total)
    if threshold.share is None or confidence is None or not total:
        return needed
    least, most = 0, needed  # the bound of `needed` is never below the threshold
    while least < most:
        middle = (least + most) // 2
        if interval(middle, total, squares, confidence)[1] < threshold.share:
            least = middle + 1
        else:
            most = middle
    return least


def interval(count: float, total: float, squares: float, confidence: float) -> tuple[float, float]:
    """Confidence interval of a share.

    Clopper and Pearson's, on the effective number of records total² / squares (Kish), as Korn and
    Graubard (1998) do for clustered samples. Records of one document count as if they were all
    alike, so the interval is rather too wide than too narrow.

    Args:
        count: Records that match.
        total: All records, at least one.
        squares: Sum over clusters of their squared number of records.
        confidence: Level of the two-sided interval.

    Returns:
        Its lower and its upper bound, 0 to 1.
    """
    effective = total * total / squares
    hits = count * effective / total
    tail = (1 - confidence) / 2
    low = betaincinv(hits, effective - hits + 1, tail) if hits > 0 else 0.0
    high = betaincinv(hits + 1, effective - hits, 1 - tail) if hits < effective else 1.0
    return float(low), float(high)
