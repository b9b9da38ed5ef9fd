"""The interval of a share by its score test (Wilson, 1927)."""

from __future__ import annotations

from math import sqrt

NORMAL_95 = 1.96  # standard errors on either side of an interval of 95 %


def interval(share: float, size: float, quantile: float = NORMAL_95) -> tuple[float, float]:
    """Compute the interval of a share.

    Args:
        share: The share, 0 to 1.
        size: The number of independent cases, above 0; an effective one may be a fraction.
        quantile: Standard errors on either side.
    """
    more = quantile**2 / size
    half = quantile * sqrt(share * (1 - share) / size + more / (4 * size))
    low, high = ((share + more / 2 + side * half) / (1 + more) for side in (-1, 1))
    return max(low, 0.0), min(high, 1.0)  # rounding may leave 0 and 1
