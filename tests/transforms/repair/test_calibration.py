"""Calibration: targets, totals, least DR with its proof, effective sample, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from evenflow.transforms.repair.calibration import PRICE, Aim, CalibrationError, Calibrator, Keep


def aim(counts, target=None, name="gender", before=None):
    counts = np.array(counts, float)
    groups = counts.shape[1]
    q = np.full(groups, 1 / groups) if target is None else np.array(target, float)
    return Aim(name, counts, q, np.zeros(groups) if before is None else np.array(before, float))


def calibrator(*aims, keeps=(), documents=None, **more):
    documents = np.ones(len(aims[0].counts)) if documents is None else np.array(documents, float)
    return Calibrator(documents, aims, keeps, **more)


def share(name, amounts, points=0.01):
    amounts = np.array(amounts, float)
    room = points * len(amounts)
    return Keep(name, amounts, amounts.sum() - room, amounts.sum() + room)


def drawn(seed, documents=60):
    """Two attributes, two sources and a length of random documents."""
    rng = np.random.default_rng(seed)
    two = rng.poisson(rng.gamma(0.5, 3, (documents, 2)))
    three = rng.poisson(rng.gamma(0.3, [4, 1, 0.4], (documents, 3)))
    source, length = rng.integers(0, 2, documents), rng.integers(10, 500, documents).astype(float)
    keeps = [share("source a", source == 0), share("source b", source == 1)]
    keeps.append(Keep("the length", length, 0.97 * length.sum(), 1.03 * length.sum()))
    return (aim(two), aim(three, name="age")), keeps


def least_by_program(one, keeps, limit):
    """The least DR by HiGHS: Charnes and Cooper's variables w t, t and the parts of DR."""
    k, groups = one.counts.shape
    z = one.counts - one.counts.sum(axis=1, keepdims=True) * one.target
    rows = []
    for group in range(groups):
        for sign in (1, -1):
            rows.append(np.concatenate([sign * z[:, group], [0], -np.eye(groups)[group]]))
    for each in keeps:
        rows.append(np.concatenate([each.amounts, [-each.high], np.zeros(groups)]))
        rows.append(np.concatenate([-each.amounts, [each.low], np.zeros(groups)]))
    for sign, bound in ((1, -limit), (-1, 1 / limit)):
        rows.append(np.hstack([sign * np.eye(k), np.full((k, 1), bound), np.zeros((k, groups))]))
    equal = np.zeros((2, k + 1 + groups))
    equal[0, :k], equal[1, :k], equal[1, k] = one.counts.sum(axis=1), 1, -k
    matrix = np.vstack(rows)
    cost = np.concatenate([np.zeros(k + 1), np.full(groups, 0.5)])
    found = linprog(cost, matrix, np.zeros(len(matrix)), equal, [1, 0], method="highs")
    assert found.success
    return found.fun


def test_a_target_that_can_be_met_is_met_by_raking():
    """Two kinds of document, 3 to 1: the weights solve the equations, and no other do."""
    found = calibrator(aim([[300, 0], [0, 100]]), documents=[300, 100]).calibrate()
    assert found.weights == pytest.approx([2 / 3, 2], abs=1e-5)
    assert found.aims[0].before == 0.25 and found.aims[0].after == pytest.approx(0, abs=1e-5)
    assert found.effective == pytest.approx(400 / (300 * 4 / 9 + 100 * 4), abs=1e-4)
    weights = (
        calibrator(aim([[80, 0], [30, 10], [0, 20]]), documents=[80, 40, 20]).calibrate().weights
    )
    rate = np.diff(np.log(weights)) / [-0.25, -0.75]  # w = exp(theta + lambda . share)
    assert rate[0] == pytest.approx(rate[1], abs=1e-3)


