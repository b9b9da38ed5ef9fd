"""A change-point test on a sequence of figures: CUSUM that learns mean and spread as it goes.

Each figure is compared with those before it and turned into a normal deviate; without a change
these are independent and standard normal, whatever the figures' mean and spread (Hawkins 1987,
“Self-starting CUSUM charts for location and scale”). So the false-alarm rate is that of a CUSUM
with known parameters.
"""

from __future__ import annotations

import math
from typing import Any

from evenflow.schemas.ledger import Entry

DRIFT = 0.5  # standard deviations: best for changes of one (the reference value k)
FIRST = 3  # figures before the first comparison


class Cusum(Entry):
    """The state of the test.

    `squares`: Sum of their squared deviations.
    """

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    up: float = 0.0
    down: float = 0.0

    def add(self, figure: float, run_length: float) -> tuple[Cusum, str | None]:
        """Take the next figure.

        Returns the state after it, which begins anew after an alarm; and rise or fall, or None.
        """
        deviate = self._deviate(figure)
        up = max(0.0, self.up + deviate - DRIFT)
        down = max(0.0, self.down - deviate - DRIFT)
        if max(up, down) > threshold(run_length):
            return Cusum(), "rise" if up > down else "fall"
        count = self.count + 1
        mean = self.mean + (figure - self.mean) / count
        squares = self.squares + (figure - self.mean) * (figure - mean)
        return Cusum(count=count, mean=mean, squares=squares, up=up, down=down), None

    def _deviate(self, figure: float) -> float:
        """The figure as a standard normal deviate; 0 where there is nothing to compare with."""
        if self.count < FIRST or self.squares <= 0:
            return 0.0
        # It takes a third of a second to load
        import scipy.special  # pyright: ignore[reportMissingTypeStubs]

        special: Any = scipy.special
        spread = math.sqrt(self.squares / (self.count - 1))
        student = (figure - self.mean) / spread * math.sqrt(self.count / (self.count + 1))
        # By the lower tail, so that a large value does not become 1 and then infinite
        tail = max(float(special.stdtr(self.count - 1, -abs(student))), 1e-300)
        return math.copysign(-float(special.ndtri(tail)), student)


def threshold(run_length: float) -> float:
    """The sum from which there is an alarm.

    Siegmund's approximation for a two-sided CUSUM (1985, “Sequential Analysis”, section II.6):
    the run length of one side is (exp(2kb) - 2kb - 1) / 2k² with b = h + 1.166.

    Returns the threshold h, in standard deviations.
    """
    low, high = 0.0, 50.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        bound = 2 * DRIFT * (middle + 1.166)
        one_side = (math.exp(bound) - bound - 1) / (2 * DRIFT**2)
        low, high = (middle, high) if one_side / 2 < run_length else (low, middle)
    return high
