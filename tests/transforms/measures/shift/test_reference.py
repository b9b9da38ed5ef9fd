"""What a reference expects, and with which errors."""

import numpy as np
import pytest
from scipy.special import chdtrc

from evenflow.transforms.measures.shift.reference import (
    FROZEN_CHUNKS,
    Known,
    Learnt,
    expected,
    judged,
    judged_by,
    learnt,
    of_counts,
)
from evenflow.transforms.measures.shift.statistics import Panel, chance
from evenflow.transforms.measures.shift.strata import numbers_of, pack


def drawn(documents: int, share: float, seed: int = 0) -> np.ndarray:
    """Mentions of two groups in documents of five mentions each."""
    first = np.random.default_rng(seed).binomial(5, share, documents)
    return np.stack([first, 5 - first], axis=1)


def test_shares_rate_and_error_of_independent_documents() -> None:
    counts = drawn(2000, 0.4)
    found = expected(of_counts(["a"] * 2000, {"gender": counts}), "gender", "mentions")
    assert found is not None
    assert found.shares[0] == pytest.approx(counts.sum(axis=0) / 10_000, abs=1e-4)
    assert found.rate == 5
    # of 10,000 independent mentions, and no more where the source does not wander
    assert 0.9 < found.error[0, 0, 0] ** 0.5 / (0.24 / 10_000) ** 0.5 < 2.5
    assert found.is_judged and found.is_done


def test_a_source_whose_parts_differ_has_a_larger_error() -> None:
    parts = [drawn(200, share, number) for number, share in enumerate([0.2, 0.6] * 5)]
    counts = np.concatenate(parts)
    wandering = expected(of_counts(["a"] * 2000, {"gender": counts}), "gender", "mentions")
    mixed = np.random.default_rng(1).permutation(counts)
    still = expected(of_counts(["a"] * 2000, {"gender": mixed}), "gender", "mentions")
    assert wandering is not None and still is not None
    assert wandering.error[0, 0, 0] ** 0.5 == pytest.approx(0.17, abs=0.06)
    assert still.error[0, 0, 0] ** 0.5 < 0.02


def test_a_part_that_names_few_weighs_in_how_far_a_source_wanders() -> None:
    many, few = drawn(400, 0.6), drawn(1600, 0.2, 1)
    few[np.arange(1600) % 10 > 0] = 0  # a tenth of its documents has mentions
    known = of_counts(["a"] * 2000, {"gender": np.concatenate([many, few])})
    found = expected(known, "gender", "mentions")
    assert found is not None
    assert known["a"]["gender"].sums == pack(np.concatenate([many, few]))
    assert (known["a"]["gender"].documents, known["a"]["gender"].chunks) == (2000, 16)
    off = found.shares[0, 0] - 0.2  # of windows of the part with few
    assert off > 0.2 and off < 2 * found.error[0, 0, 0] ** 0.5


def test_few_documents_are_not_judged_and_nothing_is_known_of_what_was_never_named() -> None:
    few = of_counts(["a"] * 14, {"gender": drawn(14, 0.5), "age": np.zeros((14, 2), np.int64)})
    found = expected(few, "gender", "mentions")
    assert found is not None and not found.is_judged.any() and found.with_judged(None).strata == []
    assert judged(few["a"], ["gender", "age"]) == []
    assert expected(few, "age", "mentions") is None
    assert expected({}, "gender", "mentions") is None


def test_a_source_of_few_documents_is_judged_by_its_shares_alone_and_of_none_nothing_is_sure() -> (
    None
):
    counts = np.repeat([[0, 1]], 40, axis=0)  # the first group is never named
    found = expected(of_counts(["a"] * 40, {"gender": counts}), "gender", "mentions")
    assert found is not None and found.is_judged.all() and not found.is_rated.any()
    # Half a document of 40 is shared by the groups: the error of one that has a share of 1 of 160
    assert found.shares[0, 0] == pytest.approx(0.25 / 40.5)
    assert found.error[0, 0, 0] ** 0.5 == pytest.approx((0.006 * 0.994 / 40) ** 0.5, rel=0.1)


