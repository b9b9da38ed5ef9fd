"""A plan of the fewest additions that fill gaps: an integer linear program, solved by HiGHS.

After IntersectionRE, section 3.3. A variable is a number of records with one
combination of values. Their sum is least, while

- each chosen pattern reaches τ of all records, the new ones included. (The paper keeps the old
  number of records, so with τ as a share its plans fall a little short.)
- within each value of one attribute, the groups of another have shares within ε of even ones;
- no pattern that was covered becomes uncovered. There may be millions of such patterns, so only
  those that a solution would uncover become constraints, and the program is solved again.

A plan that does not exist is explained by constraints that cannot hold together, while all but any
one of them can (the deletion filter of Chinneck and Dravnieks 1991).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evenflow.transforms.lab.coverage.additions import Addition, Balance, Needs, Plan, PlanError
from evenflow.transforms.lab.coverage.program import Program
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.patterns import Counts, Ints, totals
from evenflow.transforms.measures.coverage.table import Table

ROUNDS = 100  # solutions that are looked through for new gaps


def plan(
    coverage: Coverage,
    chosen: Ints,
    balances: Sequence[Balance] = (),
    needs: Needs | None = None,
) -> Plan:
    """Find the fewest additions that fill gaps.

    `needs`: What a new record has a value of (`completed`); None: nothing besides.

    `chosen`: Codes of the gaps that are to be filled, (m,).
    """
    exact = Coverage(coverage.table, coverage.threshold)
    held: list[int] = []
    for _ in range(ROUNDS):
        program = Program(exact, chosen, np.array(held, np.int64), balances)
        amounts, proven = program.solve()
        additions = completed(exact, program.additions(amounts), needs or Needs())
        after = Coverage(apply(exact.table, additions), exact.threshold)
        opened = after.mups()
        opened = opened[exact.is_covered(opened)]
        short = chosen[~after.is_covered(chosen)]
        if not len(opened) and not len(short):
            return Plan(additions, proven, chosen, after)
        held += [code for code in opened.tolist() if code not in held]
        if len(short):
            raise PlanError(
                f"the solver's result leaves {len(short)} gaps open; give fewer gaps at once"
            )
    raise PlanError(f"each of {ROUNDS} plans opened new gaps; lower the threshold")


def completed(coverage: Coverage, additions: Sequence[Addition], needs: Needs) -> list[Addition]:
    """Give new records values where a plan leaves them open, so that somebody can write them.

    They go to those values that the fewest records have beside the planned ones.
    """
    table = coverage.table
    out = list(additions)
    for name, values in zip(table.attributes, table.values, strict=True):
        parts: list[Addition] = []
        for each in out:
            if not needs.of(name, each.target):
                parts.append(each)
                continue
            targets = [{**each.target, name: value} for value in values]
            codes = table.lattice.encode(np.array([_digits(table, one) for one in targets]))
            shares = _levelled(coverage.count(codes), each.records)
            parts += [
                Addition(share, target)
                for share, target in zip(shares, targets, strict=True)
                if share
            ]
        out = parts
    return sorted(out, key=lambda each: -each.records)


def _levelled(counts: Counts, records: int) -> list[int]:
    """How many of some records go to each count, so that the least one becomes the greatest."""
    order = np.argsort(counts, kind="stable")
    low = counts[order].astype(float)
    levels = (records + np.cumsum(low)) / np.arange(1, len(low) + 1)
    # The level up to which the records fill: that of the last count below it
    level = levels[np.flatnonzero(low < levels)[-1]]
    shares = np.zeros(len(counts), np.int64)
    shares[order] = np.maximum(np.floor(level - low), 0)
    shares[order[: records - shares.sum()]] += 1
    return shares.tolist()


def apply(table: Table, additions: Sequence[Addition]) -> Table:
    """Add a plan's records to a table."""
    rows, counts = [], []
    for each in additions:
        rows.append(_digits(table, each.target))
        counts.append(each.records)
    codes = table.lattice.encode(np.array(rows, np.int64).reshape(-1, len(table.attributes)))
    codes, sums = totals(
        np.concatenate([table.codes, codes]),
        np.concatenate([table.counts, np.array(counts, table.counts.dtype)]),
    )
    return Table(table.attributes, table.values, codes, sums, table.squares)


def _digits(table: Table, values: Mapping[str, str]) -> list[int]:
    """The digits of a combination of values; X for what is not named."""
    return [
        own.index(values[name]) if name in values else len(own)
        for name, own in zip(table.attributes, table.values, strict=True)
    ]
