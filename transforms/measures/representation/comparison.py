"""Compares the representation of two sides: what a filter kept and removed, or two versions.

Documents are the clusters. The interval of a difference of DR is made from the intervals of both
scores (MOVER: Zou and Donner, Statistics in Medicine 2008, 27:1693), with the covariance of
documents that are on both sides. Differences of shares and of removal rates are linearised.

A pooled difference may come from the mix of sources alone, or be the reverse of that of every
source (Simpson's paradox). So it is computed once more with the sources' shares held equal on both
sides (direct standardisation): each source counts by its mentions on both sides together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.transforms.measures.representation.dr import DIGITS, score, sums

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """The documents of one side that name the attribute.

    Attributes:
        ids: Number of each document (D,); the same on both sides for the same document.
        sources: Number of the source of each (D,).
        counts: Mentions (D, M) of M groups.
    """

    ids: Ints
    sources: Ints
    counts: Ints

    def of(self, chosen: npt.NDArray[np.bool_]) -> Side:
        """The documents that a mask (D,) selects."""
        return Side(self.ids[chosen], self.sources[chosen], self.counts[chosen])

    def from_source(self, source: int) -> Side:
        """The documents of a source."""
        return self.of(self.sources == source)


def compare(
    first: Side, second: Side, target: Sequence[float] | None, confidence: float, paired: bool
) -> dict[str, Any]:
    """Compare an attribute's mentions, whatever the sources.

    Args:
        first: What was kept, or the older version.
        second: What was removed, or the newer version.
        target: Shares that the groups should have (M,); equal unless given.
        confidence: Level of the intervals, in (0.5, 1).
        paired: Whether the sides are versions of one corpus, which may share documents.

    Returns:
        first and second (each a score with shares), dr and shares (the differences, first less
        second), and removal: the share of mentions that was removed, and of each group how far its
        own is above. Of versions what the newer lacks of the older counts as removed. A figure has
        value, low and high; None without enough documents.
    """
    even = [np.ones(len(each.counts)) for each in (first, second)]
    return _compared(first, second, even, target, confidence, paired)


def standardised(
    first: Side, second: Side, target: Sequence[float] | None, confidence: float, paired: bool
) -> dict[str, Any] | None:
    """Compare as `compare` does, with the same mix of sources on both sides.

    Args:
        paired: Whether the sides are versions of one corpus.

    Returns:
        As `compare`, with left_out: the mentions of sources that one side lacks. None where no
        source is on both sides.
    """
    size = 1 + max(int(each.sources.max(initial=0)) for each in (first, second))
    totals = [
        np.bincount(each.sources, each.counts.sum(axis=1), minlength=size)
        for each in (first, second)
    ]
    mix = np.where((totals[0] > 0) & (totals[1] > 0), totals[0] + totals[1], 0)
    if not mix.any():
        return None
    kept = [each.of(mix[each.sources] > 0) for each in (first, second)]
    weights = [
        (mix / np.maximum(total, 1) * total[mix > 0].sum() / mix.sum())[each.sources]
        for each, total in zip(kept, totals, strict=True)
    ]
    found = _compared(kept[0], kept[1], weights, target, confidence, paired)
    found["removal"] = _pooled_removal(kept[0], kept[1], mix / mix.sum(), confidence, paired)
    left_out = sum(totals).sum() - mix.sum()  # type: ignore[union-attr]
    return found | {"left_out": int(left_out)}


def gravity(difference: Mapping[str, float] | None) -> tuple[float, float]:
    """What sorts differences, worst first: how far from 0 they surely are, then their size."""
    if difference is None:
        return 1, 0
    sure = max(difference["low"], -difference["high"], 0)
    return -sure, -abs(difference["value"])


def moves(compared: Mapping[str, Any], is_filtered: bool) -> list[Mapping[str, float] | None]:
    """How far the groups' shares moved, or how much more of them was removed than of all."""
    found = compared["removal"] if is_filtered else compared["shares"]
    if found is None:
        return [None] * len(compared["first"]["shares"])
    return found["excess"] if is_filtered else found


