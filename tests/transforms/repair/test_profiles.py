"""Profiles: one for documents that are alike, never more than asked for, in any order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.repair.profiles import MANY, profiles


def test_alike_documents_share_a_profile():
    counts = np.array([3, 0, 3, 7])
    lengths = np.array([10, 10, 10, 10])
    assert profiles([counts, lengths], [np.array([0, 0, 0, 0])]).tolist() == [1, 0, 1, 2]
    assert profiles([counts, lengths], [np.array([0, 0, 1, 0])]).tolist() == [1, 0, 3, 2]
    assert profiles([np.zeros(0, np.int64)], []).tolist() == []


@given(st.integers(0, 10**6), st.sampled_from([40, 200, 3000]))
def test_the_order_of_the_documents_does_not_matter(seed, most):
    rng = np.random.default_rng(seed)
    columns = [rng.poisson(rng.gamma(0.5, 20, 300)) for _ in range(4)]
    source = rng.integers(0, 3, 300)
    order = rng.permutation(300)
    found = profiles(columns, [source], most)
    again = profiles([each[order] for each in columns], [source[order]], most)
    assert (found[order] == again).all()
    assert set(found) == set(range(found.max() + 1))
    for number in set(found):  # alike in what is named, and in their source
        own = found == number
        assert len(set(source[own])) == 1
        assert all(len(set(each[own] > 0)) == 1 for each in columns)


def test_many_documents_and_many_groups_are_rounded_until_few_are_left():
    rng = np.random.default_rng(0)
    columns = [rng.poisson(5, MANY) for _ in range(20)]
    found = profiles(columns[:2], [])
    assert found.max() < 2048
    assert len(profiles(columns, [])) == MANY  # more than fit into one key
