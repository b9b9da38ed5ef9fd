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

from evenflow.transforms.repair.eligibility import Class, Eligible
from evenflow.transforms.repair.least_dr import Expected, check, expected, fewest_changes


@dataclass(frozen=True)
class Plan:
    """Rates of the classes, and what is expected of them.

    Attributes:
        expected: Counts and DR before and after.
        rates: The rate at which a class goes to each of its targets, (T,), by class. A class of
            which nothing changes is left out.
        units: Expected number of units that change.
        sentences: Expected number of sentences that change.
    """

    expected: Expected
    rates: Mapping[Class, tuple[float, ...]]
    units: float
    sentences: float

    def rates_of(self, kind: Class) -> dict[str, float]:
        """A class's rates by target group, in order of the targets; empty if none of it changes."""
        return dict(zip(kind.targets, self.rates.get(kind, ()), strict=False))


def plan(counts: Sequence[int], target: Sequence[float] | None, eligible: Eligible) -> Plan:
    """Find the rates of the least expected DR, with even shares and the fewest changed sentences.

    Args:
        counts: Mentions before, (M,).
        target: Target shares (M,); None: uniform.
        eligible: What may be changed.

    Returns:
        The plan.

    Raises:
        ValueError: Counts or target do not fit the groups, or more mentions of a group are eligible
            than were counted.
    """
    c, q = check(counts, target, len(eligible.groups))
    kinds = sorted(eligible.tallies)
    options = [(place, t) for place, kind in enumerate(kinds) for t in range(len(kind.targets))]
    tallies = [eligible.tallies[kind] for kind in kinds]
    changes = np.array([tallies[k].changes[t] for k, t in options], float).reshape(-1, len(c))
    sentences = np.array([tallies[k].sentences[t] for k, t in options], float)
    classes = np.array([k for k, _ in options], np.intp)
    leaving = np.zeros_like(c)
    for each in tallies:
        leaving -= np.minimum(np.array(each.changes, float).min(axis=0, initial=0), 0)
    if (leaving > c).any():
        raise ValueError(
            f"more mentions are eligible than counted: {leaving.tolist()} of {c.tolist()}"
        )
    x = fewest_changes(c, q, changes, sentences, classes)
    rates: dict[Class, tuple[float, ...]] = {}
    for place, kind in enumerate(kinds):
        own = tuple(float(rate) for rate in x[classes == place])
        if any(own):
            rates[kind] = own
    units = float(sum(x[o] * tallies[k].units for o, (k, _) in enumerate(options)))
    return Plan(
        expected(c, c + x @ changes, q), rates, round(units, 6), round(float(x @ sentences), 6)
    )
