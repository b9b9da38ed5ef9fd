"""Sums of scores and their figures: by hand, against numpy, and for any cut into blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.schemas.documents import summed
from evenflow.transforms.measures.bias_score.records import BiasSums
from evenflow.transforms.measures.bias_score.score import Scores
from evenflow.transforms.measures.bias_score.summary import (
    BINS,
    bin_of,
    middle,
    quantile,
    summarise,
    sums,
)

GROUPS = ("female", "male")


def scores(absolute: list[float], known: list[bool] | None = None) -> Scores:
    each = np.array(absolute, float)
    towards = np.stack([each, np.zeros(len(each))], axis=1)
    return Scores(towards, each, np.array(known or [True] * len(each), bool))


@given(st.floats(2**-19, 1))
def test_a_bin_stands_for_its_scores(value: float) -> None:
    number = int(bin_of(np.array([value]))[0])
    assert abs(middle(number) - value) <= value / BINS / 2


def test_small_scores_are_in_the_bin_of_0() -> None:
    assert bin_of(np.array([0.0, 1e-9])).tolist() == [0, 0]
    assert middle(0) == 0


def test_sums_by_hand() -> None:
    found = sums(
        scores([0.1, 0.3, 0.0, 0.2], [True, True, False, True]),
        np.array([1, 1, 1, 2]),
        GROUPS,
        0.15,
    )
    bins = bin_of(np.array([0.1, 0.2, 0.3])).tolist()
    assert found == {
        "documents": 2,
        "sentences": 3,
        "unknown": 1,
        "above": 2,
        "total": 6000,
        "groups": {"female": 6000, "male": 0},
        "products": {"nn": 5, "na": 3, "nt": 2 * 4000 + 2000, "aa": 2, "tt": 4000**2 + 2000**2},
        "bins": {str(number): 1 for number in bins},
    }


@given(
    st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=5), min_size=2, max_size=8),
    st.randoms(),
)
def test_blocks_add_up_in_any_order(documents: list[list[float]], random) -> None:
    def of(some: list[list[float]]) -> dict[str, object]:
        owners = np.repeat(np.arange(len(some)), [len(each) for each in some])
        return sums(scores([value for each in some for value in each]), owners, GROUPS, 0.5)

    cut = random.randint(1, len(documents) - 1)
    blocks = [of(documents[:cut]), of(documents[cut:])]
    random.shuffle(blocks)
    assert summed(*blocks) == of(documents)


def test_percentiles_are_those_of_numpy() -> None:
    values = np.random.default_rng(1).beta(2, 12, 5000)
    numbers, counts = np.unique(bin_of(values), return_counts=True)
    bins = dict(zip(map(str, numbers.tolist()), counts.tolist(), strict=True))
    for share in (0.0, 0.5, 0.9, 0.95, 0.97, 1.0):
        exact = np.quantile(values, share, method="inverted_cdf")
        assert quantile(bins, share) == pytest.approx(exact, rel=1 / BINS / 2 + 1e-9)


def test_nothing_scored_is_no_figure() -> None:
    found = sums(scores([0.0], [False]), np.array([0]), GROUPS, 0.5)
    summary = summarise(BiasSums.model_validate(found), True, 0.95)
    assert (summary.sentences, summary.mean, summary.above) == (0, None, None)
    assert found["unknown"] == 1


def test_a_single_document_has_no_interval() -> None:
    found = sums(scores([0.2, 0.4]), np.array([0, 0]), GROUPS, 0.3)
    summary = summarise(BiasSums.model_validate(found), True, 0.95)
    assert summary.mean is not None and summary.above is not None
    assert (summary.mean.value, summary.mean.low) == (pytest.approx(0.3), None)
    assert (summary.above.value, summary.above.low) == (0.5, None)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """Documents of unequal length whose sentences go together."""
    random = np.random.default_rng(7)
    share, percentile, mean, runs = 0, 0, 0, 400
    # True values: of 400,000 sentences drawn alike
    whole = _stream(random, 40_000)
    high = np.quantile(whole[0], 0.95)
    truth = np.mean(whole[0] > high)
    for _ in range(runs):
        values, owners = _stream(random, 60)
        found = summarise(
            BiasSums.model_validate(sums(scores(values.tolist()), owners, GROUPS, high)), True, 0.95
        )
        assert found.above and found.mean
        share += found.above.low <= truth <= found.above.high
        mean += found.mean.low <= whole[0].mean() <= found.mean.high
        at = found.percentiles["95"]
        percentile += at.low <= high <= at.high
    for covered in (share, mean, percentile):
        assert 0.9 <= covered / runs <= 1


def _stream(random: np.random.Generator, documents: int) -> tuple[np.ndarray, np.ndarray]:
    lengths = random.integers(1, 20, documents)
    owners = np.repeat(np.arange(documents), lengths)
    lean = random.beta(2, 20, documents)[owners]
    return np.clip(lean + random.beta(2, 20, len(owners)), 0, 1), owners


def test_the_share_of_independent_sentences_has_wilsons_interval() -> None:
    count, high = 100, 20
    values = [0.9] * high + [0.1] * (count - high)
    found = sums(scores(values), np.arange(count), GROUPS, 0.5)
    above = summarise(BiasSums.model_validate(found), True, 0.95).above
    assert above is not None
    # Student's 1.984 and n - 1 = 99: centre 0.2198 / 1.0398, half width 0.0822 / 1.0398
    assert above.low == pytest.approx(0.1324, abs=2e-4)
    assert above.high == pytest.approx(0.2905, abs=2e-4)
