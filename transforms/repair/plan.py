"""Plans which share of a pane's sets becomes a counterfactual of which group.

The main paper (4.2.4, GC-CDA) changes as many sentences as an estimate says are needed for a DR
near 0, from one majority to one minority group. Here M groups are planned at once, over all that
may be changed, in linear programs. A class is what may go to the same groups. x_kt in [0, 1] is
the rate at which class k goes to group t, with sum_t x_kt <= 1. D_kt (M,) is what the whole class
would add to the counts if all of it went, and s_kt the number of its sentences.

    n(x) = c + sum_kt x_kt D_kt,   N(x) = sum_i n_i(x),   DR(x) = 1/2 sum_i |n_i(x) - q_i N(x)| /
    N(x)

1. The least DR: a linear-fractional program, made linear by division by N(x) (Charnes and Cooper
   1962).
2. Even shares, among all x of that DR (linear once DR is a number): the groups that lack mentions
   gain equally many, as far as each lacks them and can get them (main paper, appendix E: the excess
   is distributed evenly across the remaining groups). The least gain is made as large as possible,
   then the next (max-min fairness), and all gains together are no more than the fewest changes
   need.
3. The fewest changed sentences, min sum_kt x_kt s_kt, among these x.

Modes differ in D alone. Substitute: a set's mentions leave its group for t. Augment: a changed copy
of the document is added, with all its mentions. `draw` turns a plan's rates into quotas, and fills
them with what a judge accepts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

from evenflow.transforms.measures.representation.dr import demographic_representation
from evenflow.transforms.repair.eligibility import Class, Eligible


@dataclass(frozen=True)
class Plan:
    """Rates of the classes, and what is expected of them, over M groups.

    `rates`: The rate at which a class goes to each of its targets, (T,), by class. A class of which
    nothing changes is left out. `after`: Expected mentions, (M,). `dr`: Their DR. `shortage`:
    Mentions that a group then still lacks, max(0, q_i N - n_i), (M,); all 0 if the target is met.
    """

    rates: Mapping[Class, tuple[float, ...]]
    sentences: float
    after: tuple[float, ...]
    dr: float | None
    shortage: tuple[float, ...]

    def rates_of(self, kind: Class) -> dict[str, float]:
        """A class's rates by target group, in order of the targets; empty if none of it changes."""
        return dict(zip(kind.targets, self.rates.get(kind, ()), strict=False))


def plan(counts: Sequence[int], target: Sequence[float] | None, eligible: Eligible) -> Plan:
    """Find the rates of the least expected DR, with even shares and the fewest changed sentences.

    `target`: Target shares (M,); None: uniform.

    `counts`: Mentions before, (M,).
    """
    c, m = np.array(counts, float), len(eligible.groups)
    q = np.full(m, 1 / m) if target is None else np.array(target, float)
    q /= q.sum()  # exactly 1
    kinds = sorted(eligible.tallies)
    options = [(place, t) for place, kind in enumerate(kinds) for t in range(len(kind.targets))]
    tallies = [eligible.tallies[kind] for kind in kinds]
    changes = np.array([tallies[k].changes[t] for k, t in options], float).reshape(-1, len(c))
    sentences = np.array([tallies[k].sentences[t] for k, t in options], float)
    classes = np.array([k for k, _ in options], np.intp)
    x = fewest_changes(c, q, changes, sentences, classes)
    rates: dict[Class, tuple[float, ...]] = {}
    for place, kind in enumerate(kinds):
        own = tuple(float(rate) for rate in x[classes == place])
        if any(own):
            rates[kind] = own
    after = c + x @ changes
    lacking = np.maximum(q * after.sum() - after, 0)
    lacking[lacking <= NOISE * max(after.sum(), 1)] = 0
    dr = demographic_representation(after.tolist(), q.tolist())
    return Plan(
        rates,
        round(float(x @ sentences), 6),
        tuple(after.round(6).tolist()),
        None if dr is None else round(dr, DIGITS),
        tuple(lacking.round(6).tolist()),
    )


Floats = npt.NDArray[np.float64]

DIGITS = 9  # decimals of a rate: only of a thousand million sets would one be off
NOISE = 1e-8  # share below which the solver's result counts as 0
# Slack on the least DR, in DR: none if the solver's rounding allows that, else its tolerances
SLACKS = (0.0, 1e-9, 1e-7)
TOLERANCE = 1e-10  # HiGHS's finest, on constraints in shares of the mentions
LOOSE = 1e-9  # slack on gains of groups, in shares of the mentions
# Share of the mentions that must stay: else a pane could become even by losing all its mentions
KEPT = 1e-3


