"""The linear terms of documents are how much the weighted shares change with them."""

from __future__ import annotations

import numpy as np
import pytest

from evenflow.transforms.repair.calibration import PRICE, Aim, Calibrator, Keep, ProfileWeights
from evenflow.transforms.repair.linearised import Linearised

COUNTS = {  # mentions of each document, by attribute and group
    "gender": [np.array([0, 0, 1, 2, 0, 3, 1, 0, 4, 0]), np.array([2, 1, 0, 1, 3, 1, 4, 1, 2, 5])],
    "age": [np.array([1, 0, 0, 2, 1, 0, 0, 0, 1, 1]), np.array([0, 2, 1, 0, 0, 1, 3, 0, 1, 0])],
}
SOURCE = np.array([1.0, 0, 1, 0, 0, 1, 1, 0, 1, 0])
EACH = 30  # documents of a profile
OF = np.repeat(np.arange(len(SOURCE)), EACH)
BEFORE = np.array([30.0, 60.0])


def calibrator(number: np.ndarray, limit: float, keep: bool, **more: float) -> Calibrator:
    """Profiles that have so many documents, (K,)."""
    aims = [
        Aim(name, np.stack(own, 1) * number[:, None], np.full(2, 0.5), BEFORE)
        for name, own in COUNTS.items()
    ]
    amounts, room = SOURCE * number, 0.02 * len(OF)
    keeps = [Keep("source", amounts, amounts.sum() - room, amounts.sum() + room)] if keep else []
    return Calibrator(number, aims, keeps, limit, **more)


def shares(one: Calibrator, found: ProfileWeights, name: str) -> np.ndarray:
    [aim] = [each for each in one.aims if each.name == name]
    after = aim.after(found.weights)
    return after / after.sum()


@pytest.mark.parametrize(
    ("limit", "price", "keep"),
    [(4.0, PRICE, False), (4.0, PRICE, True), (1.6, PRICE, True), (1.3, PRICE, False)],
)
def test_the_terms_are_what_another_document_changes(
    limit: float, price: float, keep: bool
) -> None:
    number = np.full(len(SOURCE), float(EACH))
    one = calibrator(number, limit, keep)
    found = one._priced(price, one.aims)
    linear, weights = Linearised(one, found), found.weights[OF]
    counts = {name: [each[OF] for each in own] for name, own in COUNTS.items()}
    step, plain = 3e-3, 0.0  # a solver leaves 1e-6 of a share, which a smaller step would blow up
    for aim in one.aims:
        moved = []
        for profile in range(len(SOURCE)):
            ends = []
            for sign in (1, -1):
                more = calibrator(
                    number + sign * step * (np.arange(len(SOURCE)) == profile), limit, keep
                )
                ends.append(shares(more, more._priced(price, more.aims), aim.name))
            moved.append((ends[0] - ends[1]) / 2 / step)
        [terms] = linear.terms(OF, counts, aim.name, BEFORE, weights)
        weighed = np.stack(counts[aim.name], 1) * weights[:, None]
        assert terms.sum(axis=1) == pytest.approx(weighed.sum(axis=1))
        after = aim.after(found.weights)
        expected = (terms - np.outer(terms.sum(axis=1), after / after.sum())) / after.sum()
        assert np.array(moved) * EACH == pytest.approx(expected[::EACH] * EACH, abs=2e-3)
        plain = max(plain, np.abs(terms - weighed).max())
    assert plain > 0.05


def test_few_documents_say_nothing_of_how_weights_would_change() -> None:
    one = calibrator(np.ones(len(SOURCE)), 4.0, keep=True)
    found = one.calibrate()
    of, weights = np.arange(len(SOURCE)), found.weights
    for name, own in COUNTS.items():
        [terms] = Linearised(one, found).terms(of, COUNTS, name, BEFORE, weights)
        assert terms == pytest.approx(np.stack(own, 1) * weights[:, None])


@pytest.mark.parametrize(("room", "expected"), [(1.02, 0.022), (1.5, 0.0)])
def test_a_target_that_the_floor_may_not_reach_is_uncertain(room: float, expected: float) -> None:
    number = np.full(len(SOURCE), float(EACH))
    needs = calibrator(number, 4.0, keep=False).calibrate().effective
    one = calibrator(number, 4.0, False, least_effective=1 / (1 + room**2 * (1 / needs - 1)))
    found = one.calibrate()
    aim, counts = one.aims[0], {name: [each[OF] for each in own] for name, own in COUNTS.items()}
    [terms] = Linearised(one, found).terms(OF, counts, aim.name, BEFORE, found.weights[OF])
    after = aim.after(found.weights)
    noise = np.sqrt((terms - np.outer(terms.sum(1), after / after.sum())).var(0)[0] * len(OF))
    assert noise / after.sum() == pytest.approx(expected, abs=1e-3)