def _compared(
    first: Side,
    second: Side,
    weights: Sequence[Floats],
    target: Sequence[float] | None,
    confidence: float,
    paired: bool,
) -> dict[str, Any]:
    """The comparison of weighted documents."""
    groups = first.counts.shape[1]
    q = np.full(groups, 1 / groups) if target is None else np.array(target, float)
    scores = [
        score(sums(each.counts, own), target, confidence)
        for each, own in zip((first, second), weights, strict=True)
    ]
    totals = [own @ each.counts for each, own in zip((first, second), weights, strict=True)]
    out: dict[str, Any] = {
        name: found.model_dump() | {"shares": _rounded(total / max(total.sum(), 1e-300))}
        for name, found, total in zip(("first", "second"), scores, totals, strict=True)
    }
    out |= {"dr": None, "shares": None}
    out["removal"] = _removal(first, second, confidence, paired)
    one, two = scores
    if None in (one.low, two.low):
        return out
    # What each document adds to the error of the shares, (D, M)
    errors = [
        own[:, None]
        * (each.counts - np.outer(each.counts.sum(axis=1), total / total.sum()))
        / total.sum()
        for each, own, total in zip((first, second), weights, totals, strict=True)
    ]
    _, mine, theirs = np.intersect1d(first.ids, second.ids, return_indices=True)
    if not paired:
        mine = theirs = mine[:0]
    variances = [_variance(each) for each in errors]
    shared = 2 * (errors[0][mine] * errors[1][theirs]).sum(axis=0)
    differences = totals[0] / totals[0].sum() - totals[1] / totals[1].sum()
    spread = np.sqrt(np.maximum(sum(variances) - shared, 0)) * _quantile(confidence)
    out["shares"] = [
        _figure(value, value - half, value + half)
        for value, half in zip(differences, spread, strict=True)
    ]
    signs = [np.sign(total / total.sum() - q) / 2 for total in totals]
    along = [each @ sign for each, sign in zip(errors, signs, strict=True)]
    scale = np.sqrt(_variance(along[0]) * _variance(along[1]))
    agreed = float(np.clip((along[0][mine] @ along[1][theirs]) / scale, -1, 1)) if scale else 0.0
    out["dr"] = _mover(one, two, agreed)
    return out


def _mover(one: Any, two: Any, agreed: float) -> dict[str, float]:
    """The difference of two scores; `agreed` is the correlation of their errors."""
    value = one.dr - two.dr
    down, up = one.dr - one.low, one.high - one.dr
    below, above = two.dr - two.low, two.high - two.dr
    low = value - np.sqrt(max(down**2 - 2 * agreed * down * above + above**2, 0))
    high = value + np.sqrt(max(up**2 - 2 * agreed * up * below + below**2, 0))
    return _figure(value, max(low, -1), min(high, 1))


def _removal(first: Side, second: Side, confidence: float, paired: bool) -> dict[str, Any] | None:
    """The share of mentions that was removed, and how far that of each group is above it."""
    rates = _rates(first, second, paired)
    return None if rates is None else _excess(*rates, confidence)


def _pooled_removal(
    first: Side, second: Side, mix: Floats, confidence: float, paired: bool
) -> dict[str, Any] | None:
    """The same as the mean over the sources that can say it, by their shares `mix`."""
    found = []
    for source in np.flatnonzero(mix).tolist():
        rates = _rates(first.from_source(source), second.from_source(source), paired)
        if rates is not None:
            found.append((mix[source], *rates))
    if not found:
        return None
    shares, rates, excess, variances = (np.array(each) for each in zip(*found, strict=True))
    shares /= shares.sum()
    return _excess(shares @ rates, shares @ excess, shares**2 @ variances, confidence)


def _excess(rate: float, excess: Floats, variance: Floats, confidence: float) -> dict[str, Any]:
    """A removal rate, and figures of how far that of each group is above it."""
    half = np.sqrt(variance) * _quantile(confidence)
    figures = [_figure(*each) for each in zip(excess, excess - half, excess + half, strict=True)]
    return {"rate": round(float(rate), DIGITS), "excess": figures}


def _rates(first: Side, second: Side, paired: bool) -> tuple[float, Floats, Floats] | None:
    """The removal rate, how far each group's is above it (M,), and the variance of that (M,)."""
    if paired:
        counts, gone = first.counts, ~np.isin(first.ids, second.ids)
    else:
        counts = np.concatenate((first.counts, second.counts))
        gone = np.arange(len(counts)) >= len(first.counts)
    totals, sizes = counts.sum(axis=0), counts.sum(axis=1)
    if len(counts) < 2 or not totals.all():
        return None
    rate = sizes[gone].sum() / sizes.sum()
    own = counts[gone].sum(axis=0) / totals
    errors = (gone[:, None] - own) * counts / totals
    errors -= ((gone - rate) * sizes / sizes.sum())[:, None]
    return rate, own - rate, _variance(errors)


def _variance(errors: Floats) -> Any:
    """Variance of a sum of what D documents add, drawn independently."""
    return (errors**2).sum(axis=0) * len(errors) / max(len(errors) - 1, 1)


def _quantile(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _figure(value: float, low: float, high: float) -> dict[str, float]:
    return dict(zip(("value", "low", "high"), _rounded((value, low, high)), strict=True))


def _rounded(values: Any) -> list[float]:
    return [round(float(each), DIGITS) + 0.0 for each in values]
