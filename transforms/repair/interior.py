"""Newton's method for a separable convex program with bounds: an interior-point method.

    minimise sum_k c_k(x_k)   subject to   A x = b,   low <= x <= high

It is the primal-dual method with a predictor and a corrector (Mehrotra 1992; Wright 1997, chapter
10). Each step solves R equations for the R multipliers, so a step costs R^2 K for K unknowns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Four = tuple[Floats, Floats, Floats, Floats]
# Values x (K,) -> first and second derivatives of the costs, (K,) each
Cost = Callable[[Floats], tuple[Floats, Floats]]

STEPS = 120  # most steps; a program takes 15 to 40
TOLERANCE = 1e-9  # of the equations, and of the mean complementarity
NEAR = 0.99  # part of the way to the nearest bound that a step may go


@dataclass(frozen=True)
class QuadraticProgram:
    """A separable convex program.

    `rows`: A, (R, K). `values`: b, (R,). `low`: Lower bounds, (K,). `high`: Upper bounds, (K,); inf
    for none. `size`: The scale of each unknown's cost, (K,).
    """

    rows: Floats
    values: Floats
    low: Floats
    high: Floats
    size: Floats


@dataclass(frozen=True)
class Solution:
    """A solution of a program.

    `x`: The unknowns, (K,). `multipliers`: Of the rows, (R,). `below`: Multipliers of the lower
    bounds, (K,), at least 0. `above`: Multipliers of the upper bounds, (K,), at least 0.
    """

    x: Floats
    multipliers: Floats
    below: Floats
    above: Floats


@dataclass(frozen=True)
class _Point:
    """Where a step begins: the program's rows, and what belongs to K unknowns and R rows.

    `factor`: Of the equations for the multipliers.

    `rows`: A, (R, K). `curve`: Second derivatives with those of the bounds, (K,). `down`: Distances
    from the lower bounds, (K,). `up`: Distances from the upper bounds, (K,); 1 where there is none.
    `below`: Multipliers of the lower bounds, (K,). `above`: Multipliers of the upper bounds, (K,).
    `capped`: Whether there is an upper bound, (K,). `rest`: What is left of the first derivatives,
    (K,). `lacking`: What the rows lack, (R,).
    """

    rows: Floats
    factor: tuple[Floats, bool]
    curve: Floats
    down: Floats
    up: Floats
    below: Floats
    above: Floats
    capped: npt.NDArray[np.bool_]
    rest: Floats
    lacking: Floats

    def step(self, low: Floats, high: Floats) -> Four:
        """The step to these products of multipliers and distances, of both kinds of bounds (K,)."""
        pull = (low - self.below * self.down) / self.down - self.rest
        pull -= (high - self.above * self.up) / self.up
        from scipy.linalg import cho_solve  # most runs need none of scipy, which loads slowly

        dy = cho_solve(self.factor, self.lacking - _times(self.rows / self.curve, pull))
        dx = (pull + np.einsum("rk,r->k", self.rows, dy)) / self.curve
        return (
            dx,
            dy,
            (low - self.below * dx) / self.down - self.below,
            np.where(self.capped, (high + self.above * dx) / self.up - self.above, 0),
        )


def solve(program: QuadraticProgram, cost: Cost, start: Floats) -> Solution:
    """Solve a program.

    `cost`: The first and the second derivatives of the costs.

    `start`: Unknowns between the bounds, (K,); they need not fulfil A x = b.
    """
    a, size, capped = program.rows, program.size, np.isfinite(program.high)
    x, y = start.copy(), np.zeros(len(a))
    first, _ = cost(x)
    scale = max(float(np.abs(first / size).max(initial=0)), 1.0)
    below: Floats = size * scale
    above: Floats = np.where(capped, size * scale, 0)
    bounds = size.sum() + size[capped].sum()
    for _ in range(STEPS):
        down: Floats = x - program.low
        up: Floats = np.where(capped, program.high - x, 1.0)
        slope, bend = cost(x)
        lacking: Floats = program.values - _times(a, x)
        rest: Floats = slope - np.einsum("rk,r->k", a, y) - below + above
        gap = float(below @ down + above @ up) / bounds
        off = max(float(np.abs(lacking).max(initial=0)), float(np.abs(rest / size).max()) / scale)
        if (off < TOLERANCE and gap < TOLERANCE * scale) or not np.isfinite(off + gap):
            break
        curve = bend + below / down + above / up
        thin = a / curve
        normal = np.einsum("rk,sk->rs", thin, a)
        normal[np.diag_indices_from(normal)] += 1e-14 * (1 + np.diagonal(normal))
        from scipy.linalg import cho_factor

        try:
            factor = cho_factor(normal, check_finite=False)
        except np.linalg.LinAlgError:  # scipy raises this class
            break
        now = _Point(a, factor, curve, down, up, below, above, capped, rest, lacking)
        zero = np.zeros_like(x)
        dx, _, db, da = now.step(zero, zero)
        reach = min(_reach(down, dx), _reach(up, np.where(capped, -dx, 0)))
        reach_dual = min(_reach(below, db), _reach(above, da))
        left = (below + reach_dual * db) @ (down + reach * dx)
        left += (above + reach_dual * da) @ np.where(capped, up - reach * dx, 0)
        # Never far below the tolerance, where rounding would put an unknown on its bound
        aim = max(gap * (float(left) / bounds / gap) ** 3, TOLERANCE * scale / 10) * size
        dx, dy, db, da = now.step(aim - dx * db, np.where(capped, aim + dx * da, 0))
        reach = NEAR * min(_reach(down, dx), _reach(up, np.where(capped, -dx, 0)))
        reach_dual = NEAR * min(_reach(below, db), _reach(above, da))
        # The costs are curved, so both go the same way
        both = min(1.0, reach, reach_dual)
        x, y, below, above = _moved((x, y, below, above), (dx, dy, db, da), both)
    return Solution(x, y, below, above)


def _moved(at: Four, change: Four, part: float) -> Four:
    """Go a part of a step. Its declared type spares pyright minutes of inference in the loop."""
    (x, y, below, above), (dx, dy, db, da) = at, change
    return x + part * dx, y + part * dy, below + part * db, above + part * da


def _times(rows: Floats, x: Floats) -> Floats:
    """Rows (R, K) times x (K,), summed in one order: BLAS would split sums by its threads."""
    return np.einsum("rk,k->r", rows, x)


def _reach(room: Floats, change: Floats) -> float:
    """How far a change may go until one of what must stay positive is 0, at most 1 / NEAR."""
    falling = change < 0
    return min(float((room[falling] / -change[falling]).min(initial=np.inf)), 1 / NEAR)
