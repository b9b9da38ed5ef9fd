"""Confidence interval of the Demographic Representation score by test inversion, for many sums at
once.

DR = 1/2 sum_i |x_i| of the deviations x = p - q is not smooth where a group meets its target. There
the plug-in score is biased upward and the delta method fails; at DR 0 the plug-in score is never
below the truth. So the interval comes from tests: a score t stays in it unless the observed score
lies in a tail of its distribution under shares of score t.

1. Noise. The shares are ratios of sums over documents, so their covariance is that of a ratio
   estimator (Cochran, Sampling Techniques, 3rd ed., section 6.3), raised for the residuals'
   shrinkage by leverage (as Bell and McCaffrey 2002 do for clusters), with Student's tails on the
   effective number of documents, (sum n)^2 / sum n^2 (Kish), less 1.
2. At other shares than the observed ones each group's noise is scaled by a power of p (1 - p), as
   in Wilson's score interval (where it is 1/2): so the interval holds near 0 and 1, and is not
   empty where all mentions are of one group.
3. Which shares, among all with score t, decides on the bias. For the lower bound: in the observed
   direction, less what may be noise (groups near their target are put on it, where the bias is
   greatest). For the upper bound: the likeliest shares, to which the noise's regression on the
   over-represented set's share leads (there the bias is small).
4. Tails. Near 0 the whole error is given to the lower bound, far from it half to each, as the
   likelihood ratio's ordering does (Feldman and Cousins 1998). So DR 0 is excluded for about 5 % of
   even streams, not 0 %.

The distribution is taken over a fixed lattice of points, so the same sums give the same interval.
What it covers is printed by tests/benchmarks/interval_coverage.py. Least sure: scores near the
greatest possible one, where a rare group stands in a handful of long documents (92 to 93 %), and 5
groups whose deviations drown in noise but one (98 %).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]

NORMAL = NormalDist()
# Korobov lattice: of 60 generators tried, the one with the least error in the tails
POINTS, GENERATOR = 1021, 71
# The next eight were chosen on what interval_coverage.py in tests/benchmarks/ calls --development,
# not on its report. Weight of a prior with full clustering in the overdispersion, for streams of
# one group alone
PSEUDO_DOCUMENTS = 0.25
# Power of p (1 - p) that a variance grows with: 1 for words, up to 2 for documents of unequal size
GROWTH = 1.35
# Effective mentions' worth of variance that each group has at least: a rare group's own is badly
# known
FLOOR = 2.0
FEW = 0.6  # of the floor's 2, how many still count at other shares
# For the lower bound, deviations below about 3 standard errors may be noise
NOISE_SCALE, NOISE_POWER = 3.0, 3
# The same for the bias correction, which should lean to neither side
MIDDLE_SCALE, MIDDLE_POWER = 1.0, 4
# In one-sided normal quantiles: up to there the whole error is the lower bound's (2 groups: 1)
RAMP_START = 0.6
RAMP_END = 1.12  # in two-sided normal quantiles: from there on, half to each bound
# Of the residuals' expected shrinkage: above it its estimate from two moments means nothing
MAX_LEVERAGE = 0.5
ROWS = 64  # streams at once: what they draw fits in a core's cache
STEPS = 40  # of the root search, which ends earlier where every row has converged
TOLERANCE = 1e-8  # of a root, in DR: well below the sixth digit that is reported


@dataclass(frozen=True)
class Intervals:
    """dr (plug-in), corrected for its bias, and the bounds low <= dr <= high: (R,) each."""

    dr: Floats
    corrected: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class _Noise:
    """The noise of the shares: covariance (R, M, M) and standard deviation (R, M) at the observed
    shares.

    factors (R, M - 1, M): its root, for p (1 - p) of 1; few (R,): what is added to p (1 - p) at
    other shares; tails (R, B): what multiplies the points.
    """

    covariance: Floats
    deviation: Floats
    factors: Floats
    few: Floats
    tails: Floats


@dataclass(frozen=True)
class _Path:
    """Shares by a position r >= 0: target + min(r, knot) first + max(r - knot, 0) second, (R, M).

    inside: 1 for the set of groups whose share is as said even where others meet 0; end: last
    position (R,).
    """

    first: Floats
    second: Floats
    knot: Floats
    inside: Floats
    end: Floats


@lru_cache(maxsize=32)
def _points(groups: int) -> tuple[Floats, Floats, Floats]:
    """Normal points (M - 1, B), others for the scale (B,), and the contrasts (M - 1, M) that the
    first stand for.
    """
    steps = [pow(GENERATOR, power, POINTS) for power in range(groups)]
    uniform = (np.outer(np.arange(POINTS), steps) % POINTS + 0.5) / POINTS
    normal = np.array([[NORMAL.inv_cdf(value) for value in row] for row in uniform.tolist()])
    contrasts = np.zeros((groups - 1, groups))
    for row in range(groups - 1):  # Helmert's
        contrasts[row, : row + 1], contrasts[row, row + 1] = 1, -(row + 1)
        contrasts[row] /= np.sqrt((row + 1) * (row + 2))
    points = np.ascontiguousarray(normal[:, 1:].T), normal[:, 0].copy(), contrasts
    for each in points:
        each.flags.writeable = False  # they are shared between calls
    return points


def intervals(
    documents: Floats, counts: Floats, products: Floats, target: Floats, confidence: float
) -> Intervals:
    """Scores with their intervals.

    documents (R,), at least 2 each; counts (R, M) with at least one mention each; products (R, M,
    M), sums over documents of c_d c_d^T; target (M,), sums to 1; confidence in (0.5, 1).
    """
    parts = [
        _intervals(
            documents[at : at + ROWS],
            counts[at : at + ROWS],
            products[at : at + ROWS],
            target,
            confidence,
        )
        for at in range(0, len(documents), ROWS)
    ]
    return Intervals(
        *(
            np.concatenate([getattr(part, each.name) for part in parts])
            for each in fields(Intervals)
        )
    )


def _intervals(
    documents: Floats, counts: Floats, products: Floats, target: Floats, confidence: float
) -> Intervals:
    groups = counts.shape[1]
    excess = counts / counts.sum(axis=1, keepdims=True) - target
    own = np.diagonal(products, axis1=1, axis2=2)
    # So that the order in which groups are listed does not matter
    order = np.lexsort((own, counts, -excess), axis=1)
    counts, excess = np.take_along_axis(counts, order, 1), np.take_along_axis(excess, order, 1)
    products = np.take_along_axis(
        np.take_along_axis(products, order[:, :, None], 1), order[:, None, :], 2
    )
    q = target[order]
    dr = np.abs(excess).sum(axis=1) / 2
    noise = _noise(documents, counts, products)
    error = 1 - confidence
    one, two = -NORMAL.inv_cdf(error), -NORMAL.inv_cdf(error / 2)
    start, end = one * (1 if groups == 2 else RAMP_START), two * RAMP_END

    rows, most = len(q), 1 - target.min()
    paths = (
        _down(q, excess, dr, noise, NOISE_SCALE, NOISE_POWER),
        _up(q, excess, dr, noise, two),
        _down(q, excess, dr, noise, MIDDLE_SCALE, MIDDLE_POWER),
    )
    path = _Path(
        *(np.concatenate([getattr(each, name.name) for each in paths]) for name in fields(_Path))
    )

    def surplus(position: Floats, at: Rows) -> Floats:
        """How far the score's quantile (for the bounds) or mean lies above the observed score, in
        the rows `at`.
        """
        source, bound = at % rows, at // rows
        shares = _shares(q[source], path, position, at)
        tails = np.where((bound < 2)[:, None], noise.tails[source], 1)
        drawn = _draw(shares, q[source], noise.factors[source], noise.few[source], tails)
        score = np.abs(shares - q[source]).sum(axis=1) / 2
        ramp = (score / np.maximum(drawn.std(axis=1), 1e-12) - start) / (end - start)
        tail = error / 2 * np.clip(ramp, 0, 1)
        quantile = _quantile(drawn, np.where(bound == 0, 1 - error + tail, tail))
        value = np.where(bound < 2, quantile, np.minimum(drawn, most).mean(axis=1))
        return np.where((bound == 1) & (tail == 0), -1.0, value - dr[source])

    found = _root(surplus, path.end)
    low, up, corrected = found[:rows], found[rows : 2 * rows], found[2 * rows :]
    high = np.abs(_shares(q, path, up, np.arange(rows, 2 * rows)) - q).sum(axis=1) / 2
    return Intervals(dr, np.minimum(corrected, dr), np.minimum(low, dr), np.maximum(high, dr))


def _noise(documents: Floats, counts: Floats, products: Floats) -> _Noise:
    groups = counts.shape[1]
    mentions = counts.sum(axis=1)
    p = counts / mentions[:, None]
    sizes = products.sum(axis=2)  # sum over documents of n_d c_d
    squares = sizes.sum(axis=1)  # of n_d^2
    crossed = p[:, :, None] * sizes[:, None, :]
    spread = (
        products
        - crossed
        - crossed.transpose(0, 2, 1)
        + p[:, :, None] * p[:, None, :] * squares[:, None, None]
    )
    # Overdispersion over all groups: Var(p_i) is about phi p_i (1 - p_i); with 0/0 mentions apart,
    # the prior's.
    weight = PSEUDO_DOCUMENTS / documents
    phi = (
        (np.trace(spread, axis1=1, axis2=2) + weight * squares)
        / mentions**2
        / (1 - (p**2).sum(axis=1) + weight)
    )
    # Shrinkage of the squared residuals, under Var(r_d) ~ n_d (1 + (n_d - 1) rho); third moment as
    # a lognormal's.
    mean, square = mentions / documents, squares / documents
    cube = square**3 / mean**3
    more = np.maximum(squares - mentions, 1e-9)
    rho = np.where(squares > mentions, np.clip((phi * mentions**2 - mentions) / more, 0, 1), 0)
    variance, weighted = mean + (square - mean) * rho, square + (cube - square) * rho
    kish = mentions**2 / squares
    leverage = np.minimum(2 * weighted / (variance * mentions) - 1 / kish, MAX_LEVERAGE)
    raised = np.maximum(1 / (1 - leverage), 1 / np.maximum(1 - 1 / kish, 1e-9))
    raised = np.maximum(raised, documents / (documents - 1))
    prior = (np.eye(groups) - 1 / groups) * groups / (groups - 1)
    covariance = (
        spread * (raised / mentions**2)[:, None, None]
        + (FLOOR * phi**2 * raised)[:, None, None] * prior
    )
    values, vectors = np.linalg.eigh(covariance)
    # The symmetric root: unlike the eigenvectors it does not depend on signs that a library is free
    # to choose.
    root = (vectors * np.sqrt(np.clip(values, 0, None))[:, None, :]) @ vectors.transpose(0, 2, 1)
    _, scale, contrasts = _points(groups)
    factors = contrasts @ root / (p * (1 - p) + FLOOR * phi[:, None])[:, None, :] ** (GROWTH / 2)
    # sqrt(df / chi^2) by Wilson and Hilferty's cube.
    step = 2 / (9 * np.maximum((kish - 1) * np.sqrt(groups - 1), 1))[:, None]
    tails = np.maximum(1 - step + scale * np.sqrt(step), 0.05) ** -1.5
    deviation = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    return _Noise(covariance, deviation, factors, FEW * phi * raised, tails)


def _down(q: Floats, excess: Floats, dr: Floats, noise: _Noise, scale: float, power: int) -> _Path:
    """In the observed direction, less what may be noise. Each side of it sums to 1: so the position
    is the DR.
    """
    surprise = np.abs(excess / noise.deviation) ** power
    kept = excess * (surprise / (surprise + scale**power))
    first = _direction(kept)
    inside = (first > 0).astype(float)
    # Not quite to the end: where all mentions are of one group there is no noise, and the search
    # would stop there.
    end = np.minimum(dr, 1 - (q * inside).sum(axis=1)) * (1 - 1e-9)
    return _Path(first, first, dr, inside, end)


def _up(q: Floats, excess: Floats, dr: Floats, noise: _Noise, quantile: float) -> _Path:
    """To the observed shares, then where the noise's regression on the set with the highest bound
    leads.
    """
    groups = q.shape[1]
    # The groups are in descending order of their excess: nested sets
    sets = np.tri(groups - 1, groups)
    along = sets @ noise.covariance  # (R, M - 1, M)
    variance = (along * sets).sum(axis=2)
    share = excess @ sets.T
    bound = share + quantile * np.sqrt(variance)
    best = np.argmax(np.round(bound, 12), axis=1)  # rounded: ties break alike everywhere
    row = np.arange(len(q))
    inside = sets[best]
    end = dr + 1 - (q * inside).sum(axis=1) - share[row, best]
    return _Path(_direction(excess), along[row, best] / variance[row, best, None], dr, inside, end)


def _direction(excess: Floats) -> Floats:
    up, down = np.clip(excess, 0, None), np.clip(-excess, 0, None)
    over, under = up.sum(axis=1, keepdims=True), down.sum(axis=1, keepdims=True)
    known = (over > 0) & (under > 0)
    any_way = np.zeros(excess.shape[1])
    # Exactly even: no direction is observed, and at DR 0 none matters
    any_way[0], any_way[-1] = 1, -1
    return np.where(
        known, up / np.where(known, over, 1) - down / np.where(known, under, 1), any_way
    )


def _shares(q: Floats, path: _Path, position: Floats, at: Rows) -> Floats:
    """Shares (R, M) at positions (R,) of the paths' rows `at`: never negative, the set's share as
    the path says.
    """
    knot, inside = path.knot[at], path.inside[at]
    raw = q + np.minimum(position, knot)[:, None] * path.first[at]
    raw += np.maximum(position - knot, 0)[:, None] * path.second[at]
    share = np.clip((raw * inside).sum(axis=1, keepdims=True), 0, 1)
    raw = np.clip(raw, 1e-12, None)
    ours, theirs = raw * inside, raw * (1 - inside)
    return ours * (share / ours.sum(axis=1, keepdims=True)) + theirs * (
        (1 - share) / theirs.sum(axis=1, keepdims=True)
    )


def _draw(shares: Floats, q: Floats, factors: Floats, few: Floats, tails: Floats) -> Floats:
    """Plug-in scores (R, B) at the points, where the true shares are these (R, M)."""
    points, _, _ = _points(q.shape[1])
    spread = shares * (1 - shares) + few[:, None]
    factors = factors * spread[:, None, :] ** (GROWTH / 2)
    # The shares' noise sums to 0; what scaling left over is taken from each group by its variance.
    factors -= (
        factors.sum(axis=2, keepdims=True)
        * (spread / spread.sum(axis=1, keepdims=True))[:, None, :]
    )
    drawn = factors.transpose(0, 2, 1) @ points
    drawn *= tails[:, None, :]
    drawn += (shares - q)[:, :, None]
    return np.abs(drawn, out=drawn).sum(axis=1) / 2


def _quantile(drawn: Floats, level: Floats) -> Floats:
    """A quantile of each row, (R,), each at its own level."""
    drawn = np.sort(drawn, axis=1)
    place = np.clip(level * POINTS - 0.5, 0, POINTS - 1)
    below = np.minimum(place.astype(int), POINTS - 2)
    row = np.arange(len(drawn))
    return drawn[row, below] + (place - below) * (drawn[row, below + 1] - drawn[row, below])


def _root(function: Callable[[Floats, Rows], Floats], end: Floats) -> Floats:
    """Where each row of an increasing function meets 0 in [0, end], by secants (Illinois method).

    The nearest end where it does not. The function takes positions and the numbers of their rows. A
    row stands still once it has converged, so that its result does not depend on the other rows.
    """
    every = np.arange(len(end))
    at_end, at_zero = function(end, every), function(np.zeros_like(end), every)
    found = np.where(at_zero >= 0, 0, end)
    rows = every[(at_zero < 0) & (at_end > 0)]
    left, right, below, above = np.zeros(len(rows)), end[rows], at_zero[rows], at_end[rows]
    side = np.zeros(len(rows))
    for step in range(STEPS):
        if not len(rows):
            break
        # Every fourth step halves, for curves on which the secant creeps.
        middle = (
            (left + right) / 2
            if step % 4 == 3
            else (left * above - right * below) / (above - below)
        )
        value = function(middle, rows)
        positive = value > 0
        below = np.where(positive, np.where(side > 0, below / 2, below), value)
        above = np.where(positive, value, np.where(side < 0, above / 2, above))
        left, right = np.where(positive, left, middle), np.where(positive, middle, right)
        side = np.where(positive, 1, -1)
        wide = (np.abs(value) > TOLERANCE) & (right - left > TOLERANCE)
        wide &= np.abs(middle - found[rows]) > TOLERANCE / 10
        found[rows] = middle
        rows, left, right, below, above, side = (
            each[wide] for each in (rows, left, right, below, above, side)
        )
    return found
