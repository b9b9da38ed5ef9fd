"""The least DR that changes can lead to, and the fewest changes that do: two linear programs, as
`planning` describes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from evenflow.transforms.representation.dr import demographic_representation

Floats = npt.NDArray[np.float64]

DIGITS = 9  # of a rate: a thousand million sets would be off by one
NOISE = 1e-8  # of a share: what the solver leaves of nothing
# On the least DR, in DR: none where the solver's rounding allows, then its tolerances
SLACKS = (0.0, 1e-9, 1e-7)
TOLERANCE = 1e-10  # HiGHS's finest, on constraints in shares of the mentions
# Of all mentions, must stay: else mentions that fall away could make a pane even by leaving it none
KEPT = 1e-3


@dataclass(frozen=True)
class Expected:
    """Counts (M,) before and expected after, with their DR (None without mentions).

    shortage (M,): mentions that a group then still lacks, max(0, q_i N - n_i); all 0 where the
    target is met.
    """

    before: tuple[int, ...]
    after: tuple[float, ...]
    dr_before: float | None
    dr_after: float | None
    shortage: tuple[float, ...]


def checked(
    counts: Sequence[int], target: Sequence[float] | None, groups: int
) -> tuple[Floats, Floats]:
    """counts and target as arrays (M,), the target summing to 1 exactly."""
    c = np.array(counts, float)
    if c.shape != (groups,) or not np.isfinite(c).all() or (c < 0).any():
        raise ValueError(
            f"counts must be of {groups} groups and not negative, they are {list(counts)}"
        )
    q = np.full(groups, 1 / groups) if target is None else np.array(target, float)
    demographic_representation([1] * groups, q.tolist())  # refuses a target that is none
    return c, q / q.sum()


def expected(before: Floats, after: Floats, q: Floats) -> Expected:
    lacking = np.maximum(q * after.sum() - after, 0)
    lacking[lacking <= NOISE * max(after.sum(), 1)] = 0
    counts = tuple(int(each) for each in before)
    return Expected(
        before=counts,
        after=tuple(round(float(each), 6) for each in after),
        dr_before=_dr(before, q),
        dr_after=_dr(after, q),
        shortage=tuple(round(float(each), 6) for each in lacking),
    )


def off(counts: Floats, q: Floats) -> float:
    """DR of counts (M,); 0 where there are none."""
    return float(np.abs(counts / counts.sum() - q).sum() / 2) if counts.any() else 0.0


def least_change(
    c: Floats, q: Floats, changes: Floats, costs: Floats, classes: npt.NDArray[np.intp]
) -> Floats:
    """Rates (O,) of options of changes (O, M) and costs (O,), those of a class 1 at most together:
    see the module's text.

    Variables: z = x times the option's size (its greatest change, as a share of all mentions, so
    that a small class is solved as exactly as a large one), tau = 1 / N(x) in step 1 and 1 in step
    2, and over, under (M,), the parts of n - q N.
    """
    rates = np.zeros(len(costs))
    used = np.flatnonzero(np.abs(changes).max(axis=1, initial=0) > 0)
    total = c.sum()
    if not total or not len(used) or len(c) < 2:
        return rates
    size = np.abs(changes[used]).max(axis=1)
    change = changes[used] / size[:, None]
    size = size / total
    grown = change.sum(axis=1)
    m, o = len(c), len(used)
    eye = np.eye(m)
    balance = np.hstack([(change - grown[:, None] * q).T, (c / total - q)[:, None], -eye, eye])
    within = np.zeros((classes.max() + 1, o + 1 + 2 * m))
    for place in np.unique(classes[used]):
        own = np.flatnonzero(classes[used] == place)
        within[place, own] = size[own].max() / size[own]
        within[place, o] = -size[own].max()
    mentions = np.concatenate([grown, [1], np.zeros(2 * m)])
    distance = np.concatenate([np.zeros(o + 1), np.full(2 * m, 0.5)])
    cost = np.concatenate(
        [costs[used] / size / max(costs.max(), 1) * size.max(), np.zeros(1 + 2 * m)]
    )
    first = _solved(
        distance,
        within,
        np.zeros(len(within)),
        np.vstack([balance, mentions]),
        np.append(np.zeros(m), 1),
        o,
        (0, 1 / KEPT),
    )
    if first is None:
        raise ArithmeticError("the least DR was not found")
    least = max(0.0, float(distance @ first))
    for slack in SLACKS:
        limits = np.vstack(
            [within, distance - (least if least > NOISE else 0) * mentions, -mentions]
        )
        bounds = np.concatenate([np.zeros(len(within)), [slack, -KEPT]])
        found = _solved(cost, limits, bounds, balance, np.zeros(m), o, (1, 1))
        if found is not None:
            break
    else:
        raise ArithmeticError("the fewest changes were not found")
    rates[used] = np.clip(np.round(found[:o] / size, DIGITS), 0, 1)
    return rates


def _solved(
    objective: Floats,
    upper: Floats,
    upper_values: Floats,
    equal: Floats,
    equal_values: Floats,
    tau: int,
    between: tuple[float, float],
) -> Floats | None:
    bounds: list[tuple[float, float | None]] = [(0.0, None)] * len(objective)
    bounds[tau] = between
    result = linprog(
        objective,
        A_ub=upper,
        b_ub=upper_values,
        A_eq=equal,
        b_eq=equal_values,
        bounds=bounds,
        method="highs-ds",
        options={
            "primal_feasibility_tolerance": TOLERANCE,
            "dual_feasibility_tolerance": TOLERANCE,
        },
    )
    return result.x if result.success else None


def _dr(counts: Floats, q: Floats) -> float | None:
    found = demographic_representation(counts.tolist(), q.tolist())
    return None if found is None else round(found, DIGITS)
