"""The DR score and its sums, against the main paper's figures and against definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenflow.schemas.ledger import Score
from evenflow.transforms.measures.representation.dr import (
    Convergence,
    _place,
    demographic_representation,
    documents_until,
    score,
    scores,
    sums,
)

# Main paper, Table 8: mentions per group. Age's counts give 0.355742, which it prints as 0.35.
TABLE_8 = {
    "gender": ([235_461, 592_243], 0.2155),
    "age": ([42_281, 6_977, 12_101], 0.3557),
    "religion": ([377, 16_725, 724, 5_416, 4_227], 0.4089),
}
COUNTS = st.integers(2, 5).flatmap(
    lambda groups: st.integers(1, 12).flatmap(
        lambda rows: arrays(np.int64, (rows, groups), elements=st.integers(0, 9))
    )
)


@pytest.mark.parametrize("attribute", TABLE_8)
def test_table_8_of_the_main_paper(attribute: str) -> None:
    counts, expected = TABLE_8[attribute]
    assert demographic_representation(counts) == pytest.approx(expected, abs=5e-5)


def test_the_counts_of_age_in_more_digits() -> None:
    assert demographic_representation(TABLE_8["age"][0]) == pytest.approx(0.355742, abs=5e-7)


@pytest.mark.parametrize(
    ("counts", "target", "expected"),
    [
        ([1, 1], None, 0.0),
        ([1, 0], None, 0.5),
        ([0, 0, 7], None, 2 / 3),
        ([3, 1], [0.75, 0.25], 0.0),
        ([1, 3], [1, 0], 0.75),
    ],
)
def test_dr_by_hand(counts: list[int], target: list[float] | None, expected: float) -> None:
    assert demographic_representation(counts, target) == pytest.approx(expected)


def test_no_mention_is_no_score() -> None:
    assert demographic_representation([0, 0]) is None
    empty = score(sums(np.zeros((5, 2), np.int64)))
    assert empty == Score(dr=None, corrected=None, low=None, high=None, mentions=0, documents=0)


def test_one_document_has_a_score_and_no_interval() -> None:
    alone = score(sums(np.array([[3, 1], [0, 0]])))
    assert alone == Score(dr=0.25, corrected=None, low=None, high=None, mentions=4, documents=1)


def test_scores_together_are_those_of_each_alone() -> None:
    drawn = np.random.default_rng(0).poisson(1.0, (9, 40, 3))
    every = [
        sums(each[:size]) for each, size in zip(drawn, [0, 1, 2, 3, 5, 9, 40, 40, 40], strict=True)
    ]
    target = [0.2, 0.3, 0.5]
    together = scores([*every, every[-1]], target)
    _place.cache_clear()
    assert together == [score(each, target) for each in [*every, every[-1]]]


@pytest.mark.parametrize("confidence", [0.5, 1.0, 95, -1])
def test_confidence_out_of_range(confidence: float) -> None:
    with pytest.raises(ValueError, match=str(confidence)):
        score(sums(np.ones((3, 2), np.int64)), confidence=confidence)


@pytest.mark.parametrize(
    "target", [[1.0], [0.5, 0.6], [1.5, -0.5], [0.2, 0.3, 0.5], [float("nan"), 0.5]]
)
def test_target_out_of_range(target: list[float]) -> None:
    with pytest.raises(ValueError, match="2 shares that sum to 1"):
        score(sums(np.ones((3, 2), np.int64)), target)


@given(counts=COUNTS, factor=st.integers(2, 1000))
def test_dr_depends_on_shares_alone(counts: np.ndarray, factor: int) -> None:
    total = counts.sum(axis=0)
    plain = demographic_representation(total.tolist())
    assert demographic_representation((total * factor).tolist()) == (
        None if plain is None else pytest.approx(plain)
    )


@settings(max_examples=60, deadline=None)
@given(counts=COUNTS, confidence=st.floats(0.51, 0.999), data=st.data())
def test_interval_is_in_range_and_the_groups_order_does_not_matter(
    counts: np.ndarray, confidence: float, data: st.DataObject
) -> None:
    weights = np.array(
        data.draw(st.lists(st.integers(1, 9), min_size=counts.shape[1], max_size=counts.shape[1]))
    )
    target = weights / weights.sum()
    found = score(sums(counts), target.tolist(), confidence)
    with_zeros = np.vstack([counts, np.zeros_like(counts)])
    assert score(sums(with_zeros), target.tolist(), confidence) == found
    if found.low is None:
        assert found.documents < 2 and found.high is None and found.corrected is None
        return
    assert found.dr is not None and found.high is not None and found.corrected is not None
    assert 0 <= found.low <= found.dr <= found.high <= 1 - target.min() + 1e-6
    assert 0 <= found.corrected <= found.dr
    order = data.draw(st.permutations(range(counts.shape[1])))
    turned = score(sums(counts[:, order]), target[order].tolist(), confidence)
    assert (turned.dr, turned.mentions, turned.documents) == (
        found.dr,
        found.mentions,
        found.documents,
    )
    if len(set(zip((counts.sum(axis=0) / counts.sum() - target).round(9), strict=True))) == len(
        target
    ):
        bounds = [found.low, found.high, found.corrected]
        assert [turned.low, turned.high, turned.corrected] == pytest.approx(bounds, abs=2e-6)


def test_more_confidence_is_a_wider_interval() -> None:
    found = sums(np.random.default_rng(5).poisson((3, 1), (150, 2)))
    scores = [score(found, None, confidence) for confidence in (0.6, 0.8, 0.95, 0.99)]
    low, high = [each.low or 0 for each in scores], [each.high or 0 for each in scores]
    assert (
        low == sorted(low, reverse=True)
        and high == sorted(high)
        and len(set(high)) == len(set(low)) == 4
    )


def cumulative(*rows: tuple[int, float | None]) -> list[Score]:
    """Scores of documents and half-widths around 0.3."""
    return [
        Score(
            dr=0.3,
            corrected=0.3,
            low=half and 0.3 - half,
            high=half and 0.3 + half,
            mentions=9,
            documents=documents,
        )
        for documents, half in rows
    ]


@pytest.mark.parametrize(
    ("rows", "documents", "projected"),
    [
        ([(100, 0.2), (200, 0.04), (300, 0.03)], 200, None),
        ([(100, 0.04), (200, 0.2), (300, 0.03)], 300, None),
        ([(100, 0.04), (200, 0.1)], None, 800),
        ([(1, None), (100, 0.1)], None, 400),
        ([(1, None)], None, None),
        ([(100, 0.04), (100, None)], None, None),
        ([], None, None),
    ],
)
def test_documents_until(
    rows: list[tuple[int, float | None]], documents: int | None, projected: int | None
) -> None:
    found = documents_until(cumulative(*rows), 0.05)
    assert found.documents == documents
    assert found.projected == (None if projected is None else pytest.approx(projected, abs=1))


def test_documents_until_of_a_stream() -> None:
    counts = np.random.default_rng(8).poisson((2, 1), (4000, 2))
    series = [score(sums(counts[:documents])) for documents in range(200, 4001, 200)]
    reached = documents_until(series, 0.02)
    early = documents_until(series[:3], 0.02)
    assert reached.documents is not None and reached.projected is None and early.documents is None
    assert early.projected is not None and 0.5 < early.projected / reached.documents < 2


def test_documents_until_says_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="epsilon must be positive"):
        documents_until([], 0)
    with pytest.raises(ValueError, match="in order"):
        documents_until(cumulative((5, 0.1), (4, 0.1)), 0.05)
    assert documents_until([], 0.1) == Convergence(0.1, None, None)
