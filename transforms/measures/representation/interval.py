"""Confidence interval of the Demographic Representation score by test inversion.

It is computed for many sums at once. DR = 1/2 sum_i |x_i| of the deviations x = p - q is not smooth
where a group meets its target. There the plug-in score is biased upward and the delta method fails.
At DR 0 the plug-in score is never below the truth. So the interval comes from tests: a score t
stays in it unless the observed score lies in a tail of its distribution under shares of score t.

1. Noise. The shares are ratios of sums over documents, so their covariance is that of a ratio
   estimator (Cochran, Sampling Techniques, 3rd ed., section 6.3). It is raised for the residuals'
   shrinkage by leverage (as Bell and McCaffrey 2002 do for clusters). It has Student's tails on the
   effective number of documents, (sum n)^2 / sum n^2 (Kish), less 1.
2. At other shares than the observed ones, each group's noise is scaled by a power of p (1 - p), as
   in Wilson's score interval (where the power is 1/2). So the interval holds near 0 and 1, and is
   not empty where all mentions are of one group.
3. Path. Many shares have score t, and the choice of the tested ones decides the bias. For the lower
   bound, they lie in the observed direction, less what may be noise: groups near their target are
   put on the target, where the bias is greatest. For the upper bound, they are the likeliest
   shares, where the bias is small. A regression of the noise on the over-represented set's share
   gives them.
4. Tails. Near 0 the lower bound gets the whole error. Far from 0 each bound gets half of it, as in
   the likelihood ratio's ordering (Feldman and Cousins 1998). So DR 0 is excluded for about 5 % of
   even streams, not 0 %.

The distribution is taken over a fixed lattice of points, so the same sums give the same interval.
tests/benchmarks/interval_coverage.py prints its coverage. The coverage is furthest from 95 % in two
cases: scores near the greatest possible one, with a rare group in a handful of long documents (92
to 93 %), and 5 groups of which only one has a deviation that is larger than the noise (98 %).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from math import inf
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]

NORMAL = NormalDist()
# Korobov lattice: of 60 generators tried, the one with the least error in the tails
POINTS, GENERATOR = 1021, 71

# The next values, down to RAMP_END, were chosen on the streams that --development of
# tests/benchmarks/interval_coverage.py makes, not on those of its report.

# Weight of a prior with full clustering in the overdispersion, for streams of one group alone
PSEUDO_DOCUMENTS = 0.25
# Power of p (1 - p) that a variance grows with: 1 for words, up to 2 for documents of unequal size
GROWTH = 1.35
# Least variance of each group, in effective mentions, because a rare group's own is badly known
FLOOR = 2.0
FEW = 0.6  # how many of the floor's 2 effective mentions still count at other shares
# For the lower bound, deviations below about 3 standard errors may be noise
NOISE_SCALE, NOISE_POWER = 3.0, 3
# The same for the bias correction, which should lean to neither side
MIDDLE_SCALE, MIDDLE_POWER = 1.0, 4
# Up to here the lower bound has the whole error; in one-sided normal quantiles (2 groups: 1)
RAMP_START = 0.6
RAMP_END = 1.12  # from here on each bound has half of it; in two-sided normal quantiles

# Greatest expected shrinkage of the residuals: above it, its estimate from two moments is useless
MAX_LEVERAGE = 0.5
ROWS = 64  # streams at once, so that their draws fit in a core's cache
STEPS = 64  # most steps of the root search, which ends earlier where every row has converged
TOLERANCE = 1e-8  # error of a root, in DR: well below the sixth digit that is reported


@dataclass(frozen=True)
class Intervals:
    """Scores with their intervals, for R streams; low <= dr <= high.

    `dr`: Plug-in scores (R,). `corrected`: Scores (R,) corrected for their bias. `low`: Lower
    bounds (R,). `high`: Upper bounds (R,).
    """

    dr: Floats
    corrected: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class _Noise:
    """The noise of the shares of R streams.

    `deviation`: Standard deviations (R, M) at the observed shares. `tails`: What the B points are
    multiplied by (R, B).

    `covariance`: Covariance (R, M, M) at the observed shares. `few`: What is added to p (1 - p) at
    other shares (R,).
    """

    covariance: Floats
    deviation: Floats
    factors: Floats
    few: Floats
    tails: Floats


@dataclass(frozen=True)
class _Path:
    """Shares by a position r >= 0: target + min(r, knot) first + max(r - knot, 0) second.

    `first`: Direction (R, M) up to the knot. `second`: Direction (R, M) beyond the knot. `knot`:
    Position (R,) where the direction changes. `inside`: 1 for each group (R, M) of the set whose
    total share follows the path even where other groups meet 0; else 0. `end`: Last position (R,).
    """

    first: Floats
    second: Floats
    knot: Floats
    inside: Floats
    end: Floats


@lru_cache(maxsize=32)
def _points(groups: int) -> tuple[Floats, Floats, Floats]:
    """Make normal points (M - 1, B), their contrasts (M - 1, M), and points for the scale (B,).

    They are returned as (points, points for the scale, contrasts).
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
    """Compute scores with their intervals, for R streams and M groups.

    `documents`: Numbers of documents with a mention (R,), at least 2 each. `counts`: Sums of
    mentions (R, M), at least one mention in each stream. `products`: Sums over documents of c_d
    c_d^T (R, M, M). `target`: The target's shares (M,), which sum to 1.
    """
    parts = [
        _intervals(documents[some], counts[some], products[some], target, confidence)
        for some in (slice(at, at + ROWS) for at in range(0, len(documents), ROWS))
    ]
    columns = ([getattr(part, each.name) for part in parts] for each in fields(Intervals))
    return Intervals(*map(np.concatenate, columns))