def test_documents_that_a_group_leads_are_expected_as_single_mentions() -> None:
    counts = {"gender": drawn(2000, 0.3), "age": np.zeros((2000, 2), np.int64)}
    known = of_counts(["a"] * 2000, counts)
    found = expected(known, "gender", "documents")
    assert found is not None
    leads = counts["gender"][:, 0] > 2
    assert found.shares[0][0] == pytest.approx(leads.mean(), abs=1e-3)
    assert found.documents == [2000] and found.rate == [1]
    assert found.error[0, 0, 0] >= leads.var() / 2000
    assert judged(known["a"], ["gender", "age"]) == ["gender"]
    # Older references do not have them
    older = known["a"]["gender"]
    older = older.model_copy(update={"sums": older.sums[:-2], "between": older.between[:3]})
    joined = known["a"]["gender"].plus(older)
    assert older.counts("documents") == joined.counts("documents") == []
    assert expected({"a": {"gender": older}}, "gender", "documents") is None
    both = expected({"a": {"gender": older}, "b": known["a"]}, "gender", "mentions")
    assert both is not None and (both.shares[0] == both.shares[1]).all()


def test_a_source_is_learnt_until_it_is_known_and_not_while_it_is_off() -> None:
    pane = {"a": (400, {"gender": pack(drawn(400, 0.4))})}
    known: dict[str, dict[str, Learnt]] = {}
    for _ in range(FROZEN_CHUNKS + 5):
        known = learnt(known, pane, {"gender": 2, "age": 3})
    assert known["a"]["gender"].chunks == FROZEN_CHUNKS
    assert known["a"]["age"].chunks == FROZEN_CHUNKS + 5  # never named: never known
    assert learnt({}, pane, {"gender": 2}, ["a"]) == {}


def test_learning_begins_with_what_a_reference_knows_and_is_judged_by_from_some_panes() -> None:
    few, known = of_counts(["a"] * 8, {"gender": drawn(8, 0.9)}), dict[str, Known]()
    for at in range(FROZEN_CHUNKS):
        assert judged_by({}, known, "gender", "mentions") is None
        known = learnt(known, {"a": (30, {"gender": pack(drawn(30, 0.3, at))})}, {"gender": 2})
    both = {"a": {"gender": few["a"]["gender"].plus(known["a"]["gender"])}}
    found, pooled = (
        judged_by(few, known, "gender", "mentions"),
        expected(both, "gender", "mentions"),
    )
    assert found and pooled and found.judged == ["a"] and (found.shares == pooled.shares).all()


def test_noise_of_five_groups_is_no_shift() -> None:
    rng, sure = np.random.default_rng(5), 0
    for _ in range(200):
        was, now = (rng.multinomial(6, [0.2] * 5, documents) for documents in (300, 400))
        known = judged_by(of_counts(["a"] * 300, {"": was}), {}, "", "mentions")
        assert known is not None
        sums = np.ones(1), np.full((1, 1), 400.0), numbers_of(now).sum(axis=0, keepdims=True)[None]
        sure += bool(Panel.of_sums(*sums, "mentions", known).together().at(0).interval(0.95).low)
    assert sure <= 15  # of 5 % + noise


def test_a_reference_adds_up() -> None:
    one, two = drawn(100, 0.3), drawn(150, 0.7, 1)
    joined = Learnt.of_chunk(100, pack(one)).plus(Learnt.of_chunk(150, pack(two)))
    assert joined.sums == pack(np.concatenate([one, two]))
    assert (joined.documents, joined.chunks, joined.squares) == (250, 2, 100**2 + 150**2)
    assert joined.crossed == 100 * one.sum() + 150 * two.sum()


@pytest.mark.parametrize("freedom", [1, 2, 3, 7, 40])
def test_the_chance_of_a_chi_square_is_that_of_scipy(freedom: int) -> None:
    for x in (0.0, 1e-9, 0.5, 3.84, 30.0, 500.0, 1e300):
        assert chance(x, freedom) == pytest.approx(chdtrc(freedom, x), rel=1e-12, abs=1e-200)
