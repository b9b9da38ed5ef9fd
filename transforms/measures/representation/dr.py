"""Demographic Representation score, DR = 1/2 sum_i |p_i - q_i| (main paper, section 4.2.2).

p are the groups' shares of the mentions, and q is the target. Documents are drawn, not words,
because mentions within a document go together. So the interval rests on sums over documents, which
add up over blocks, panes and streams. `interval.py` computes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.schemas.ledger import Score, Sums
from evenflow.transforms.measures.representation.interval import intervals

# Digits of a reported score: far finer than an interval, far coarser than the differences between
# the arithmetic of two machines
DIGITS = 6


@dataclass(frozen=True)
class Convergence:
    """After how many documents the interval was no wider than +- epsilon, and stayed so.

    Attributes:
        epsilon: Half of the interval's width, in DR.
        documents: How many documents with a mention it took; None where it is still wider.
        projected: How many it would take if the width went on shrinking as 1 / sqrt(documents).
            This rough guess assumes more documents like those seen. None where the width is
            reached, or where there is no interval yet.
    """

    epsilon: float
    documents: int | None
    projected: int | None


def sums(counts: npt.NDArray[np.int64], weights: npt.NDArray[np.float64] | None = None) -> Sums:
    """Sum mention counts over documents; documents without a mention add nothing.

    Args:
        counts: Mentions (D, M) of M groups in D documents.
        weights: The documents' weights (D,); 1 each unless given.

    Returns:
        The sums; `documents` counts each document with a mention once, without its weight.
    """
    mentioning = counts.any(axis=1)
    own = counts[mentioning]
    if weights is not None:
        own = own * weights[mentioning, None]
    return Sums(
        documents=len(own), counts=own.sum(axis=0).tolist(), products=(own.T @ own).tolist()
    )


def demographic_representation(
    counts: Sequence[float], target: Sequence[float] | None = None
) -> float | None:
    """Compute DR.

    Args:
        counts: Mentions (M,) of M groups.
        target: The target's shares (M,); uniform unless given.

    Returns:
        DR, in [0, 1]; None where nothing was mentioned.

    Raises:
        ValueError: The target is not M shares that sum to 1.
    """
    q = _target(len(counts), target)
    total = sum(counts)
    if not total:
        return None
    return float(np.abs(np.array(counts) / total - q).sum() / 2)


def score(sums: Sums, target: Sequence[float] | None = None, confidence: float = 0.95) -> Score:
    """Compute DR with its confidence interval, for documents drawn from a stream.

    `dr` is the plug-in score. It is biased upward, most near 0 and with few documents. `corrected`
    is without the bias: the score at which one would expect to observe `dr`. low <= dr <= high
    always. Without two documents that mention a group there is no interval (None).

    Args:
        target: The target's shares (M,); uniform unless given.
        confidence: Level of the interval, in (0.5, 1).

    Raises:
        ValueError: The confidence or the target is out of range.
    """
    return scores([sums], target, confidence)[0]


def scores(
    every: Sequence[Sums], target: Sequence[float] | None = None, confidence: float = 0.95
) -> list[Score]:
    """Compute the score of several sums of the same groups: two take little longer than one."""
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence must lie between 0.5 and 1, it is {confidence}")
    shares = target and tuple(target)
    places = [
        _place(
            each.documents, tuple(each.counts), tuple(map(tuple, each.products)), shares, confidence
        )
        for each in every
    ]
    fresh = {
        id(place): (place, each) for place, each in zip(places, every, strict=True) if not place
    }
    judged: list[tuple[list[float | None], Sums]] = []
    for place, each in fresh.values():
        plain = demographic_representation(each.counts, target)
        if plain is None or each.documents < 2 or len(each.counts) < 2:
            place[:] = [None if plain is None else round(plain, DIGITS), None, None, None]
        else:
            judged.append((place, each))
    if judged:
        documents, counts, products = (
            np.array([getattr(each, name) for _, each in judged], float)
            for name in Sums.model_fields
        )
        q = _target(counts.shape[1], target)
        found = intervals(documents, counts, products, q, confidence)
        rows = zip(found.dr, found.corrected, found.low, found.high, strict=True)
        for (place, _), row in zip(judged, rows, strict=True):
            place[:] = [round(float(each), DIGITS) for each in row]
    return [
        Score(
            **dict(zip(("dr", "corrected", "low", "high"), place, strict=True)),
            mentions=round(sum(each.counts)),  # weighted mentions are not whole
            documents=each.documents,
        )
        for place, each in zip(places, every, strict=True)
    ]


@lru_cache(maxsize=256)
def _place(*sums: Any) -> list[float | None]:
    """Where figures of sums are kept: a pane, its stream and what was accepted often share them."""
    return []


def documents_until(series: Sequence[Score], epsilon: float) -> Convergence:
    """Find after how many documents the cumulative interval is within +- epsilon and stays so.

    The main paper asks this of growing word lists (Figure 6). Here the list is fixed and the
    documents grow.

    Args:
        series: Cumulative scores in the stream's order.
        epsilon: Half of the interval's width, in DR.

    Returns:
        The number of documents, or a projection of it.

    Raises:
        ValueError: Epsilon is not positive, or the documents decrease.
    """
    if epsilon <= 0:
        raise ValueError(f"epsilon must be positive, it is {epsilon}")
    reached: int | None = None
    projected: int | None = None
    before = 0
    for each in series:
        if each.documents < before:
            raise ValueError(
                f"cumulative scores must be in order: {each.documents} documents follow {before}"
            )
        before = each.documents
        if each.low is None or each.high is None:
            reached, projected = None, None
            continue
        half = (each.high - each.low) / 2
        if half > epsilon:
            reached, projected = None, ceil(each.documents * (half / epsilon) ** 2)
        elif reached is None:
            reached, projected = each.documents, None
    return Convergence(epsilon, reached, projected)


def _target(groups: int, target: Sequence[float] | None) -> npt.NDArray[np.float64]:
    """Check the target's shares (M,); uniform unless given."""
    if target is None:
        return np.full(groups, 1 / groups)
    q = np.array(target, float)
    if q.shape != (groups,) or (q < 0).any() or not abs(q.sum() - 1) <= 1e-6:  # nan too
        raise ValueError(f"target must be {groups} shares that sum to 1, it is {list(target)}")
    return q
