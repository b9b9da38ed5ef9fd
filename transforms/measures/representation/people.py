"""Shares of people, from a first stage over all mentions and a reader over a sample of them.

A word of a list need not name a person of its group (“ancient craft”). The first stage gives each
mention a chance f that it does; the reader says y of those in a sample. Prediction-powered
inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, Science 382, 2023) adds to the sum of f
over all mentions what the sample shows f to be wrong by. It is the difference estimator of survey
sampling (Särndal, Swensson and Wretman 1992, section 6.3): a document d counts for each group

    t_d = sum of f over its mentions + sum over its sampled cells of (y - f) / pi.

1. Units of the sample are cells, the stretches of text that the reader reads at once.
2. The sample is drawn by priority (Duffield, Lund and Thorup 2007): each cell has the rank u / s, u
   from a hash of its document, s the sum of its mentions' standard deviations under f. The cells
   with the least ranks are read. So samples of parts join to the sample of the whole, however a
   stream is cut, and each first part of a sample is a sample.
3. Given the rank tau of the first cell that is not read, a cell is read with the chance
   pi = min(1, s tau) (Cohen and Kaplan 2008). So t_d has the mean of what reading all of the
   document would say, whatever f is. A useless f only makes the interval wide.
4. The sums over documents of t_d and of t_d t_d^T have the noise between documents and that of the
   sample. `interval` makes of them the same interval as of words.
5. Reading goes on until the interval lies on one side of each threshold, or the budget is spent. It
   is looked at after a quarter, a half and the whole of the budget, the first times with half and a
   quarter of the error that is allowed.

6. The reader errs too, and not alike on all kinds of text: `doubted`.

The page “Statistics” has the coverage.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from evenflow.schemas.documents import Cell, PeopleFigures
from evenflow.schemas.ledger import Sums
from evenflow.transforms.measures.representation.dr import score

UNIT = 1000  # a mention counts in thousandths, so that sums are the same in any order
LOOKS = (4, 2, 1)  # after the budget divided by these, it is asked whether that is enough
DIGITS = 6

Reads = Callable[[Cell], Sequence[int]]


def estimate(figures: PeopleFigures, read: Sequence[Sequence[int]]) -> Sums:
    """Estimate how many mentions of each group name people of it.

    `read`: What the reader says of the first n cells, (n, M), in thousandths.
    """
    cells = figures.cells
    limit = cells[len(read)].rank if len(read) < len(cells) else np.inf
    counts = np.array(figures.counts, float)
    products = np.array(figures.products, float)
    whole: dict[str, npt.NDArray[np.float64]] = {}
    moved: dict[str, npt.NDArray[np.float64]] = {}
    for cell, own in zip(cells, read, strict=False):
        chance = min(1.0, cell.size * limit)
        whole[cell.document] = np.array(cell.whole, float)
        change = (np.array(own, float) - np.array(cell.first, float)) / chance
        moved[cell.document] = moved.get(cell.document, 0.0) + change
    for document, before in whole.items():
        after = before + moved[document]
        counts += moved[document]
        products += np.outer(after, after) - np.outer(before, before)
    return Sums(
        documents=figures.documents,
        counts=np.maximum(counts / UNIT, 0).round(DIGITS).tolist(),
        products=(products / UNIT**2).round(DIGITS).tolist(),
    )


def shipped_doubt(attribute: str) -> float:
    """How wrong the reader that ships may be of an attribute (see `doubted`)."""
    from evenflow.transforms.models.people import PeopleHead  # only where people are counted

    return PeopleHead.shipped().doubt(attribute)


def doubted(sums: Sums, doubt: float) -> Sums:
    """Add the reader's own error to the noise of estimated people.

    On text of another kind the reader's share of people is off by a factor of its own for each
    group (Rogan and Gladen 1978 correct by such a factor where it is known). Its standard error is
    `doubt`, so the people n_i of a group have the variance (doubt n_i)^2 more. It is one error for
    all documents: it is added to the sums that are judged, not to those of a pane.

    Args:
        doubt: Standard error of a group's people, as a share of them (`PeopleHead.doubt`).

    Returns:
        Sums with wider products. A score's interval then holds both.
    """
    if not doubt:
        return sums
    wider = np.array(sums.products, float) + np.diag((doubt * np.array(sums.counts, float)) ** 2)
    return sums.model_copy(update={"products": wider.tolist()})


def read_until(
    figures: PeopleFigures,
    reads: Reads,
    budget: int,
    target: Sequence[float] | None,
    confidence: float,
    thresholds: Sequence[float],
    doubt: float = 0.0,
) -> tuple[Sums, int]:
    """Read cells until the interval lies on one side of each threshold, or the budget is spent.

    Args:
        reads: Reads a cell: thousandths of people of each group, (M,).
        target: The target's shares, (M,); None: equal ones.

    Returns:
        The sums, and how many cells were read.
    """
    read: list[Sequence[int]] = []
    sums = estimate(figures, read)
    for part in LOOKS:
        wanted = min(-(-budget // part), len(figures.cells))
        read += [reads(cell) for cell in figures.cells[len(read) : wanted]]
        sums = estimate(figures, read)
        if len(read) == len(figures.cells):
            break
        found = score(doubted(sums, doubt), target, 1 - (1 - confidence) / part)
        if found.low is None or found.high is None:
            continue
        if all(found.high < each or found.low >= each for each in thresholds):
            break
    return sums, len(read)
