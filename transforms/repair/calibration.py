"""One weight a document for all attributes together, by calibration (Deville and Sarndal 1992).

Documents with the same profile have the same weight, so the cost depends on profiles. Profile k has
the share s_k of the documents. C_ak (M_a,) are its mentions of attribute a and q_a the target. B_a
are the weighted mentions that were accepted before. With n_a(w) = B_a + sum_k w_k C_ak and N_a(w)
its sum,

    minimise    sum_k s_k G(w_k) + PRICE sum_a DR_a(w),
                DR_a(w) = 1/2 sum_i |n_ai(w) - q_ai N_a(w)| / N_a(w)
    subject to  1 / limit <= w_k <= limit,   sum_k s_k w_k = 1,
                low_j <= sum_k w_k F_jk <= high_j   for what must stay.

G is the distance from 1: relative entropy, w ln w - w + 1 (raking), or chi2, (w - 1)^2 / 2 (linear
calibration). An L1 penalty is exact: a target that can be met is met. What cannot be met gets the
least sum of DR first: DR exceeds it by G / PRICE at most, below 0.001 for a limit of 4. N_a stands
under the fraction, so the program is solved again at the last DR and N_a until it stays (Dinkelbach
1967). A lower price is a larger effective sample at a higher DR. If the effective sample is below
the floor, the price falls until it is not. There G is chi2 whatever is asked for: the effective
sample is one over 1 + sum_k s_k (w_k - 1)^2, so chi2 alone gives the least sum of DR at a floor.

`least_dr` finds the least DR of one attribute alone, with a proof: by weak duality, multipliers
give a bound that holds for every choice of weights, however they were found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evenflow.transforms.repair.interior import Floats, QuadraticProgram, Solution, solve

Distance = Literal["entropy", "chi2"]

PRICE = 1000.0  # of a DR of 1, in units of the distance
SAME = 1e-6  # change of DR at which it stays
ROUGHLY = 2e-4  # the same while the price is searched
ROUNDS = 12  # most programs for one price
PRICES = 20  # most prices that are tried, until the effective sample is at its floor
SPAN = 14.0  # of their logarithm: at PRICE / e^14, 0.001, weights hardly move
NEAR = 0.002  # how far above its floor the effective sample may be
WIDER = 1.5  # times the limit: what a reader is told that a greater limit would lead to
DIGITS = 6  # decimals of a weight
# Decimals of the solver's multipliers. It stops within TOLERANCE * PRICE of them, 1e-6, and what is
# left differs between processors.
SOLVED = 4
MET = 5e-4  # DR up to which a target counts as met: it rounds to 0.000


class CalibrationError(ValueError):
    """What must stay cannot all stay; the message names it."""


@dataclass(frozen=True)
class Aim:
    """An attribute whose target is asked for.

    Attributes:
        counts: Sum of the mentions of each profile's documents, (K, M).
        target: Target shares, (M,).
        before: Weighted mentions that were accepted before, (M,).
    """

    name: str
    counts: Floats
    target: Floats
    before: Floats

    def after(self, weights: Floats) -> Floats:
        """The weighted mentions (M,), with those before."""
        return self.before + np.einsum("k,km->m", weights, self.counts)

    def dr(self, weights: Floats) -> float | None:
        """DR of the weighted mentions; None without mentions."""
        after = self.after(weights)
        total = after.sum()
        return float(np.abs(after / total - self.target).sum() / 2) if total > 0 else None


@dataclass(frozen=True)
class Keep:
    """A total that must stay.

    `amounts`: The total of each profile, (K,).
    """

    name: str
    amounts: Floats
    low: float
    high: float
    known: bool = False


@dataclass(frozen=True)
class WeightedTotal:
    """A total under the weights."""

    name: str
    low: float
    value: float
    high: float
    price: float


@dataclass(frozen=True)
class Met:
    """An attribute under the weights.

    `multipliers`: Of the groups, (M,): how much a mention of each raises ln w (entropy) or w.
    """

    name: str
    before: float | None
    after: float | None
    least: float | None
    proven: float
    wider: float | None
    multipliers: tuple[float, ...]


@dataclass(frozen=True)
class ProfileWeights:
    """Weights of profiles, and what they lead to.

    `weights`: The weight of each profile, (K,).
    """

    weights: Floats
    effective: float
    aims: tuple[Met, ...]
    kept: tuple[WeightedTotal, ...]
    price: float
    limit_price: float
    distance: Distance


@dataclass(frozen=True)
class Calibrator:
    """A calibration of K profiles.

    Attributes:
        documents: Number of documents of each profile, (K,), at least 1 each.
        limit: The greatest weight, at least 1; the least is 1 / limit.
        least_effective: Floor of the effective sample, as a share of the documents.
        distance: How far weights are from 1, where the floor does not bind.
    """

    documents: Floats
    aims: Sequence[Aim]
    keeps: Sequence[Keep]
    limit: float = 4.0
    least_effective: float = 0.0
    distance: Distance = "entropy"

    def calibrate(self) -> ProfileWeights:
        """Find the weights.

        Returns:
            The weights and what they lead to.

        Raises:
            CalibrationError: What must stay cannot all stay.
        """
        ones = np.ones(len(self.documents))
        aims = [each for each in self.aims if each.dr(ones) is not None]
        self._check_keeps()
        found = self._priced(PRICE, aims)
        if found.effective < self.least_effective:
            own = replace(self, distance="chi2")
            found = own._priced(PRICE, aims)
            if found.effective < self.least_effective:
                found = own._cheaper(found, aims)
        mean = float((self.documents * found.weights).sum()) / max(self.documents.sum(), 1)
        if len(found.weights) and (
            abs(mean - 1) > ROUGHLY or not all(_within(each, found.weights) for each in self.keeps)
        ):
            raise CalibrationError(
                "the search for weights that keep what must stay did not end; ask for less"
            )
        return replace(found, aims=tuple(self._with_least(each) for each in found.aims))

    def _cheaper(self, dear: ProfileWeights, aims: Sequence[Aim]) -> ProfileWeights:
        """The calibration for the price at which the effective sample is at its floor.

        The price is searched by its logarithm, by secants that keep the floor between their ends.
        """
        floor, ones = self.least_effective, np.ones(len(self.documents))
        found = self._result(0.0, aims, ones, None)
        low, high = math.log(PRICE) - SPAN, math.log(PRICE)
        over, under = found.effective - floor, dear.effective - floor
        nearest = dear
        for step in range(PRICES):
            part = 0.5 if step % 3 == 2 else min(max(over / (over - under), 0.05), 0.95)
            middle = low + part * (high - low)
            tried = self._priced(math.exp(middle), aims, nearest.weights)
            nearest = tried
            if tried.effective < floor:
                high, under = middle, tried.effective - floor
            else:
                low, over, found = middle, tried.effective - floor, tried
                if over < NEAR:
                    break
        return found

    def least_dr(self, name: str, limit: float | None = None) -> tuple[float, float]:
        """Find the least DR of one attribute alone."""
        own = self if limit is None else replace(self, limit=limit)
        [aim] = [each for each in self.aims if each.name == name]
        weights, _, lower = own._weights(math.inf, [aim])
        return aim.dr(weights) or 0.0, lower

    def _check_keeps(self) -> None:
        """Refuse totals that cannot all stay, with the names of those in conflict."""
        sums = [(each, each.amounts.sum()) for each in self.keeps]
        missed = [each.name for each, total in sums if not each.low <= total <= each.high]
        if not missed:
            return  # weights of 1 keep them
        if self.limit == 1:
            raise CalibrationError(
                f"with a weight limit of 1 no weight may change, so {missed[0]} stays outside its"
                " bounds; raise repair.weight_limit"
            )
        weights, solution = self._solved(0.0, [], {}, elastic=True)
        if any(not _within(each, weights) for each in self.keeps):
            bound = np.abs(solution.multipliers[1:])
            pulled = zip(self.keeps, bound, strict=True)
            names = [each.name for each, y in pulled if y > bound.max() / 100]
            raise CalibrationError(
                f"no weights from {1 / self.limit:.3g} to {self.limit:.3g} can keep"
                f" {' and '.join(names)}; ask for less, or raise repair.weight_limit"
            )

    def _priced(
        self, price: float, aims: Sequence[Aim], near: Floats | None = None
    ) -> ProfileWeights:
        """The calibration for a price; it is found sooner from weights that are near."""
        weights, solution, _ = self._weights(price, aims, near)
        return self._result(price, aims, weights, solution)

    def _weights(
        self, price: float, aims: Sequence[Aim], near: Floats | None = None
    ) -> tuple[Floats, Solution | None, float]:
        """The weights for a price (inf: of the least DR, whatever the distance).

        Returns the weights (K,), the last program's solution, and for a price of inf and one
        attribute a lower bound of its DR.
        """
        weights = np.ones(len(self.documents)) if near is None else near
        solution, lower = None, max([each.dr(weights) or 0.0 for each in aims], default=0.0)
        met = near is None and lower <= SAME  # weights of 1 are nearest
        if self.limit == 1 or not aims or not len(weights) or met:
            return weights, solution, lower
        at = {each.name: (each.dr(weights) or 0.0, each.after(weights).sum()) for each in aims}
        for _ in range(ROUNDS if near is None else ROUNDS // 4):
            weights, solution = self._solved(price, aims, at)
            now = {each.name: (each.dr(weights) or 0.0, each.after(weights).sum()) for each in aims}
            if math.isinf(price):
                lower = self._proven(aims[0], at[aims[0].name], solution)
            moved = max(abs(now[name][0] - at[name][0]) for name in at)
            at = now
            if moved < (SAME if near is None else ROUGHLY):
                break
        return weights, solution, lower

    def _solved(
        self,
        price: float,
        aims: Sequence[Aim],
        at: Mapping[str, tuple[float, float]],
        elastic: bool = False,
    ) -> tuple[Floats, Solution]:
        """Solve the program at the DR and the mentions of the last one.

        The unknowns are the weights; the parts of the totals above their least; and by how much
        groups are over and under their target, in DR. The rows are all documents, the totals, and
        the groups. If elastic, totals may be missed at a price, and nothing else counts.
        """
        share, k = self.documents / self.documents.sum(), len(self.documents)
        rows, values, slacks = [share], [1.0], [0.0]
        for each in self.keeps:
            scale = _scale(each)
            rows.append(each.amounts / scale)
            values.append(each.low / scale)
            slacks.append((each.high - each.low) / scale)
        drift = np.zeros(k)  # what weights cost by the mentions that they take away
        for each in aims:
            dr, mentions = at[each.name]
            totals = each.counts.sum(axis=1)
            rows += list((each.counts - totals[:, None] * each.target).T / mentions)
            values += ((each.before.sum() * each.target - each.before) / mentions).tolist()
            drift += dr * totals / mentions
        fixed = 1 + len(self.keeps)
        free = np.array([at for at, width in enumerate(slacks) if width > 1e-12], int)
        split = np.arange(1 if elastic else fixed, len(rows))
        unit, pulls = np.eye(len(rows)), math.isfinite(price) and not elastic
        bought = price if pulls else 1.0
        matrix = np.hstack([np.stack(rows), -unit[:, free], -unit[:, split], unit[:, split]])
        bounds = np.ones(len(free)), np.full(2 * len(split), np.inf)
        high = np.concatenate([np.full(k, self.limit), np.array(slacks)[free], bounds[1]])
        low = np.concatenate([np.full(k, 1 / self.limit), np.zeros(len(high) - k)])
        size = np.concatenate([share, np.full(len(high) - k, 1 / len(rows))])
        constant = np.concatenate(
            [-bought * drift, np.zeros(len(free)), np.full(2 * len(split), bought / 2)]
        )

        def cost(x: Floats) -> tuple[Floats, Floats]:
            first, second = constant.copy(), np.zeros_like(x)
            if pulls:
                w = x[:k]
                entropy = self.distance == "entropy"
                first[:k] += share * (np.log(w) if entropy else w - 1)
                second[:k] = share / w if entropy else share
            return first, second

        start = np.concatenate(
            [np.ones(k), np.minimum(np.array(slacks)[free] / 2, 1), np.full(2 * len(split), 0.1)]
        )
        solution = solve(QuadraticProgram(matrix, np.array(values), low, high, size), cost, start)
        return solution.x[:k], solution

    def _proven(self, aim: Aim, at: tuple[float, float], solution: Solution) -> float:
        """A bound that DR cannot fall below, by weak duality.

        For DR >= D it is enough that sum_i |..| / 2 - D N >= 0 for all weights. Multipliers y,
        those of the groups within [-1/2, 1/2] and those of totals of either sign, bound it from
        below by sum_k min over w_k of (cost_k - y . row_k) w_k, plus y . values.
        """
        dr, mentions = at
        share, y = self.documents / self.documents.sum(), solution.multipliers
        own = np.clip(y[len(self.keeps) + 1 :], -0.5, 0.5)
        totals = aim.counts.sum(axis=1)
        z = (aim.counts - totals[:, None] * aim.target) / mentions
        left = -dr * totals / mentions - z @ own - share * y[0]
        bound = y[0] + own @ (aim.before.sum() * aim.target - aim.before) / mentions
        for each, multiplier in zip(self.keeps, y[1:], strict=False):
            scale = _scale(each)
            if multiplier < 0 and math.isinf(each.high):
                continue
            left -= multiplier * each.amounts / scale
            bound += multiplier * (each.low if multiplier > 0 else each.high) / scale
        bound += np.minimum(left / self.limit, left * self.limit).sum()
        bound -= dr * aim.before.sum() / mentions
        fewest = (aim.before.sum() + totals.sum() / self.limit) / mentions
        return max(0.0, float(dr + min(0.0, bound) / fewest))

    def _result(
        self, price: float, aims: Sequence[Aim], weights: Floats, solution: Solution | None
    ) -> ProfileWeights:
        """Describe weights."""
        share, k = self.documents / max(self.documents.sum(), 1), len(self.documents)
        weights = np.round(weights, DIGITS)
        ones, met, kept = np.ones(k), [], []
        asked = {each.name for each in aims}
        y = np.zeros(0) if solution is None else np.round(solution.multipliers, SOLVED)
        row = 1 + len(self.keeps)
        for each in self.aims:
            own = (0.0,) * len(each.target)
            if solution is not None and each.name in asked:
                mentions = each.after(weights).sum()
                own = tuple((y[row : row + len(own)] / mentions).tolist())
                row += len(own)
            after = each.dr(weights)
            met.append(Met(each.name, each.dr(ones), after, after, 0.0, None, own))
        for place, each in enumerate(self.keeps):
            whole = abs(each.amounts).sum() or 1.0
            price_of = float(abs(y[1 + place])) / price * 0.01 if len(y) and price else 0.0
            low, found, high = (
                float(x / whole) for x in (each.low, each.amounts @ weights, each.high)
            )
            kept.append(WeightedTotal(each.name, low, found, high, price_of))
        total = float(share @ weights)
        squares = float(share @ weights**2)
        gain = 0.0
        if solution is not None and price:
            gain = (solution.above[:k].sum() + solution.below[:k].sum() / self.limit**2) / price
        return ProfileWeights(
            weights,
            min(1.0, total**2 / squares) if squares else 1.0,
            tuple(met),
            tuple(kept),
            price,
            gain,
            self.distance,
        )

    def _with_least(self, met: Met) -> Met:
        """The least DR of an attribute alone, if its target is not met."""
        if met.after is None or met.after <= MET:
            return replace(met, least=None if met.after is None else 0.0)
        least, proven = self.least_dr(met.name)
        wider, _ = self.least_dr(met.name, self.limit * WIDER)
        return replace(met, least=least, proven=proven, wider=wider)


def _scale(keep: Keep) -> float:
    """What a total's row is divided by, so that its numbers are about 1."""
    return max(float(np.abs(keep.amounts).sum()), abs(keep.low), 1e-9)


def _within(keep: Keep, weights: Floats) -> bool:
    """Whether weights keep a total, less rounding."""
    rounding = 1e-5 * _scale(keep)
    return keep.low - rounding <= float(keep.amounts @ weights) <= keep.high + rounding
