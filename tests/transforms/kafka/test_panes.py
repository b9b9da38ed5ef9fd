"""Effective times never run backwards, however records arrive."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.kafka.panes import FUTURE_MS, effective

NOW = 1_700_000_000_000


@given(st.lists(st.integers(-1, 20_000), min_size=1, max_size=60), st.integers(0, 9000))
def test_any_batching_gives_the_running_maximum(times: list[int], before: int) -> None:
    whole = effective(times, before, NOW).tolist()
    assert whole == list(accumulate(times, max, initial=before))[1:]
    half = len(times) // 2
    if half:
        first = effective(times[:half], before, NOW).tolist()
        assert whole == first + effective(times[half:], first[-1], NOW).tolist()


def test_a_time_far_ahead_of_the_clock_counts_as_none() -> None:
    found = effective([5, NOW + FUTURE_MS + 1, 7, NOW + FUTURE_MS], 0, NOW)
    assert found.tolist() == [5, 5, 7, NOW + FUTURE_MS]
