"""What every measure has to have."""

from typing import Any

import pytest

from evenflow.transforms.measures.measure import Counter, Measure


def test_a_measure_without_a_part_is_refused_before_it_is_used() -> None:
    class Bare(Measure[Any]):
        name = "bare"

    class Idle(Counter):
        pass

    bare: Any = Bare
    idle: Any = Idle
    with pytest.raises(TypeError, match="counter, judge, sums, without_sums"):
        bare()
    with pytest.raises(TypeError, match="count"):
        idle()
