"""The linear terms of documents are how much the weighted shares change with them."""

from __future__ import annotations

import numpy as np
import pytest

from evenflow.transforms.repair.calibration import PRICE, Aim, Calibration, Calibrator, Keep
from evenflow.transforms.repair.linearised import Linearised

COUNTS = {  # mentions of each document, by attribute and group
    "gender": [np.array([0, 0, 1, 2, 0, 3, 1, 0, 4, 0]), np.array([2, 1, 0, 1, 3, 1, 4, 1, 2, 5])],
    "age": [np.array([1, 0, 0, 2, 1, 0, 0, 0, 1, 1]), np.array([0, 2, 1, 0, 0, 1, 3, 0, 1, 0])],
}
SOURCE = np.array([1.0, 0, 1, 0, 0, 1, 1, 0, 1, 0])
OF = np.arange(len(SOURCE))


def calibrator(number: np.ndarray, limit: float, keep: bool, **more: float) -> Calibrator:
    """Documents that are there so many times, (D,)."""
    aims = [
        Aim(name, np.stack(own, 1) * number[:, None], np.full(2, 0.5), np.array([1.0, 2.0]))
        for name, own in COUNTS.items()
    ]
    amounts, room = SOURCE * number, 0.02 * len(OF)
    keeps = [Keep("source", amounts, amounts.sum() - room, amounts.sum() + room)] if keep else []
    return Calibrator(number, aims, keeps, limit, **more)


def shares(one: Calibrator, found: Calibration, name: str) -> np.ndarray:
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
    ones = np.ones(len(OF))
    one = calibrator(ones, limit, keep)
    found = one._priced(price, one.aims)
    linear = Linearised(one, found)
    step, plain = 1e-4, 0.0
    for name, own in COUNTS.items():
        after = one.aims[list(COUNTS).index(name)].after(found.weights)
        moved = np.zeros((len(OF), 2))
        for document in range(len(OF)):
            ends = []
            for sign in (1, -1):
                more = calibrator(ones + sign * step * (document == OF), limit, keep)
                ends.append(shares(more, more._priced(price, more.aims), name))
            moved[document] = (ends[0] - ends[1]) / 2 / step
        [terms] = linear.terms(OF, COUNTS, name, np.array([1.0, 2.0]), found.weights)
        p = after / after.sum()
        expected = (terms - np.outer(terms.sum(axis=1), p)) / after.sum()
        assert moved == pytest.approx(expected, abs=2e-3)
        assert terms.sum(axis=1) == pytest.approx(found.weights * np.sum(own, axis=0))
        weighed = np.stack(own, 1) * found.weights[:, None]
        plain = max(plain, np.abs(terms - weighed).max())
    assert plain > 0.05