def test_an_even_corpus_keeps_its_weights():
    assert calibrator(aim([[5, 5], [1, 1]])).calibrate().weights.tolist() == [1, 1]
    assert calibrator(aim([[0, 0], [0, 0]])).calibrate().weights.tolist() == [1, 1]


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1.5, 4.0, 10.0]))
def test_what_cannot_be_met_gets_the_least_dr_of_a_linear_program(seed, limit):
    """Proof and program agree, whatever else must stay; all bounds hold."""
    aims, keeps = drawn(seed)
    one = calibrator(*aims, keeps=keeps, limit=limit)
    found = one.calibrate()
    assert 1 / limit - 1e-6 <= found.weights.min() and found.weights.max() <= limit + 1e-6
    assert found.weights.mean() == pytest.approx(1, abs=1e-5)
    for each in keeps:
        off = 1e-5 * each.amounts.sum()
        assert each.low - off <= each.amounts @ found.weights <= each.high + off
    for each in aims:
        if each.counts.sum():
            least, proven = one.least_dr(each.name)
            wanted = least_by_program(each, keeps, limit)
            assert least == pytest.approx(wanted, abs=1e-5)
            assert wanted - 1e-5 <= proven <= wanted + 1e-9
    together = sum(met.after or 0 for met in found.aims)
    assert together >= sum(one.least_dr(each.name)[1] for each in aims if each.counts.sum()) - 1e-6


def test_no_other_weights_are_better():
    """Random weights within all bounds: none has a lower sum of price x DR and distance."""
    aims, keeps = drawn(5)
    one = calibrator(*aims, keeps=keeps, limit=2.0)
    found = one.calibrate()

    def cost(w):
        return 1000 * sum(each.dr(w) for each in aims) + np.mean(w * np.log(w) - w + 1)

    rng, best = np.random.default_rng(0), cost(found.weights)
    for _ in range(300):
        other = np.clip(found.weights * rng.lognormal(0, 0.05, len(found.weights)), 0.5, 2)
        other = found.weights + (other - found.weights) * rng.random()
        other /= other.mean()
        if all(each.low <= each.amounts @ other <= each.high for each in keeps) and (
            other.min() >= 0.5 and other.max() <= 2
        ):
            assert cost(other) >= best - 1e-4


@pytest.mark.parametrize("distance", ["entropy", "chi2"])
def test_the_floor_of_the_effective_sample_holds_dr_up(distance):
    aims, keeps = drawn(3)
    free = calibrator(*aims, keeps=keeps, distance=distance).calibrate()
    held = calibrator(*aims, keeps=keeps, distance=distance, least_effective=0.9).calibrate()
    assert free.effective < 0.9 <= held.effective and held.price < free.price
    assert sum(each.after for each in held.aims) > sum(each.after for each in free.aims)
    assert calibrator(*aims, least_effective=1.0).calibrate().effective == 1


@pytest.mark.parametrize("seed", range(4))
def test_at_the_floor_no_other_weights_have_a_lower_sum_of_dr(seed):
    """What relative entropy reaches there, and random weights with the same effective sample."""
    aims, keeps = drawn(seed)
    one = calibrator(*aims, keeps=keeps, least_effective=0.9)
    found = one.calibrate()
    assert found.distance == "chi2" and found.price < PRICE

    def total(w):
        return sum(each.dr(w) for each in aims)

    other = one._cheaper(one._priced(PRICE, aims), aims)
    assert total(found.weights) < total(other.weights) - 1e-3
    rng, n = np.random.default_rng(0), len(found.weights)
    for _ in range(300):
        tried = np.clip(found.weights * rng.lognormal(0, 0.05, n), 1 / one.limit, one.limit)
        tried = found.weights + (tried - found.weights) * rng.random()
        tried /= tried.mean()
        within = 1 / one.limit <= tried.min() and tried.max() <= one.limit
        within &= n / (tried @ tried) >= found.effective
        if within and all(each.low <= each.amounts @ tried <= each.high for each in keeps):
            assert total(tried) >= total(found.weights) - 3e-3


