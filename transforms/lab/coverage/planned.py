"""A plan from the words of a command, and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from evenflow.transforms.lab.coverage.additions import Balance, Needs, PlanError, Rates
from evenflow.transforms.lab.coverage.evenness import evenness
from evenflow.transforms.lab.coverage.plan import plan
from evenflow.transforms.measures.coverage.gaps import DIGITS, grids, patterns
from evenflow.transforms.measures.coverage.mups import Coverage

ADAPTIVE = "adaptive"  # in place of a balance's epsilon


@dataclass(frozen=True)
class Wishes:
    """What a plan may do, and what it must hold to.

    `worst`: Number of gaps to fill, the largest first; None: all.
    """

    balances: Sequence[Balance]
    worst: int | None = None

    @classmethod
    def parse(cls, balances: Sequence[str], worst: int | None = None, rates: str = "") -> Wishes:
        """Read the words of a command.

        `worst`: Number of gaps to fill; None: all. `rates`: α₁, α₂, β₁ and β₂ of adaptive balances,
        with commas between; empty: the paper's.
        """
        made: list[Balance] = []
        adaptive = _rates(rates)
        for text in balances:
            name, _, value = text.partition("=")
            attribute, _, within = name.partition(":")
            if value == ADAPTIVE and attribute:
                made.append(Balance(attribute, within or None, rates=adaptive))
            else:
                made.append(Balance(attribute, within or None, _pair(text)[1]))
        return cls(made, worst)


def planned(
    coverage: Coverage,
    depth: int | None,
    wishes: Wishes,
    things: Sequence[str],
    needs: Needs | None = None,
) -> dict[str, Any]:
    """Plan, and describe the plan.

    `depth`: Most attributes that meet in a gap; None: all. `needs`: What a new record has a value
    of; None: nothing besides the gaps' values.

    Returns the plan; `gain` is by how much it raises the gaps' mean share of all records.
    """
    known = set(coverage.table.attributes)
    named = {each.attribute for each in wishes.balances}
    named |= {each.within for each in wishes.balances if each.within is not None}
    if strange := sorted(named - known):
        raise PlanError(f"no attribute of the records: {', '.join(strange)}")
    codes = coverage.mups(depth)
    counts = coverage.count(codes)
    chosen = np.sort(codes[np.argsort(counts, kind="stable")][: wishes.worst])
    found = plan(coverage, chosen, wishes.balances, needs)
    needed = coverage.threshold.needed(found.after.table.total)
    shares = [each.count(chosen) / each.table.total for each in (found.after, coverage)]
    return {
        "records": found.records,
        "proven": found.proven,
        "gain": round(float((shares[0] - shares[1]).sum() / max(len(chosen), 1)), DIGITS),
        "additions": [{"records": each.records, "target": each.target} for each in found.additions],
        "words": [each.words(things) for each in found.additions],
        "closes": [
            {"pattern": pattern, "before": before, "after": after, "needed": needed}
            for pattern, before, after in zip(
                patterns(coverage, chosen),
                coverage.count(chosen).tolist(),
                found.after.count(chosen).tolist(),
                strict=True,
            )
        ],
        "left": len(found.after.mups(depth)),
        "evenness": {"before": evenness(coverage), "after": evenness(found.after)},
        "shares": {"before": grids(coverage), "after": grids(found.after)},
    }


def _pair(text: str) -> tuple[str, Fraction]:
    """A name and a number. Raises PlanError."""
    name, _, number = text.partition("=")
    try:
        value = Fraction(number)
    except (ValueError, ZeroDivisionError):
        value = Fraction(-1)
    if not name or value < 0:
        raise PlanError(f"{text!r} was given; NAME=NUMBER was expected")
    return name, value


def _rates(text: str) -> Rates:
    """The rates of an adaptive balance. Raises PlanError."""
    if not text:
        return Rates()
    try:
        one, two, three, four = (_pair(f"rate={each.strip()}")[1] for each in text.split(","))
        return Rates(one, two, three, four)
    except ValueError as error:  # a PlanError is one
        raise PlanError(f"{text!r} was given; four rates, α₁,α₂,β₁,β₂, were expected") from error
