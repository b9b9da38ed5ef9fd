"""The threshold τ of coverage: a share of the records, or a number of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


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
