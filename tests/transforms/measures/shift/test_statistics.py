"""The chance of a chi-square, against SciPy's."""

import pytest
from scipy.special import chdtrc

from evenflow.transforms.measures.shift.statistics import chance


@pytest.mark.parametrize("freedom", [1, 2, 3, 7, 40])
def test_the_chance_of_a_chi_square_is_that_of_scipy(freedom: int) -> None:
    for x in (0.0, 1e-9, 0.5, 3.84, 30.0, 500.0):
        assert chance(x, freedom) == pytest.approx(chdtrc(freedom, x), rel=1e-12, abs=1e-200)
    assert chance(1e300, freedom) == pytest.approx(0.0, abs=1e-200)
