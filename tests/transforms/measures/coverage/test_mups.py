"""Maximal uncovered patterns against brute force over all patterns and all records."""

from __future__ import annotations

import random
from collections import Counter
from functools import reduce
from itertools import product
from operator import and_

import numpy as np
import pytest

from evenflow.schemas.threshold import Threshold
from evenflow.transforms.measures.coverage import mups
from evenflow.transforms.measures.coverage.gaps import least_tau
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.patterns import TooManyPatternsError
from evenflow.transforms.measures.coverage.table import Table

Record = tuple[tuple[str, ...], ...]
Found = dict[tuple[str | None, ...], int]


def brute(values: dict[str, list[str]], records: list[Record], limit: int) -> Found:
    """The MUPs and their counts by the definition; a set of records is the bits of a number."""
    having = [
        {
            value: sum(1 << n for n, record in enumerate(records) if value in record[place])
            for value in own
        }
        | {None: (1 << len(records)) - 1}
        for place, own in enumerate(values.values())
    ]
    counts = {
        pattern: reduce(
            and_, (own[value] for own, value in zip(having, pattern, strict=True))
        ).bit_count()
        for pattern in product(*having)
    }

    def parents(pattern: tuple[str | None, ...]) -> list[tuple[str | None, ...]]:
        return [
            (*pattern[:i], None, *pattern[i + 1 :])
            for i, value in enumerate(pattern)
            if value is not None
        ]

    return {
        pattern: found
        for pattern, found in counts.items()
        if found < limit and all(counts[each] >= limit for each in parents(pattern))
    }


def found(coverage: Coverage) -> Found:
    """The same in words."""
    codes = coverage.mups()
    rows = coverage.table.lattice.decode(codes)
    names = [[*each, None] for each in coverage.table.values]
    return {
        tuple(own[digit] for own, digit in zip(names, row, strict=True)): count
        for row, count in zip(rows.tolist(), coverage.count(codes).tolist(), strict=True)
    }


def table_of(rng: random.Random) -> tuple[dict[str, list[str]], list[Record]]:
    """A small table: skewed values, some missing, some records with several values."""
    values = {
        f"a{i}": [f"v{j}" for j in range(rng.randint(1, 4))] for i in range(rng.randint(1, 4))
    }
    skew = rng.choice([1, 2, 4])
    records = []
    for _ in range(rng.randint(0, 40)):
        record = []
        for each in values.values():
            kinds = rng.choices([0, 1, 2], [1, 8, rng.choice([0, 1])])[0]
            drawn = {each[int(len(each) * rng.random() ** skew)] for _ in range(kinds)}
            record.append(tuple(sorted(drawn)))
        records.append(tuple(record))
    return values, records


@pytest.mark.parametrize("dense", [mups.DENSE, 0], ids=["array", "search"])
def test_equal_to_brute_force_on_1000_tables_and_after_additions(
    dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mups, "DENSE", dense)
    rng = random.Random(23)
    gaps = 0
    for _ in range(1000):
        values, records = table_of(rng)
        share = rng.choice([None, "0.05", "0.1", "0.3"])
        threshold = Threshold.parse(share or str(rng.randint(0, 6)))
        cut = rng.randint(0, len(records))
        coverage = Coverage(Table.of(values, Counter(records[:cut])), threshold)
        assert found(coverage) == brute(values, records[:cut], threshold.needed(cut))
        coverage.add(Table.of(values, Counter(records[cut:])))
        expected = brute(values, records, threshold.needed(len(records)))
        assert found(coverage) == expected
        assert coverage.table.total == len(records)
        gaps += len(expected)
    assert gaps > 1000


def test_merged_tables_are_one_table() -> None:
    rng = random.Random(5)
    for _ in range(100):
        values, records = table_of(rng)
        parts = [records[i::3] for i in range(3)]
        one, two, three = (Table.of(values, Counter(each)) for each in parts)
        whole = Table.of(values, Counter(records)).to_json()
        both = one.merge(two).merge(three), three.merge(two.merge(one))
        for each in both:
            kept = each.to_json()
            # Records with several values may leave a combination that counts nothing
            pairs = [p for p in zip(kept["codes"], kept["counts"], strict=True) if p[1]]
            assert pairs == [p for p in zip(whole["codes"], whole["counts"], strict=True) if p[1]]
            assert Table.from_json(kept).to_json() == kept


