"""The threshold τ: what it asks of a pattern's count, with or without an interval.

A share is a statement about where the records come from. So a pattern is called uncovered only when
the upper bound of its share is below τ. The bound grows with the count: for a given number of
records there is one count below which it is below τ, and the search needs only that number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from scipy.special import betaincinv


class ThresholdError(ValueError):
    """A threshold that is neither a share nor a count."""


@dataclass(frozen=True)
class Threshold:
    """The least coverage of a pattern.

    Attributes:
        share: As a share of the records, 0 to 1, exact; None where a count is asked for.
        count: As a number of records; None where a share is asked for.
    """

    share: Fraction | None = None
    count: int | None = None

    @classmethod
    def parse(cls, text: str) -> Threshold:
        """Read a threshold.

        Args:
            text: A share with a decimal point or a percent sign (0.01, 1%, 1.0), or a whole number
                of records (30).

        Returns:
            The threshold.

        Raises:
            ThresholdError: It is neither, or the share is not between 0 and 1.
        """
        try:
            if text.strip().isdigit():
                return cls(count=int(text))
            percent = text.strip().endswith("%")
            share = Fraction(text.strip().removesuffix("%")) / (100 if percent else 1)
        except (ValueError, ZeroDivisionError):
            share = Fraction(-1)
        if not 0 <= share <= 1:
            raise ThresholdError(
                f"{text!r} is no threshold; a share (0.01 or 1%) or a number of records (30) was"
                " expected"
            )
        return cls(share=share)

    def __str__(self) -> str:
        return f"{float(self.share):g}" if self.share is not None else str(self.count)

    def needed(self, total: float) -> int:
        """The least count that reaches the threshold among so many records."""
        if self.share is None:
            return self.count or 0
        return math.ceil(self.share * Fraction(total))

    def limit(self, total: float, squares: float, confidence: float | None) -> int:
        """The count below which a pattern is called uncovered.

        Args:
            total: Number of records.
            squares: Sum over clusters of their squared number of records (`Table`).
            confidence: Level of the two-sided interval; None: the count itself is compared.

        Returns:
            That count. With a threshold that is a count, there is no interval.
        """
        needed = self.needed(total)
        if self.share is None or confidence is None or not total:
            return needed
        least, most = 0, needed  # the bound of `needed` is never below the threshold
        while least < most:
            middle = (least + most) // 2
            if interval(middle, total, squares, confidence)[1] < self.share:
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
