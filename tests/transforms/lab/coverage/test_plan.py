"""Plans against exhaustive search on small cases, and against their own constraints."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest

from evenflow.schemas.threshold import Threshold
from evenflow.transforms.lab.coverage.additions import Addition, Balance, PlanError, Rates
from evenflow.transforms.lab.coverage.plan import apply, plan
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.table import Table

VALUES = {"sex": ["f", "m"], "race": ["a", "b", "c"]}


def table_of(counts: dict[tuple[str, ...], int], values: dict[str, list[str]] = VALUES) -> Table:
    return Table.of(values, {tuple((v,) for v in key): n for key, n in counts.items()})


def small(rng: random.Random) -> Coverage:
    values = {
        f"a{i}": [f"v{j}" for j in range(rng.randint(2, 3))] for i in range(rng.randint(1, 2))
    }
    counts = {cell: rng.choice([0, 0, 1, 2, 5]) for cell in product(*values.values())}
    tau = rng.choice(["1", "2", "3", "0.1", "0.2", "0.3"])
    return Coverage(table_of(counts, values), Threshold.parse(tau))


def fills(coverage: Coverage, added: tuple[tuple[str, ...], ...], balances: list[Balance]) -> bool:
    """Whether additions fill all gaps, open none and leave groups even, by the definitions."""
    table = coverage.table
    names = table.attributes
    rows = [Addition(1, dict(zip(names, cell, strict=True))) for cell in added]
    after = Coverage(apply(table, rows), coverage.threshold)
    every = np.arange(table.lattice.patterns)
    kept = after.is_covered(coverage.mups()).all()
    kept &= not (coverage.is_covered(every) & ~after.is_covered(every)).any()
    return bool(kept) and all(is_even(after.table, each) for each in balances)


def is_even(table: Table, balance: Balance) -> bool:
    """Whether all groups are within ε of an even share, within all values of the other."""
    attribute = table.attributes.index(balance.attribute)
    parts = [table] if balance.within is None else list(table.split(balance.within).values())
    at = attribute if balance.within is None else 0
    for part in parts:
        digits = part.lattice.decode(part.codes)[:, at]
        sums = [int(part.counts[digits == v].sum()) for v in range(len(part.values[at]))]
        even = Fraction(1, len(sums))
        if sum(sums) and any(
            abs(Fraction(each, sum(sums)) - even) > balance.epsilon for each in sums
        ):
            return False
    return True


def test_a_plan_is_as_small_as_exhaustive_search_finds() -> None:
    rng = random.Random(11)
    compared = impossible = 0
    for number in range(45):
        coverage = small(rng)
        balances = []
        if number % 3 == 0:
            balances = [Balance("a0", None, Fraction(rng.choice([1, 2, 3]), 10))]
        cells = list(product(*coverage.table.values))
        fewest = next(
            (
                size
                for size in range(6)
                for added in combinations_with_replacement(cells, size)
                if fills(coverage, added, balances)
            ),
            None,
        )
        try:
            found = plan(coverage, coverage.mups(), balances=balances)
        except PlanError as error:
            assert fewest is None and error.conflict
            impossible += 1
            continue
        own = list(zip(coverage.table.attributes, coverage.table.values, strict=True))
        assert fewest == found.records if fewest is not None else found.records > 5
        assert found.proven
        singles = tuple(
            # What a plan does not name may be anything
            tuple(each.target.get(name, values[0]) for name, values in own)
            for each in found.additions
            for _ in range(each.records)
        )
        assert fills(coverage, singles, balances)
        compared += found.records > 0 and fewest is not None
    assert compared > 10 and impossible > 0


def test_what_cannot_hold_together_is_named_and_nothing_else_is() -> None:
    values = {"race": list("abcd"), "sex": ["f", "m"]}
    counts = {("a", "f"): 5, ("b", "m"): 9, ("c", "f"): 1, ("d", "m"): 1}
    coverage = Coverage(table_of(counts, values), Threshold.parse("0.3"))
    with pytest.raises(PlanError, match="cannot hold together") as error:
        plan(coverage, coverage.mups())
    # Four races cannot have 0.3 each; that sexes can is no part of it
    assert all("race" in each for each in error.value.conflict)
    assert len(error.value.conflict) >= 3


def test_groups_stay_even_within_a_relation() -> None:
    coverage = Coverage(
        table_of({("f", "a"): 1, ("m", "a"): 2, ("f", "b"): 30, ("m", "b"): 30}),
        Threshold.parse("0.2"),
    )
    free = plan(coverage, coverage.mups())
    even = plan(coverage, coverage.mups(), balances=[Balance("sex", "race", Fraction(1, 20))])
    assert not is_even(free.after.table, Balance("sex", "race", Fraction(1, 20)))
    assert is_even(even.after.table, Balance("sex", "race", Fraction(1, 20)))
    assert even.records >= free.records
    pairs = [each.target for each in even.additions]
    assert all(set(one) == {"sex", "race"} for one in pairs) and len(pairs) > 1
    assert all(one != other for one, other in combinations(pairs, 2))


@pytest.mark.parametrize(
    ("share", "groups", "least", "most"),
    [
        # Equations 2 and 3: below 0.33 rates 1.5 and 2 with 0.5; else 0.9 and 1.1, 0.45 and 0.55
        ("0.2", 2, "0.3", "0.5"),
        ("0.3", 2, "0.45", "0.6"),
        ("0.32", 2, "0.48", "0.64"),
        ("0.34", 2, "0.306", "0.55"),
        ("0.6", 2, "0.45", "0.66"),
        ("0", 2, "0", "0.5"),
        # Of three groups an even share is a third, and severe is below 0.22
        ("0.2", 3, "0.3", "0.4"),
    ],
)
def test_adaptive_bounds_are_the_published_ones(
    share: str, groups: int, least: str, most: str
) -> None:
    assert Rates().bounds(Fraction(share), groups) == (Fraction(least), Fraction(most))


def test_an_adaptive_balance_keeps_its_bounds_with_fewer_records_than_an_even_one() -> None:
    counts = {("f", "a"): 10, ("m", "a"): 90, ("f", "b"): 5, ("m", "b"): 5}
    coverage = Coverage(table_of(counts), Threshold.parse("15%"))
    adaptive, even = (
        plan(coverage, coverage.mups(), balances=[balance])
        for balance in (
            Balance("sex", "race", rates=Rates()),
            Balance("sex", "race", Fraction(1, 20)),
        )
    )
    after = adaptive.after.count(coverage.table.lattice.encode(np.array([[0, 0], [1, 0]])))
    # 10 % of race a, so between 15 % and 50 %
    assert 0.15 <= after[0] / after.sum() <= 0.5
    assert adaptive.records < even.records
    assert after[0] / after.sum() < 0.45


def test_a_question_that_is_too_large_is_refused() -> None:
    values = {f"a{i}": [f"v{j}" for j in range(30)] for i in range(4)}
    coverage = Coverage(table_of({tuple(["v0"] * 4): 5}, values), Threshold.parse("2"))
    with pytest.raises(PlanError, match="choose fewer gaps"):
        plan(coverage, coverage.mups())
