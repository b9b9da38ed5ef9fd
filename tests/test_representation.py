import numpy as np
import pytest

from evenflow.transforms.representation import add, demographic_representation, score, sums


@pytest.mark.parametrize(
    ("counts", "expected"),
    [([235_461, 592_243], 0.2155), ([42_281, 6_977, 12_101], 0.3557), ([377, 16_725, 724, 5_416, 4_227], 0.4089)],
)
def test_table_8_of_the_main_paper(counts: list[int], expected: float) -> None:
    assert demographic_representation(counts) == pytest.approx(expected, abs=5e-5)


def test_no_mention_is_no_score() -> None:
    assert demographic_representation([0, 0]) is None
    assert score(sums(np.zeros((5, 2), np.int64))).dr is None


def test_sums_are_additive_and_the_interval_holds_the_estimate() -> None:
    counts = np.random.default_rng(3).poisson(2, (200, 3))
    assert add(sums(counts[:80]), sums(counts[80:])) == sums(counts)
    result = score(sums(counts))
    assert result.low is not None and result.high is not None and result.dr is not None
    assert 0 <= result.low <= result.dr <= result.high <= 2 / 3
