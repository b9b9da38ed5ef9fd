"""Design effects by pattern: sums over documents against their definition, and what they call."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evenflow.schemas.documents import summed
from evenflow.schemas.threshold import Threshold
from evenflow.transforms.measures.coverage.clusters import Clusters, DesignEffects, sums
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.table import Table

VALUES = {"sex": ("f", "m"), "age": ("young", "old"), "site": ("a", "b", "c")}
ROWS = [[["f"], ["old"], ["a"]], [["f", "m"], [], ["b"]], [["m"], ["young"], ["a"]]]
Document = list[int]  # the numbers of its records' rows


def counted(documents: list[Document]) -> dict[str, dict[str, int]]:
    owners = np.repeat(np.arange(len(documents)), [len(each) for each in documents])
    of = np.array([row for each in documents for row in each])
    return sums(owners, np.bincount(owners), of, ROWS)


def table(documents: list[Document]) -> Table:
    records: dict[tuple[tuple[str, ...], ...], float] = {}
    for each in documents:
        for row in each:
            key = tuple(tuple(one) for one in ROWS[row])
            records[key] = records.get(key, 0) + 1
    made = Table.of(VALUES, records, sum(len(each) ** 2 for each in documents))
    own = Clusters.of(made.lattice, made.values, counted(documents))
    return replace(made, clusters=own)


def test_sums_are_those_of_the_definition_and_can_be_added() -> None:
    rng = np.random.default_rng(3)
    documents = [rng.integers(0, 3, size).tolist() for size in rng.integers(1, 9, 40)]
    whole = counted(documents)
    assert summed(counted(documents[:7]), counted(documents[7:])) == whole
    for key, holds in (
        ('["f",null,null]', {0, 1}),
        ('["m",null,"b"]', {1}),
        ('["f","old",null]', {0}),
    ):
        matches = [sum(row in holds for row in each) for each in documents]
        assert whole["aa"][key] == sum(a * a for a in matches)
        assert whole["an"][key] == sum(
            a * len(each) for a, each in zip(matches, documents, strict=True)
        )
    made = table(documents)
    assert made.clusters is not None
    coverage = Coverage(made, Threshold.parse("0.1"), 0.95)
    codes = made.lattice.encode(np.array([[0, 2, 3]]))
    counts, sizes = coverage.count(codes), np.array([len(each) for each in documents])
    design = DesignEffects(
        made.clusters, coverage.count(made.clusters.codes), made.total, made.squares
    )
    a = np.array([sum(row < 2 for row in each) for each in documents])
    share = a.sum() / sizes.sum()
    variance = ((a - share * sizes) ** 2).sum() / sizes.sum() ** 2
    effect = design.squares(codes, np.array([1]))[0] / made.total
    assert counts[0] == a.sum()
    # Widened by Student's t, so not below the variance's own
    assert effect >= variance / (share * (1 - share) / sizes.sum()) > 0
    assert 1 <= effect <= made.squares / made.total


def test_mixed_documents_call_a_gap_and_documents_all_alike_do_not() -> None:
    # 5 of 100 sentences name an old woman, in each document or in a document of their own
    mixed = [[0] * 5 + [2] * 95 for _ in range(20)]
    alike = [[0] * 100] + [[2] * 100 for _ in range(19)]
    plain = [replace(table(each), clusters=None) for each in (mixed, alike)]
    found = [
        len(Coverage(each, Threshold.parse("10%"), 0.95).mups(1))
        for each in (table(mixed), table(alike), *plain)
    ]
    assert found == [4, 0, 0, 0]


def test_without_clusters_the_interval_is_kish() -> None:
    made = replace(table([[0, 1], [2]]), clusters=None)
    coverage = Coverage(made, Threshold.parse("5%"), 0.95)
    assert not coverage.by_pattern
    assert coverage.squares(np.array([0])) == pytest.approx([made.squares])