def test_the_paper_s_example() -> None:
    """Figure 1 of IntersectionRE: MX 0.8, FX 0.2, ML 0.2 with τ = 0.3. The shares of MA and ME are
    not printed; the text calls FX and ML the MUPs.
    """
    records = {("M", "A"): 3, ("M", "E"): 3, ("M", "L"): 2, ("F", "A"): 1, ("F", "E"): 1}
    table = Table.of(
        {"gender": ["M", "F"], "ancestry": ["A", "E", "L"]},
        {((g,), (a,)): n for (g, a), n in records.items()},
    )
    coverage = Coverage(table, Threshold.parse("0.3"))
    assert found(coverage) == {("F", None): 2, (None, "L"): 2}


def test_an_attribute_with_one_value_and_one_with_ten_thousand() -> None:
    values = {"one": ["v"], "many": [f"{i:05d}" for i in range(10_000)], "two": ["a", "b"]}
    records = {(("v",), (f"{i:05d}",), ("ab"[i % 2],)): i % 3 for i in range(9_999)}
    coverage = Coverage(Table.of(values, records), Threshold.parse("2"))
    got = found(coverage)
    assert got[None, "09999", None] == 0
    # Rare values; and of each frequent one, the half that it does not occur with
    rare = sum(1 for n in records.values() if n < 2) + 1
    assert len(got) == rare + 9_999 // 3


@pytest.mark.parametrize(("text", "gaps"), [("0", 0), ("0.0", 0), ("1.0", 3), ("100%", 3)])
def test_a_threshold_of_nothing_or_of_everything(text: str, gaps: int) -> None:
    values = {"a": ["x", "y"], "b": ["z"], "c": ["p", "q"]}
    table = Table.of(values, {(("x",), ("z",), ("p",)): 3, (("x",), ("z",), ("q",)): 1})
    assert len(Coverage(table, Threshold.parse(text)).mups()) == gaps
    assert not len(Coverage(Table.of(values, {}), Threshold.parse(text)).mups())
    assert len(Coverage(Table.of(values, {}), Threshold.parse("1")).mups()) == 1  # the root


def test_patterns_without_a_number_are_refused() -> None:
    with pytest.raises(TooManyPatternsError, match="leave an attribute out"):
        Table.of({f"a{i}": list("xy") for i in range(40)}, {})


def test_a_search_from_the_top_finds_what_the_array_does(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    names = {f"a{i}": [f"v{j}" for j in range(4)] for i in range(6)}
    rows = Counter(
        tuple((f"v{v}",) for v in row) for row in rng.geometric(0.5, (4000, 6)).clip(1, 4) - 1
    )
    table = Table.of(names, rows)
    dense = Coverage(table, Threshold.parse("0.01"))
    monkeypatch.setattr(mups, "DENSE", 0)
    searched = Coverage(table, Threshold.parse("0.01"))
    assert len(dense.mups()) > 100
    assert dense.mups().tolist() == searched.mups().tolist()
    assert dense.mups(2).tolist() == searched.mups(2).tolist()
    every = np.arange(0, table.lattice.patterns, 7)
    assert dense.count(every).tolist() == searched.count(every).tolist()


@pytest.mark.parametrize("dense", [mups.DENSE, 0], ids=["array", "search"])
def test_patterns_below_the_threshold_are_gaps_or_unsure(
    dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mups, "DENSE", dense)
    rng = random.Random(41)
    both = unsure = 0
    for _ in range(300):
        values, records = table_of(rng)
        table = Table.of(values, Counter(records * 9))
        threshold = Threshold.parse(rng.choice(["0.02", "0.05", "0.1", "0.3"]))
        coverage, exact = Coverage(table, threshold, 0.95), Coverage(table, threshold)
        maybe = coverage.unsure()
        if not records:
            assert not len(maybe)
            continue
        # A rare enough pattern is a gap; one that is merely below the threshold is unsure
        below_share = set(exact.mups().tolist())
        assert set(maybe.tolist()) == below_share - set(coverage.mups().tolist())
        assert not len(exact.unsure())
        unsure += len(maybe)
        both += bool(len(maybe)) and bool(len(coverage.mups()))
    assert unsure > 100 and both > 10


def test_the_least_threshold_is_where_a_pattern_without_records_becomes_a_gap() -> None:
    table = Table.of({"a": ["x", "y"]}, {(("x",),): 800}, 1600.0)
    least = least_tau(Coverage(table, Threshold.parse("0.5"), 0.95), 0.95)
    assert least is not None
    for factor, gaps in ((0.99, 0), (1.01, 1)):
        coverage = Coverage(table, Threshold.parse(f"{least * factor:.9f}"), 0.95)
        assert (len(coverage.mups()), len(coverage.unsure())) == (gaps, 1 - gaps)
    assert least_tau(Coverage(table, Threshold.parse("3"), 0.95), 0.95) is None
