"""The noise of weighted mentions, by linearisation of the calibration (Deville and Särndal 1992).

Weights are computed from the documents that they weigh: were other documents drawn, the weights
would be others too, and take back a part of the change. Weights are a function of multipliers,
which solve equations sum_d m_d(w_d) = 0: the mean weight is 1, a total that touches its bound stays
there, a target that can be met is met, the effective sample is at its floor. So the weighted
mentions change with the documents as the sum of

    w_d c_d - B m_d,   B = [sum_d w'_d c_d h_d^T] [sum_d w'_d (dm_d / dw) h_d^T]^-1

does, where h_d is what the multipliers are multiplied by, and w' the derivative of the weight, 0
where it is at its bound. These are the residuals of a regression on what was calibrated to (their
section 3, the function F' of the distance in place of the design weights). A document's weight
depends on its profile, so B does too. Only what is meant by shares is linearised: documents keep
their sizes.

A target that is met may be out of the floor's reach in another sample. On the way from weights of 1
the mean Q of (w - 1)^2 grows as the square of what DR falls, so the floor would let DR fall by a
further DR_1 (sqrt(Q_floor / Q) - 1), where DR_1 is that of weights of 1. Where this is less than
REACH standard errors of weights that the floor holds, the terms are those of such weights, scaled
so that the upper bound is the difference.

A pane with few documents inside their bounds cannot say what B is; there B is 0, as though the
weights were known. Of several panes the noise is too great rather than too small: what a later
pane takes back of an earlier one's is not known here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from evenflow.transforms.measures.representation.interval import RAMP_START
from evenflow.transforms.repair.calibration import (
    MET,
    PRICE,
    Aim,
    Calibrator,
    Floats,
    ProfileWeights,
)
from evenflow.transforms.repair.profiles import AnyInts, Ints

AT_BOUND = 1e-5  # how near a weight or a total is to its bound where it counts as being there
SINGULAR = 1e-8  # part of the greatest singular value below which equations say nothing
# Documents inside their bounds for each equation; with fewer, B says more of them than of others
ENOUGH = 5
# Standard errors within which a met target may be out of reach, and those of the upper bound where
# DR of two groups is 0 (see `representation.interval`)
REACH, UPPER = 2.3, 1.645
AT_ONCE = 65_536  # documents, for memory


class Linearised:
    """A calibration whose weighted mentions are linear in the documents.

    There are K profiles and R equations; those of the targets come last.

    Args:
        holds: Whether the floor is meant to hold every target, although it holds none.
    """

    def __init__(self, one: Calibrator, found: ProfileWeights, holds: bool = False):
        """Set up the equations that the weights solve."""
        w, s = found.weights, one.documents
        spent = 1 / found.effective - 1
        self._held = None
        if not holds and found.price == PRICE and one.least_effective and spent > 0:
            self._held = Linearised(one, found, holds=True)
            self._further = math.sqrt((1 / one.least_effective - 1) / spent) - 1
        self._away = {  # how far groups are from their target
            each.name: after / max(after.sum(), 1e-300) - each.target
            for each in one.aims
            for after in [each.after(w**0 if holds else w)]
        }
        count, self._weights, self._documents = max(s.sum(), 1.0), w, s
        inside = (w > 1 / one.limit + AT_BOUND) & (w < one.limit - AT_BOUND)
        self._steep = np.where(inside, w if found.distance == "entropy" else 1.0, 0.0)
        self._means = {each.name: each.counts / s[:, None] for each in one.aims}
        unit = np.ones_like(w)
        steps, slopes, misses = [unit], [unit], [w - 1]
        for each in one.keeps:
            value, room = float(each.amounts @ w), AT_BOUND * max(np.abs(each.amounts).sum(), 1.0)
            for bound in (each.low, each.high):
                if abs(value - bound) <= room:
                    own = each.amounts / s
                    base = 0.0 if each.known else own
                    moved = bound if each.known else bound - each.amounts.sum()
                    steps, slopes = [*steps, own], [*slopes, own]
                    misses.append(w * own - base - moved / count)
                    break
        self._after = {each.name: each.after(w) for each in one.aims}
        if holds or found.price < PRICE:  # the floor chooses the price
            steps.append(sum((self._pull(each) for each in one.aims), np.zeros_like(w)))
            slopes.append(2 * w)
            misses.append(w**2 - float(s @ w**2) / count)
        self._misses = np.stack(misses)
        self._met: list[tuple[str, Floats]] = []  # of a met target, row by row
        for each in () if holds else one.aims:
            if self._after[each.name].sum() > 0 and (each.dr(w) or 0.0) <= MET:
                for i, share in enumerate(each.target[:-1]):
                    unlike = np.eye(len(each.target))[i] - share
                    self._met.append((each.name, unlike))
                    steps.append(self._means[each.name] @ unlike)
                    slopes.append(steps[-1])
        self._steps = np.stack(steps)
        lengths = np.sqrt(np.einsum("rk,rk,k->r", self._steps, self._steps, s))
        self._steps = self._steps / np.maximum(lengths, 1e-300)[:, None]
        scale = np.sqrt(np.einsum("rk,rk,k->r", np.stack(slopes), np.stack(slopes), s))
        self._scale = np.maximum(scale, 1e-300)
        equations = np.einsum("rk,tk,k->rt", np.stack(slopes), self._steps, s * self._steep)
        self._solved = np.linalg.pinv(equations / self._scale[:, None], SINGULAR) / self._scale
        if s[inside].sum() < ENOUGH * len(equations):
            self._solved[:] = 0

    def _pull(self, aim: Aim) -> Floats:
        """How DR falls with the weight of a profile's document, (K,)."""
        after, counts = self._after[aim.name], self._means[aim.name]
        if not after.sum():
            return np.zeros(len(counts))
        away = self._away[aim.name]
        sign = np.where(np.abs(away) <= MET, 0.0, np.sign(away))
        size, left = counts.sum(axis=1), np.abs(after / after.sum() - aim.target).sum() / 2
        return ((counts - size[:, None] * aim.target) @ sign / 2 - size * left) / after.sum()

    def _taken(self, totals: AnyInts, name: str, before: Floats) -> tuple[Floats, Floats]:
        """What the calibration takes back of an attribute's mentions.

        `totals`: The mentions of each profile, (M, K). Returns what it takes back of a document of
        each profile, (K, M), and by how much of each row of a met target, (M, R).
        """
        b = np.einsum("mk,rk,k->mr", totals, self._steps, self._steep) @ self._solved
        after = before + np.einsum("mk,k->m", totals, self._weights)
        b -= np.outer(after / max(after.sum(), 1e-300), b.sum(axis=0))
        taken, met = (b[:, : len(self._misses)] @ self._misses).T, b[:, len(self._misses) :]
        if self._held is None or name not in (own for own, _ in self._met):
            return taken, met
        held, away = self._held._taken(totals, name, before)[0], self._held._away[name]
        noise = self._means[name] * self._weights[:, None] - held
        noise = (noise - np.outer(noise.sum(axis=1), after / after.sum())) @ np.sign(away)
        error = float(np.sqrt(self._documents @ noise**2)) / 2 / after.sum()
        short = REACH - self._further * np.abs(away).sum() / 2 / max(error, 1e-300)
        part = max(0.0, short) / (UPPER * (1.0 if len(away) == 2 else RAMP_START))
        return (1 - part) * taken + part * held, (1 - part) * met

    def terms(
        self,
        of: Ints,
        counts: Mapping[str, Sequence[AnyInts]],
        name: str,
        before: Floats,
        times: Floats,
    ) -> Iterator[Floats]:
        """Compute the linear term of each document's weighted mentions.

        `of`: The documents' profiles, (D,). `counts`: Mentions of each group, (D,) each, by
        attribute. `before`: Its weighted mentions that were accepted before, (M,). `times`: How
        often each document counts, (D,): its weight, or a drawn number. Yields the terms of AT_ONCE
        documents, (D, M). Their sums over the groups are the documents' weighted mentions.
        """
        totals = np.stack([np.bincount(of, own, len(self._weights)) for own in counts[name]])
        by_profile, b = self._taken(totals, name, before)
        for start in range(0, len(of), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            here = of[part]
            own = np.stack([each[part] for each in counts[name]], 1)
            own = own * times[part, None] - by_profile[here]
            for at, (met, unlike) in enumerate(self._met):
                z = sum(each[part] * share for each, share in zip(counts[met], unlike, strict=True))
                own -= np.outer(z * self._weights[here], b[:, at])
            yield own
