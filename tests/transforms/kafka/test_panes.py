"""Effective times never run backwards, however records arrive."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.kafka.panes import effective

NOW = 1_700_000_000_000


@given(st.lists(st.integers(-1, 20_000), min_size=1, max_size=60), st.integers(0, 9000))
def test_any_batching_gives_the_running_maximum(times: list[int], before: int) -> None:
    whole = effective(times, before, NOW)
    assert whole == list(accumulate(times, max, initial=before))[1:]
    half = len(times) // 2
    if half:
        first = effective(times[:half], before, NOW)
        assert whole == first + effective(times[half:], first[-1], NOW)


def test_a_time_behind_the_span_counts_as_none() -> None:
    assert effective([5, NOW, 7, NOW - 1], 0, NOW) == [5, 5, 7, NOW - 1]
