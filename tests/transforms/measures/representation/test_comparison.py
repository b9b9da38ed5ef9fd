"""The comparison of two sides: Simpson's paradox, removal rates, and intervals over documents."""

from __future__ import annotations

import numpy as np
import pytest

from evenflow.transforms.measures.representation.comparison import Side, compare, standardised


def side(*strata: tuple[int, list[int]], first: int = 0) -> Side:
    """Documents by source: how many, and the mentions of each."""
    counts = [own for number, own in strata for _ in range(number)]
    sources = [source for source, (number, _) in enumerate(strata) for _ in range(number)]
    ids = np.arange(first, first + len(counts))
    return Side(ids, np.array(sources, np.int64), np.array(counts, np.int64).reshape(-1, 2))


def mixed(rng: np.random.Generator, number: int, chance: float, first: int = 0) -> Side:
    sizes = rng.poisson(3, number) + 1
    named = rng.binomial(sizes, rng.beta(4 * chance, 4 * (1 - chance), number))
    counts = np.stack((named, sizes - named), axis=1)
    return Side(np.arange(first, first + number), np.zeros(number, np.int64), counts)


def test_the_mix_of_sources_alone_makes_no_difference() -> None:
    """The filter drops one source in two cases of three; within a source it is blind."""
    kept = side((300, [1, 3]), (100, [2, 2]))
    removed = side((100, [1, 3]), (300, [2, 2]), first=400)
    crude = compare(kept, removed, None, 0.95, paired=False)
    assert crude["dr"]["low"] > 0
    same = standardised(kept, removed, None, 0.95, paired=False)
    assert same is not None
    assert same["dr"]["value"] == pytest.approx(0)
    assert [each["value"] for each in same["shares"]] == pytest.approx([0, 0])
    assert crude["removal"]["excess"][0]["low"] > 0
    assert [each["value"] for each in same["removal"]["excess"]] == pytest.approx([0, 0])
    assert same["left_out"] == 0


def test_a_source_of_one_side_is_left_out_of_the_same_mix() -> None:
    found = standardised(
        side((5, [1, 0]), (5, [1, 1])), side((0, [0, 0]), (5, [2, 1])), None, 0.95, False
    )
    assert found is not None and found["left_out"] == 5
    assert standardised(side((5, [1, 0])), side((0, []), (5, [1, 1])), None, 0.95, False) is None


def test_intervals_have_the_width_that_resampled_documents_have() -> None:
    rng = np.random.default_rng(7)
    sides = mixed(rng, 500, 0.3), mixed(rng, 400, 0.6, first=1000)
    found = compare(*sides, None, 0.95, paired=False)
    drawn = []
    for _ in range(400):
        picked = [
            Side(each.ids, each.sources, each.counts[rng.integers(0, len(each.ids), len(each.ids))])
            for each in sides
        ]
        totals = [each.counts.sum(axis=0) for each in picked]
        shares = totals[0] / totals[0].sum() - totals[1] / totals[1].sum()
        scores = [np.abs(each / each.sum() - 0.5).sum() / 2 for each in totals]
        drawn.append([shares[0], scores[0] - scores[1]])
    deviation = np.std(drawn, axis=0)
    for figure, own in ((found["shares"][0], deviation[0]), (found["dr"], deviation[1])):
        assert figure["low"] < figure["value"] < figure["high"]
        assert (figure["high"] - figure["low"]) / (2 * 1.96) == pytest.approx(own, rel=0.2)


def test_the_excess_of_removal_covers_what_is_true() -> None:
    """A filter removes one group's mentions more often, document by document."""
    rng = np.random.default_rng(3)
    inside = 0
    whole = mixed(rng, 20_000, 0.4)
    chance = 0.2 + 0.3 * (whole.counts[:, 0] > whole.counts[:, 1])
    expected = (chance[:, None] * whole.counts).sum(axis=0) / whole.counts.sum(axis=0)
    truth = expected[0] - (chance * whole.counts.sum(axis=1)).sum() / whole.counts.sum()
    for _ in range(100):
        chosen = rng.choice(20_000, 400, replace=False)
        part = Side(whole.ids[chosen], whole.sources[chosen], whole.counts[chosen])
        gone = rng.random(400) < chance[chosen]
        found = compare(part.of(~gone), part.of(gone), None, 0.95, paired=False)["removal"]
        inside += found["excess"][0]["low"] <= truth <= found["excess"][0]["high"]
    assert inside >= 89


def test_versions_share_documents_and_so_their_noise() -> None:
    rng = np.random.default_rng(5)
    older = mixed(rng, 400, 0.4)
    newer = older.of(np.arange(400) >= 20)
    paired = compare(older, newer, None, 0.95, paired=True)
    apart = compare(older, newer, None, 0.95, paired=False)
    width = [each["dr"]["high"] - each["dr"]["low"] for each in (paired, apart)]
    assert width[0] < width[1] / 2
    assert paired["removal"]["rate"] == pytest.approx(
        older.counts[:20].sum() / older.counts.sum(), abs=1e-5
    )


def test_few_documents_give_no_interval() -> None:
    found = compare(side((1, [1, 0])), side((0, [])), None, 0.95, paired=False)
    assert found["dr"] is None and found["shares"] is None and found["removal"] is None
    assert found["first"]["dr"] == 0.5 and found["second"]["dr"] is None
