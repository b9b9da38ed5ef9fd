"""The threshold and its interval, against scipy's exact binomial test and against definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from evenflow.schemas.threshold import Threshold, ThresholdError
from evenflow.transforms.measures.coverage.threshold import interval, limit


@pytest.mark.parametrize(("count", "total"), [(0, 10), (3, 40), (40, 40), (7, 1000)])
def test_an_interval_of_records_that_stand_alone_is_clopper_and_pearson_s(
    count: int, total: int
) -> None:
    expected = binomtest(count, total).proportion_ci(0.95, "exact")
    low, high = interval(count, total, total, 0.95)
    assert (low, high) == pytest.approx((expected.low, expected.high))


def test_records_that_go_together_are_worth_fewer() -> None:
    # 10 documents of 4 records each are worth 10 records
    one, other = interval(12, 40, 10 * 16, 0.95), interval(3, 10, 10, 0.95)
    assert np.array(one) == pytest.approx(np.array(other))


@pytest.mark.parametrize("total", [1, 50, 1234])
@pytest.mark.parametrize("share", ["0.01", "0.2", "1.0"])
def test_the_limit_is_the_first_count_whose_upper_bound_reaches_the_share(
    share: str, total: int
) -> None:
    threshold = Threshold.parse(share)
    least = limit(threshold, total, total, 0.95)
    assert interval(least, total, total, 0.95)[1] >= float(share)
    assert least == 0 or interval(least - 1, total, total, 0.95)[1] < float(share)
    assert least <= threshold.needed(total) == limit(threshold, total, total, None)


def test_a_share_is_exact_and_a_count_has_no_interval() -> None:
    assert Threshold.parse("0.1").needed(30) == 3  # 0.1 * 30 is more than 3 in floats
    assert Threshold.parse("10%") == Threshold.parse("0.1")
    assert limit(Threshold.parse("30"), 10, 10, 0.95) == 30
    assert Threshold.parse("1").count == 1 and Threshold.parse("1.0").share == 1


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5", "nan", "1/0", "200%"])
def test_what_is_no_threshold_is_refused(text: str) -> None:
    with pytest.raises(ThresholdError, match="a share"):
        Threshold.parse(text)