def test_later_documents_make_good_for_earlier_ones():
    """The weighted mentions before count, so that all together meet the target."""
    before = [60, 20]
    found = calibrator(aim([[30, 0], [0, 30]], before=before), documents=[30, 30]).calibrate()
    total = before + found.weights @ np.array([[30, 0], [0, 30]])
    assert total[0] == pytest.approx(total[1], rel=1e-4)


def test_shadow_prices_name_what_holds_dr_up():
    """The source that names the rare group may not grow: it has a price, the others have none."""
    counts = [[9, 0]] * 8 + [[0, 3]] * 2
    rare = np.array([0] * 8 + [1] * 2, float)
    tight = calibrator(aim(counts), keeps=[share("source rare", rare, 0.05)]).calibrate()
    loose = calibrator(aim(counts), keeps=[share("source rare", rare, 0.06)]).calibrate()
    [kept] = tight.kept
    gain = tight.aims[0].after - loose.aims[0].after  # by a tenth document, 5 % of the two
    assert kept.price == pytest.approx(gain / 5, rel=0.15)
    assert tight.limit_price == pytest.approx(0, abs=1e-6)
    capped = calibrator(aim(counts), limit=1.5).calibrate()
    wider = calibrator(aim(counts), limit=1.6).calibrate()
    gain = capped.aims[0].after - wider.aims[0].after
    assert capped.limit_price == pytest.approx(gain / 0.1, rel=0.25)
    assert capped.aims[0].wider < capped.aims[0].least


def test_bad_input_is_named():
    """One group alone, zero target, a limit of 1, keeps that contradict each other."""
    alone = calibrator(aim([[3, 0], [1, 0]])).calibrate()
    assert (alone.aims[0].after, alone.aims[0].proven) == pytest.approx((0.5, 0.5), abs=1e-6)
    unwanted = calibrator(aim([[3, 1], [1, 4]], target=[1, 0])).calibrate()
    assert unwanted.aims[0].after < unwanted.aims[0].before
    still = calibrator(aim([[3, 1], [1, 0]]), limit=1.0).calibrate()
    assert still.weights.tolist() == [1, 1]
    first = np.array([1.0, 1, 0, 0])
    keeps = [Keep("source a", first, 3.0, 3.5), Keep("source b", 1 - first, 2.0, 2.5)]
    with pytest.raises(CalibrationError, match="source a and source b"):
        calibrator(aim([[3, 1]] * 4), keeps=keeps).calibrate()
    with pytest.raises(CalibrationError, match="source a"):
        calibrator(aim([[3, 1]] * 4), keeps=keeps[:1], limit=1.0).calibrate()


def test_the_same_documents_in_profiles_or_one_by_one():
    aims, keeps = drawn(8, 30)
    twice = calibrator(
        *(Aim(each.name, np.repeat(each.counts, 2, 0), each.target, each.before) for each in aims),
        keeps=[Keep(k.name, np.repeat(k.amounts, 2), 2 * k.low, 2 * k.high) for k in keeps],
    ).calibrate()
    once = calibrator(
        *(Aim(each.name, 2 * each.counts, each.target, each.before) for each in aims),
        keeps=[Keep(k.name, 2 * k.amounts, 2 * k.low, 2 * k.high) for k in keeps],
        documents=[2] * 30,
    ).calibrate()
    assert twice.weights[::2] == pytest.approx(once.weights, abs=1e-4)


def test_weights_that_meet_a_target_are_the_nearest_to_1():
    """A target that is met at once ends nothing: the weights were found at the DR of before."""
    draw = np.random.default_rng(3)
    counts = draw.integers(1, 9, 75).astype(float)
    counts = np.stack([counts, counts[::-1]], axis=1)
    counts[0, 0] += 1
    found = Calibrator(
        np.ones(75), [Aim("a", counts, np.full(2, 0.5), np.zeros(2))], []
    ).calibrate()
    assert np.abs(found.weights - 1).max() < 0.01 and abs(found.aims[0].after) < 1e-5
