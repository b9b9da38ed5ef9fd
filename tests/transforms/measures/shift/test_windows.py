"""Buckets of panes that double."""

from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.measures.shift.windows import REACH, Bucket, with_pane


@given(st.lists(st.integers(1, 9), min_size=1, max_size=300))
def test_buckets_hold_every_pane_once_and_at_most_two_are_alike(documents: list[int]) -> None:
    buckets: list[Bucket] = []
    for each in documents:
        buckets = with_pane(buckets, {"a": (each, {})})
    assert sum(each.panes for each in buckets) == len(documents)
    assert sum(each.strata["a"][0] for each in buckets) == sum(documents)
    sizes = [each.panes for each in buckets]
    assert sizes == sorted(sizes, reverse=True)
    assert max(map(sizes.count, sizes)) <= 2
    assert buckets[-1].strata["a"][0] == documents[-1]


def test_they_reach_back_so_far_and_no_further() -> None:
    buckets: list[Bucket] = []
    for number in range(5 * REACH):
        buckets = with_pane(buckets, {"a": (number, {})})
    assert REACH < sum(each.panes for each in buckets) <= 4 * REACH
    assert len(buckets) < 25
