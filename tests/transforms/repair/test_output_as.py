"""Systematic sampling: floor or ceil of each weight, totals within one, unbiased."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.repair.output_as import draw

IDS = [f"d{i}" for i in range(500)]


@given(st.integers(0, 10**6))
def test_strata_have_their_totals_in_any_order(seed):
    rng = np.random.default_rng(seed)
    strata = rng.integers(0, 6, 120)
    weights = np.round(rng.uniform(0.25, 4, 6), 6)[strata]
    times = draw(weights, strata, IDS[:120], seed)
    assert (np.abs(times - weights) < 1).all() and times.max() <= 4
    for number in range(6):
        own = strata == number
        assert abs(times[own].sum() - weights[own].sum()) < 1
    assert abs(times.sum() - weights.sum()) < 1
    order = rng.permutation(120)
    again = draw(weights[order], strata[order], [IDS[at] for at in order], seed)
    assert (again == times[order]).all()


def test_each_document_is_written_as_often_as_it_weighs_on_average():
    rng = np.random.default_rng(1)
    strata = rng.integers(0, 4, 60)
    weights = np.array([0.25, 0.9, 1.6, 3.5])[strata]
    times = np.array([draw(weights, strata, IDS[:60], seed) for seed in range(2000)])
    error = np.sqrt((weights % 1) * (1 - weights % 1) / 2000)
    assert (np.abs(times.mean(axis=0) - weights) < 4.5 * error + 1e-9).all()
    assert draw(np.ones(0), np.zeros(0, int), [], 0).tolist() == []
