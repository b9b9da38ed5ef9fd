"""Sums of the bias score, and the figures that they give: mean, percentiles, share above.

Scores are counted in bins, as in an HDR histogram: each doubling has `BINS` of the same width. Sums
of bins are counts, so they do not depend on the order in which blocks come, and a percentile is
off by 0.8 % of itself at most. (The KLL sketch of datasketches draws random bits; a t-digest
depends on the order of merges. Neither gives the same bytes for any number of workers.)
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evenflow.transforms import wilson
from evenflow.transforms.measures.bias_score.records import BiasSummary, BiasSums, Estimate
from evenflow.transforms.measures.bias_score.score import Scores

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

PERCENTILES = (90, 93, 95, 97)
STEP = 1e-4  # unit of sums of scores
BINS = 64  # bins of a doubling
LEAST = -20  # scores below 2^LEAST are in the bin of 0
DIGITS = 6  # of a reported figure


def bin_of(values: Floats) -> Ints:
    """Find the bins of n scores (n,), each 0 or more."""
    mantissa, exponent = np.frexp(values)
    bins = (exponent - LEAST) * BINS + np.floor((mantissa - 0.5) * 2 * BINS).astype(np.int64)
    return np.where((values > 0) & (exponent > LEAST), bins, 0)


def middle(number: int) -> float:
    """The middle of a bin, which stands for its scores."""
    exponent, place = divmod(number, BINS)
    return float(np.ldexp(0.5 + (place + 0.5) / (2 * BINS), exponent + LEAST)) if number else 0.0


def sums(
    scores: Scores, owners: Ints, groups: tuple[str, ...], threshold: float | None
) -> dict[str, Any]:
    """Sum scores over documents.

    `owners`: The number of each sentence's document, (n,), ascending.
    """
    known = scores.known
    steps = np.rint(scores.groups[known] / STEP).astype(np.int64)
    absolute = scores.absolute[known]
    above = absolute > threshold if threshold is not None else np.zeros(len(absolute), bool)
    _, own = np.unique(owners[known], return_inverse=True)
    each = {
        "n": np.bincount(own),
        "a": np.bincount(own, above).astype(np.int64),
        "t": np.bincount(own, np.rint(absolute / STEP)).astype(np.int64),
    }
    bins, counts = np.unique(bin_of(absolute), return_counts=True)
    return {
        "documents": len(each["n"]),
        "sentences": len(absolute),
        "unknown": int(np.count_nonzero(~known)),
        "above": int(each["a"].sum()),
        "total": int(each["t"].sum()),
        "groups": dict(zip(groups, steps.sum(axis=0).tolist(), strict=True)),
        "products": {
            pair: int(each[pair[0]] @ each[pair[1]]) for pair in ("nn", "na", "nt", "aa", "tt")
        },
        "bins": dict(zip(map(str, bins.tolist()), counts.tolist(), strict=True)),
    }


def summarise(total: BiasSums, judged: bool, confidence: float) -> BiasSummary:
    """Compute figures with their intervals, for documents drawn from a stream.

    Sentences of one document go together, so variances are those of ratios of sums over documents
    (Cochran, Sampling Techniques, 3rd ed., section 6.3), with Student's tails on the effective
    number of documents (Kish). The share has Wilson's interval for the number of independent
    sentences that would be as sure. A percentile lies between the percentiles whose ranks are as
    far off as such a share may be (Woodruff 1952), with the number that goes with the mean.
    """
    from scipy.special import stdtrit  # it takes a third of a second to load

    count = total.sentences
    out = BiasSummary(sentences=count, documents=total.documents)
    if not count:
        return out
    kish = count**2 / total.products["nn"]
    t = float(stdtrit(max(kish - 1, 1), (1 + confidence) / 2)) if total.documents > 1 else None
    mean = total.total / count
    spread = sum(
        each * (middle(int(number)) / STEP - mean) ** 2 for number, each in total.bins.items()
    )
    variance, size = _effective(total, "t", mean, spread / count)
    out.mean = _estimate(mean * STEP, None if t is None else t * sqrt(variance) * STEP)
    out.groups = {name: round(each / count * STEP, DIGITS) for name, each in total.groups.items()}
    for percent in PERCENTILES:
        share = percent / 100
        out.percentiles[str(percent)] = _estimate(quantile(total.bins, share))
        if t is not None:
            off = t * sqrt(share * (1 - share) / size)
            for name, at in (("low", share - off), ("high", share + off)):
                bound = round(quantile(total.bins, at), DIGITS)
                setattr(out.percentiles[str(percent)], name, bound)
    if judged:
        share = total.above / count
        out.above = _estimate(share)
        if t is not None:
            _, size = _effective(total, "a", share, share * (1 - share))
            low, high = wilson.interval(share, size, t)
            out.above.low, out.above.high = round(low, DIGITS), round(high, DIGITS)
    return out


def quantile(bins: Mapping[str, int], share: float) -> float:
    """Find the score that a share of the sentences do not exceed."""
    order = sorted(map(int, bins))
    running = np.cumsum([bins[str(number)] for number in order])
    at = int(np.searchsorted(running, share * running[-1], "left"))
    return middle(order[min(at, len(order) - 1)])


def _effective(
    total: BiasSums, what: Literal["a", "t"], ratio: float, spread: float
) -> tuple[float, float]:
    """How sure a ratio of sums over documents is."""
    products, count = total.products, total.sentences
    own = products[2 * what] - 2 * ratio * products[f"n{what}"] + ratio**2 * products["nn"]
    variance = max(own, 0.0) / count**2 * total.documents / max(total.documents - 1, 1)
    if not variance or not spread:
        return variance, count**2 / products["nn"]
    return variance, min(spread / variance, count)


def _estimate(value: float, error: float | None = None) -> Estimate:
    """A figure, rounded, with bounds that are an error away; they are not below 0."""
    out = Estimate(value=round(value, DIGITS))
    if error is not None:
        out.low, out.high = round(max(value - error, 0), DIGITS), round(value + error, DIGITS)
    return out