def fewest_changes(
    c: Floats, q: Floats, changes: Floats, costs: Floats, classes: npt.NDArray[np.intp]
) -> Floats:
    """Solve the programs of `plan` for O options.

    The variables are z, x times the option's size (its greatest change as a share of all mentions,
    so that a small class is solved as exactly as a large one); tau, 1 / N(x) in step 1 and 1 in
    the others; and over and under (M,), the parts of n - q N.

    `c`: Mentions before, (M,). `q`: Target shares, (M,). `changes`: What each option adds to the
    counts if all of it goes, (O, M). `costs`: What each option then costs, (O,). `classes`: The
    number of each option's class, (O,). The rates of a class sum to 1 at most. Returns the rate of
    each option in [0, 1], (O,).
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
    free: list[tuple[float, float | None]] = [(0.0, None)] * (o + 1 + 2 * m)
    one = [*free[:o], (0, 1 / KEPT), *free[o + 1 :]]
    none = np.zeros(len(within))
    first = _solved(distance, within, none, np.vstack([balance, mentions]), one, mentions=1)
    if first is None:
        raise ArithmeticError("the least DR was not found")
    least = max(0.0, float(distance @ first[0]))
    fixed = [*free[:o], (1, 1), *free[o + 1 :]]
    for slack in SLACKS:
        limits = np.vstack(
            [within, distance - (least if least > NOISE else 0) * mentions, -mentions]
        )
        values = np.concatenate([none, [slack, -KEPT]])
        found = _solved(cost, limits, values, balance, fixed)
        if found is not None:
            break
    else:
        raise ArithmeticError("the fewest changes were not found")
    options = found[0]
    lacking = np.flatnonzero(q - c / total > NOISE)
    if least > NOISE and len(lacking) > 1:  # else the least DR says what each group gains
        gains = np.hstack([change.T[lacking], np.zeros((len(lacking), 1 + 2 * m))])
        options = _evenest(options, cost, gains, limits, values, balance, fixed)
    rates[used] = np.clip(np.round(options[:o] / size, DIGITS), 0, 1)
    return rates


def _evenest(
    fewest: Floats,
    cost: Floats,
    gains: Floats,
    upper: Floats,
    upper_values: Floats,
    equal: Floats,
    bounds: Sequence[tuple[float, float | None]],
) -> Floats:
    """The cheapest of the solutions whose gains are max-min fair, without more gain in all.

    The least gain is made as large as it can be. The groups that hold it back keep it, and the next
    larger one is made as large as it can be, until no group is left.

    `equal`: The equations, (M, V), whose values are 0.

    `fewest`: The cheapest solution, (V,). `cost`: Cost of the variables, (V,). `gains`: What the
    variables add to each lacking group, (L, V). `upper`: The other limits, (U, V). `upper_values`:
    Their values, (U,). Returns the solution, (V,); the cheapest one if the solver finds none.
    """
    upper = np.vstack([upper, gains.sum(axis=0)])
    upper_values = np.append(upper_values, float((gains @ fewest).sum()) + LOOSE)
    waiting = np.ones(len(gains), bool)
    least = np.full(len(gains), -1.0)  # of shares of the mentions: no limit
    while waiting.any():
        found = _solved(
            np.append(np.zeros(len(cost)), -1),
            np.block([[upper, np.zeros((len(upper), 1))], [-gains, waiting[:, None]]]),
            np.concatenate([upper_values, np.where(waiting, 0, -least)]),
            np.hstack([equal, np.zeros((len(equal), 1))]),
            [*bounds, (-1, 1)],
        )
        if found is None:
            return fewest
        # A positive multiplier: in no solution does the group gain more
        holds = waiting & (found[1][len(upper) :] > NOISE)
        least[holds] = found[0][-1] - LOOSE
        if not holds.any():
            return fewest
        waiting &= ~holds
    values = np.append(upper_values, -least)
    found = _solved(cost, np.vstack([upper, -gains]), values, equal, bounds)
    return fewest if found is None else found[0]


def _solved(
    objective: Floats,
    upper: Floats,
    upper_values: Floats,
    equal: Floats,
    bounds: Sequence[tuple[float, float | None]],
    mentions: float = 0,
) -> tuple[Floats, Floats] | None:
    """The solution of a linear program, and the multipliers of its upper limits (0 or more).

    `mentions`: What the last equation comes to; the others are 0.
    """
    values = np.append(np.zeros(len(equal) - 1), mentions)
    fine = ("primal_feasibility_tolerance", "dual_feasibility_tolerance")
    result = linprog(
        objective,
        *(upper, upper_values, equal, values, bounds),
        method="highs-ds",
        options=dict.fromkeys(fine, TOLERANCE),
    )
    return (result.x, -result.ineqlin.marginals) if result.success else None
