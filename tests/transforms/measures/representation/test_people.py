"""The estimate of people: exact where all is read, without bias where a sample is."""

from __future__ import annotations

import numpy as np
import pytest

from evenflow.schemas.documents import Cell, PeopleFigures
from evenflow.schemas.ledger import Sums
from evenflow.transforms.measures.representation.dr import score
from evenflow.transforms.measures.representation.people import UNIT, doubted, estimate, read_until

RNG = np.random.default_rng(5)
TRUE = RNG.integers(0, 4, (300, 2))  # people of two groups in documents of one cell
FIRST = RNG.integers(0, 3000, (300, 2))  # a first stage that knows nothing
SIZES = RNG.integers(200, 900, 300)


def figures(rng: np.random.Generator, budget: int) -> PeopleFigures:
    ranks = rng.random(300) / SIZES
    cells = [
        Cell(float(ranks[n]), int(SIZES[n]), str(n), FIRST[n].tolist(), FIRST[n].tolist(), str(n))
        for n in np.argsort(ranks)[: budget + 1]
    ]
    return PeopleFigures(300, FIRST.sum(0).tolist(), (FIRST.T @ FIRST).tolist(), budget, cells)


def said(cell: Cell) -> list[int]:
    return (TRUE[int(cell.text)] * UNIT).tolist()


def test_where_all_is_read_the_estimate_is_what_was_read() -> None:
    own = figures(RNG, 300)
    sums = estimate(own, list(map(said, own.cells)))
    assert sums.counts == TRUE.sum(0).tolist()
    assert sums.products == (TRUE.T @ TRUE).tolist()


def test_without_reading_the_first_stage_is_believed() -> None:
    sums = estimate(figures(RNG, 20), [])
    assert sums.counts == pytest.approx(FIRST.sum(0) / UNIT)


def test_a_sample_has_no_bias_and_knows_its_noise() -> None:
    found = []
    for _ in range(400):
        own = figures(RNG, 40)
        found.append(estimate(own, [said(cell) for cell in own.cells[:40]]))
    counts = np.array([each.counts for each in found])
    error = counts.std(0) / 20
    assert (np.abs(counts.mean(0) - TRUE.sum(0)) < 4 * error).all()
    # Between these documents nothing varies, so their sums have more noise than the sample alone
    spread = np.mean([np.diag(each.products) for each in found], axis=0) - np.square(TRUE).sum(0)
    assert spread == pytest.approx(counts.var(0), rel=0.25)


def test_the_parts_of_a_stream_have_its_sample() -> None:
    own = figures(RNG, 299)
    parts = [PeopleFigures.empty(2, 30) for _ in range(3)]
    for number, cell in enumerate(own.cells):
        parts[number % 3].add(PeopleFigures(1, [1, 2], [[1, 2], [2, 4]], 30, [cell]))
    for order in ((0, 1, 2), (2, 0, 1)):
        total = PeopleFigures.empty(2, 30)
        for part in order:
            total.add(parts[part])
        assert total.cells == own.cells[:31] and total.documents == 300
        assert total.counts == [300, 600]


def test_the_readers_own_error_makes_an_interval_wider() -> None:
    """150 and 50 within 3 % each: by the delta method DR has the error 0.0080."""
    few = Sums(documents=100_000, counts=[150.0, 50.0], products=[[1e-4, 0.0], [0.0, 1e-4]])
    sure, wide = score(few, None, 0.95), score(doubted(few, 0.03), None, 0.95)
    assert sure.dr == wide.dr == 0.25 and wide.low is not None is not wide.high
    assert wide.high - wide.low == pytest.approx(2 * 1.96 * 2**0.5 * 50 * 4.5 / 200**2, rel=0.05)
    assert sure.low is not None is not sure.high and sure.high - sure.low < 0.001
    assert doubted(few, 0.0) is few


@pytest.mark.parametrize(("thresholds", "read"), [((0.9,), 10), ((0.0001,), 40)])
def test_reading_ends_once_the_verdict_is_clear(thresholds: tuple[float], read: int) -> None:
    _, number = read_until(figures(RNG, 40), said, 40, None, 0.95, thresholds)
    assert number == read


def test_a_budget_of_nothing_reads_nothing() -> None:
    _, number = read_until(figures(RNG, 0), said, 0, None, 0.95, (0.2,))
    assert number == 0