def _intervals(
    documents: Floats, counts: Floats, products: Floats, target: Floats, confidence: float
) -> Intervals:
    """Compute the intervals of at most ROWS streams."""
    groups = counts.shape[1]
    excess = counts / counts.sum(axis=1, keepdims=True) - target
    own = np.diagonal(products, axis1=1, axis2=2)
    # Sorted, so that the order in which groups are listed does not matter
    order = np.lexsort((own, counts, -excess), axis=1)
    counts, excess = np.take_along_axis(counts, order, 1), np.take_along_axis(excess, order, 1)
    row = np.arange(len(order))[:, None, None]
    products = products[row, order[:, :, None], order[:, None, :]]
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
    columns = ([getattr(path, each.name) for path in paths] for each in fields(_Path))
    every = [*map(np.concatenate, columns)]

    def surplus(at: Rows) -> Callable[[Floats], Floats]:
        """How far the score's quantile or mean lies above the observed score, in the rows `at`.

        The quantile is for the bounds, the mean for the correction.
        """
        source, low, is_up, middle = at % rows, at < rows, at // rows == 1, at >= 2 * rows
        path = _Path(*(column[at] for column in every))
        known, observed, few = q[source], dr[source], noise.few[source]
        factors = noise.factors[source]
        tails = np.where(middle[:, None], 1, noise.tails[source])

        def value(position: Floats) -> Floats:
            shares = _shares(known, path, position)
            drawn = _draw(shares, known, factors, few, tails)
            score = np.abs(shares - known).sum(axis=1) / 2
            apart = drawn - _mean(drawn)[:, None]
            deviation = np.sqrt(_mean(apart * apart))
            ramp = (score / np.maximum(deviation, 1e-12) - start) / (end - start)
            tail = error / 2 * np.minimum(np.maximum(ramp, 0), 1)
            found = _quantile(drawn, np.where(low, 1 - error + tail, tail))
            if middle.any():
                found = np.where(middle, _mean(np.minimum(drawn, most)), found)
            return np.where(is_up & (tail == 0), -1.0, found - observed)

        return value

    low, up, corrected = _root(surplus, every[-1]).reshape(3, -1)
    high = np.abs(_shares(q, paths[1], up) - q).sum(axis=1) / 2
    return Intervals(dr, np.minimum(corrected, dr), np.minimum(low, dr), np.maximum(high, dr))


