"""The integer linear program of a plan, and why it has no solution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp

from evenflow.transforms.lab.coverage.additions import Addition, Balance, PlanError
from evenflow.transforms.measures.coverage.gaps import patterns, words
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.patterns import Ints

MOST_CELLS = 1 << 18  # combinations of values that are looked at
SECONDS = 60.0  # for one solution
INFEASIBLE = 2  # status of scipy's milp


@dataclass(frozen=True)
class _Row:
    """A constraint: sum of coefficients (n,) times variables is at least `least`."""

    name: str
    coefficients: npt.NDArray[np.float64]
    least: float


class Program:
    """The integer linear program of one round.

    `targets`: Digits of the records that may be added, (n, d).
    """

    def __init__(self, coverage: Coverage, chosen: Ints, held: Ints, balances: Sequence[Balance]):
        self._coverage, self._balances = coverage, balances
        self._table = coverage.table
        lattice = self._table.lattice
        self.chosen, self._held = lattice.decode(chosen), lattice.decode(held)
        named = (np.vstack([self.chosen, self._held]) != lattice.sizes).any(axis=0)
        for each in balances:
            for name in (each.attribute, each.within):
                if name is not None:
                    named[self._table.attributes.index(name)] = True
        self._named = named
        self._limits = list(self._balance_patterns())
        self.targets = self._different(self._cells())
        self._rows = list(self._constraints())

    def solve(self) -> tuple[Ints, bool]:
        """Solve; how many of each record, (n,), and whether these are proven to be the fewest."""
        found = self._milp(self._rows)
        if found.x is None:
            if found.status != INFEASIBLE:
                raise PlanError(f"no plan was found: {found.message}")
            conflict = self._conflict()
            raise PlanError(
                "there is no plan, because these cannot hold together: " + "; ".join(conflict),
                conflict,
            )
        return np.round(found.x).astype(np.int64), found.status == 0

    def additions(self, amounts: Ints) -> list[Addition]:
        """What is added, the most first."""
        order = [i for i in np.argsort(-amounts, kind="stable") if amounts[i]]
        targets = patterns(self._coverage, self._table.lattice.encode(self.targets[order]))
        return [Addition(int(amounts[i]), own) for i, own in zip(order, targets, strict=True)]

    def gain(self, digits: Ints) -> npt.NDArray[np.float64]:
        """How many more records match a pattern for one of each record, (n,)."""
        given = digits != self._table.lattice.sizes
        return (self.targets[:, given] == digits[given]).all(axis=1).astype(float)

    def _milp(self, rows: Sequence[_Row]) -> Any:
        least: Any = np.array([row.least for row in rows])
        constraints = (
            [LinearConstraint(np.array([row.coefficients for row in rows]), least)] if rows else []
        )
        return milp(
            np.ones(len(self.targets)),
            constraints=constraints,
            bounds=Bounds(0, np.inf),
            integrality=np.ones(len(self.targets)),
            options={"mip_rel_gap": 0, "time_limit": SECONDS},
        )

    def _conflict(self) -> list[str]:
        """Constraints that cannot hold together, none of which can be left out."""
        kept = list(self._rows)
        for row in self._rows:
            fewer = [each for each in kept if each is not row]
            if self._milp(fewer).status == INFEASIBLE:
                kept = fewer
        return [each.name for each in kept]

    def _constraints(self) -> Iterator[_Row]:
        """All constraints but the bounds."""
        coverage, table = self._coverage, self._table
        threshold, lattice = coverage.threshold, table.lattice
        share = threshold.share if threshold.share is not None else Fraction(0)
        for rows, text in ((self.chosen, "{} reaches {}"), (self._held, "{} stays at {}")):
            codes = lattice.encode(rows)
            counts = coverage.count(codes).tolist()
            for digits, count, pattern in zip(rows, counts, patterns(coverage, codes), strict=True):
                gain = self.gain(digits)
                # Whole numbers, so that the solver's tolerance loses no record
                scale = share.denominator
                least = share * Fraction(table.total) if threshold.share is not None else None
                needed = threshold.count or 0 if least is None else least
                yield _Row(
                    text.format(words(pattern), threshold),
                    scale * gain - float(share * scale),
                    float(scale * (needed - Fraction(count))),
                )
        for balance, group, within in self._limits:
            yield from self._balanced(balance, group, within)

    def _balance_patterns(self) -> Iterator[tuple[Balance, Ints, list[Ints]]]:
        """Each balance with a group's pattern and those of all groups beside it."""
        attributes, sizes = self._table.attributes, self._table.lattice.sizes
        for balance in self._balances:
            at = attributes.index(balance.attribute)
            if balance.within is None:
                bases = [sizes.copy()]
            else:
                inside = attributes.index(balance.within)
                values = set(self.chosen[:, inside].tolist()) - {int(sizes[inside])}
                # A gap that leaves the attribute open may be filled in any of its values
                if (self.chosen[:, inside] == sizes[inside]).any():
                    values = set(range(int(sizes[inside])))
                bases = [sizes.copy() for _ in values]
                for base, value in zip(bases, sorted(values), strict=True):
                    base[inside] = value
            for base in bases:
                groups = [base.copy() for _ in range(int(sizes[at]))]
                for number, group in enumerate(groups):
                    group[at] = number
                for group in groups:
                    yield balance, group, groups

    def _balanced(self, balance: Balance, group: Ints, groups: list[Ints]) -> Iterator[_Row]:
        """A group's share among some groups, from both sides."""
        counts = [Fraction(self._count(each)) for each in groups]
        gains = sum(self.gain(each) for each in groups)
        own, gain = Fraction(self._count(group)), self.gain(group)
        number = next(i for i, each in enumerate(groups) if each is group)
        low, high = balance.bounds(counts)[number]
        for bound, sign in ((low, 1), (high, -1)):
            if not 0 < bound < 1:
                continue
            scale = bound.denominator * sign
            side = "at least" if sign > 0 else "at most"
            of = f" of {self._value(balance.within, group)}" if balance.within else ""
            yield _Row(
                f"{self._value(balance.attribute, group)} is {side} {float(bound):.1%}{of}",
                scale * gain - float(scale * bound) * gains,
                float(scale * (bound * sum(counts) - own)),
            )

    def _cells(self) -> Ints:
        """Combinations of the named attributes' values; X where none is named or known."""
        digits = self._table.lattice.decode(self._table.codes)
        ways: list[list[int]] = []
        for at, size in enumerate(self._table.lattice.sizes.tolist()):
            is_open = bool((digits[:, at] == size).any())
            values = list(range(size)) if self._named[at] else []
            ways.append([*([size] if is_open or not values else []), *values])
        if (number := np.prod([float(len(each)) for each in ways])) > MOST_CELLS:
            raise PlanError(
                f"the gaps' attributes make {number:,.0f} combinations; choose fewer gaps, or a"
                " smaller depth"
            )
        cells = np.array(list(product(*ways)), np.int64)
        # What is written has a group, so it counts in a balance
        names = {name for each in self._balances for name in (each.attribute, each.within)}
        said = [self._table.attributes.index(name) for name in names if name is not None]
        return cells[(cells[:, said] != self._table.lattice.sizes[said]).all(axis=1)]

    def _different(self, cells: Ints) -> Ints:
        """Of cells that match the same patterns of all constraints, the one with the most X."""
        sizes = self._table.lattice.sizes
        looked = [*self.chosen, *self._held, *(each for _, each, _ in self._limits)]
        matched = np.zeros((len(cells), len(looked)), bool)
        for number, digits in enumerate(looked):
            given = digits != sizes
            matched[:, number] = (cells[:, given] == digits[given]).all(axis=1)
        order = np.argsort((cells != sizes).sum(axis=1), kind="stable")
        _, first = np.unique(matched[order], axis=0, return_index=True)
        return cells[order[np.sort(first)]]

    def _count(self, digits: Ints) -> float:
        """Records that match a pattern."""
        return self._coverage.count(self._table.lattice.encode(digits[None]))[0].item()

    def _value(self, attribute: str, digits: Ints) -> str:
        at = self._table.attributes.index(attribute)
        return f"{attribute} {self._table.values[at][digits[at]]}"