def _noise(documents: Floats, counts: Floats, products: Floats) -> _Noise:
    """Estimate the noise of the shares."""
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
    # Overdispersion over all groups: Var(p_i) is about phi p_i (1 - p_i). The prior decides where
    # all mentions are of one group and the ratio would be 0/0.
    weight = PSEUDO_DOCUMENTS / documents
    phi = (
        (np.trace(spread, axis1=1, axis2=2) + weight * squares)
        / mentions**2
        / (1 - (p**2).sum(axis=1) + weight)
    )
    # Shrinkage of the squared residuals, under Var(r_d) ~ n_d (1 + (n_d - 1) rho), with the third
    # moment of a lognormal.
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
    # The symmetric root does not depend on the signs of the eigenvectors, which a library is free
    # to choose
    root = (vectors * np.sqrt(np.clip(values, 0, None))[:, None, :]) @ vectors.transpose(0, 2, 1)
    _, scale, contrasts = _points(groups)
    factors = contrasts @ root / (p * (1 - p) + FLOOR * phi[:, None])[:, None, :] ** (GROWTH / 2)
    # sqrt(df / chi^2) by Wilson and Hilferty's cube
    step = 2 / (9 * np.maximum((kish - 1) * np.sqrt(groups - 1), 1))[:, None]
    tails = np.maximum(1 - step + scale * np.sqrt(step), 0.05) ** -1.5
    deviation = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    return _Noise(covariance, deviation, factors, FEW * phi * raised, tails)


def _down(q: Floats, excess: Floats, dr: Floats, noise: _Noise, scale: float, power: int) -> _Path:
    """Make the path in the observed direction, less what may be noise.

    Each side of the direction sums to 1, so the position is the DR.
    """
    surprise = np.abs(excess / noise.deviation) ** power
    kept = excess * (surprise / (surprise + scale**power))
    first = _direction(kept)
    inside = (first > 0).astype(float)
    # The path stops just short of the end: where all mentions are of one group there is no noise,
    # and the search would stop there
    end = np.minimum(dr, 1 - (q * inside).sum(axis=1)) * (1 - 1e-9)
    return _Path(first, first, dr, inside, end)


def _up(q: Floats, excess: Floats, dr: Floats, noise: _Noise, quantile: float) -> _Path:
    """Make the path to the observed shares, and then along a regression.

    The regression is that of the noise on the set of groups with the highest bound.
    """
    groups = q.shape[1]
    # The groups are in descending order of their excess, so the sets are nested
    sets = np.tri(groups - 1, groups)
    along = sets @ noise.covariance  # (R, M - 1, M)
    variance = (along * sets).sum(axis=2)
    share = excess @ sets.T
    bound = share + quantile * np.sqrt(variance)
    best = np.argmax(np.round(bound, 12), axis=1)  # rounded, so that all machines break ties alike
    row = np.arange(len(q))
    inside = sets[best]
    end = dr + 1 - (q * inside).sum(axis=1) - share[row, best]
    return _Path(_direction(excess), along[row, best] / variance[row, best, None], dr, inside, end)


def _direction(excess: Floats) -> Floats:
    """Scale deviations so that each side sums to 1."""
    up, down = np.clip(excess, 0, None), np.clip(-excess, 0, None)
    over, under = up.sum(axis=1, keepdims=True), down.sum(axis=1, keepdims=True)
    known = (over > 0) & (under > 0)
    any_way = np.zeros(excess.shape[1])
    # Where the shares are exactly even no direction is observed, and at DR 0 none matters
    any_way[0], any_way[-1] = 1, -1
    return np.where(
        known, up / np.where(known, over, 1) - down / np.where(known, under, 1), any_way
    )


def _shares(q: Floats, path: _Path, position: Floats) -> Floats:
    """Find the shares (R, M) at positions (R,) of paths.

    They are never negative, and the set's share is as the path says.
    """
    knot, inside = path.knot, path.inside
    raw = q + np.minimum(position, knot)[:, None] * path.first
    raw += np.maximum(position - knot, 0)[:, None] * path.second
    share = np.minimum(np.maximum((raw * inside).sum(axis=1, keepdims=True), 0), 1)
    raw = np.maximum(raw, 1e-12)
    ours, theirs = raw * inside, raw * (1 - inside)
    return ours * (share / ours.sum(axis=1, keepdims=True)) + theirs * (
        (1 - share) / theirs.sum(axis=1, keepdims=True)
    )


def _draw(shares: Floats, q: Floats, factors: Floats, few: Floats, tails: Floats) -> Floats:
    """Draw plug-in scores (R, B) at the points, where these are the true shares (R, M)."""
    points, _, _ = _points(q.shape[1])
    spread = shares * (1 - shares) + few[:, None]
    factors = factors * spread[:, None, :] ** (GROWTH / 2)
    # The shares' noise must sum to 0; what scaling left over is taken from each group in proportion
    # to its variance
    factors -= (
        factors.sum(axis=2, keepdims=True)
        * (spread / spread.sum(axis=1, keepdims=True))[:, None, :]
    )
    drawn = factors.transpose(0, 2, 1) @ points
    drawn *= tails[:, None, :]
    drawn += (shares - q)[:, :, None]
    return np.abs(drawn, out=drawn).sum(axis=1) / 2


def _quantile(drawn: Floats, level: Floats) -> Floats:
    """Find a quantile of each row, (R,), each at its own level."""
    drawn = np.sort(drawn, axis=1)
    place = np.clip(level * POINTS - 0.5, 0, POINTS - 1)
    below = np.minimum(place.astype(int), POINTS - 2)
    row = np.arange(len(drawn))
    return drawn[row, below] + (place - below) * (drawn[row, below + 1] - drawn[row, below])


def _mean(drawn: Floats) -> Floats:
    """Mean of each row, (R,)."""
    return drawn.sum(axis=1) / POINTS


def _root(at: Callable[[Rows], Callable[[Floats], Floats]], end: Floats) -> Floats:
    """Find where each row of an increasing function meets 0 in [0, end], by secants.

    This is the Illinois method. Where a secant neither halves the interval nor brings the value
    near to 0, as at a jump, the next step halves it: so the root is within TOLERANCE of where the
    sign changes. The result is the nearest end where a row does not meet 0. `at` returns the
    function of some rows. A row stands still once it has converged, so its result does not depend
    on the other rows.
    """
    every = np.arange(len(end))
    at_ends = at(np.append(every, every))
    at_zero, at_end = at_ends(np.append(np.zeros_like(end), end)).reshape(2, -1)
    found = np.where(at_zero >= 0, 0, end)
    rows = every[(at_zero < 0) & (at_end > 0)].tolist()
    # Of each row: the bracket, the values there, the last side, if it is slow, the last distance
    brackets = zip(end[rows].tolist(), at_zero[rows].tolist(), at_end[rows].tolist(), strict=True)
    states = [(0.0, right, below, above, 0, False, inf) for right, below, above in brackets]
    function, searched = at_ends, len(rows) + 1
    for _ in range(STEPS):
        if not rows:
            break
        if len(rows) < searched:
            function, searched = at(np.array(rows)), len(rows)
        middles = [
            (left + right) / 2 if slow else (left * above - right * below) / (above - below)
            for left, right, below, above, _, slow, _ in states
        ]
        values = function(np.array(middles)).tolist()
        found[rows] = middles
        steps, rows, states = zip(rows, middles, values, states, strict=True), [], []
        for row, middle, value, (left, right, below, above, side, _, last) in steps:
            wide, size = right - left, abs(value)
            if value > 0:
                right, above, below, side = middle, value, below / 2 if side > 0 else below, 1
            else:
                left, below, above, side = middle, value, above / 2 if side < 0 else above, -1
            slow = right - left > wide / 2 and size > last / 4
            if size > TOLERANCE and right - left > TOLERANCE:
                rows.append(row)
                states.append((left, right, below, above, side, slow, size))
    return found
