"""Weights of documents whose weighted counts meet a target (mode reweight, see `plan`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from evenflow.transforms.repair.least_dr import (
    DIGITS,
    TOLERANCE,
    Expected,
    Floats,
    check,
    dr_of,
    expected,
    fewest_changes,
)

Ints = npt.NDArray[np.int64]
Profile = tuple[int, ...]

# Steps of a share in a profile: 17 profiles for 2 groups, 1231 at most for 5, so a small program
EIGHTHS = 8
# Greatest weight, and the inverse of the least: a document that is read four times a pass is not
# learnt by heart
LIMIT = 4.0
RAKED = 1e-8  # DR up to which weights meet the target
STEPS = 200  # most steps of Newton's method: it does not converge if the target cannot be met


@dataclass(frozen=True)
class Weights:
    """Weights by profile of a document.

    Attributes:
        expected: Counts and DR before and after.
        weights: The weight of each profile; profiles of weight 1 are left out.
    """

    expected: Expected
    weights: Mapping[Profile, float]

    def of(self, counts: Ints) -> list[float]:
        """The weights (D,) of documents with these mentions (D, M)."""
        return [self.weights.get(tuple(each), 1.0) for each in profiles(counts).tolist()]


def profiles(counts: Ints) -> Ints:
    """The profiles of documents, on which their weights depend.

    Args:
        counts: The documents' mentions, (D, M).

    Returns:
        The groups' shares in eighths, rounded down, (D, M); all -1 without mentions.
    """
    totals = counts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, EIGHTHS * counts // np.maximum(totals, 1), -1)


def reweight(
    target: Sequence[float] | None,
    groups: int,
    documents: Mapping[Profile, Sequence[int]],
    limit: float = LIMIT,
) -> Weights:
    """Find the weights nearest 1 that lead to the least weighted DR.

    C_k (M,) is the sum of the counts of profile k, n_k its mentions. If the target can be met, the
    weights are the nearest to 1 by relative entropy, min sum_k n_k (w_k ln w_k - w_k + 1). Raking
    (iterative proportional fitting) leads to the same: w_k = exp(lambda . (C_k / n_k - q)), cut at
    the bounds (Deville and Sarndal 1992). If the target cannot be met, they are those of the least
    DR with the fewest weighted mentions that change.

    Args:
        target: Target shares (M,); None: uniform.
        groups: M.
        documents: The sum of the documents' counts (M,), by profile.
        limit: The greatest weight; the least is 1 / limit.

    Returns:
        The weights, and what is expected of them.

    Raises:
        ValueError: The limit is below 1, or the counts are not of M groups.
        ArithmeticError: The solver found no solution.
    """
    if not 1 <= limit < math.inf:
        raise ValueError(f"limit must be a number of at least 1, it is {limit}")
    profiles = sorted(key for key, counts in documents.items() if sum(counts))
    sums = np.array([documents[key] for key in profiles], float).reshape(-1, groups)
    c, q = check(sums.sum(axis=0).tolist(), target, groups)
    weights = _raked(sums, q, limit)
    if dr_of(weights @ sums, q) > RAKED:
        changes = np.concatenate([(limit - 1) * sums, (1 / limit - 1) * sums])
        x = fewest_changes(
            c, q, changes, np.abs(changes).sum(axis=1), np.tile(np.arange(len(sums)), 2)
        )
        up, down = x[: len(sums)], x[len(sums) :]
        weights = 1 + up * (limit - 1) + down * (1 / limit - 1)
    weights = np.clip(np.round(weights, DIGITS), 1 / limit, limit)
    kept = {
        key: float(weight) for key, weight in zip(profiles, weights, strict=True) if weight != 1
    }
    return Weights(expected(c, weights @ sums, q), kept)


def _raked(sums: Floats, q: Floats, limit: float) -> Floats:
    """Weights (K,) of sums (K, M), by the dual min sum_k n_k phi(lambda . z_k).

    The derivative of phi is exp, cut at the bounds.
    """
    mentions = sums.sum(axis=1)
    if not len(sums) or dr_of(sums.sum(axis=0), q) <= RAKED:
        return np.ones(len(sums))
    z = sums / mentions[:, None] - q
    share = mentions / mentions.sum()
    bound = math.log(limit)

    def weights(at: Floats) -> Floats:
        return np.exp(np.clip(z @ at, -bound, bound))

    def dual(at: Floats) -> float:
        u = z @ at
        cut = np.clip(u, -bound, bound)
        return float(share @ (np.exp(cut) * (1 + u - cut)))

    def curvature(at: Floats) -> Floats:
        inside = share * weights(at) * (np.abs(z @ at) < bound)
        return z.T @ (z * inside[:, None])

    found = minimize(
        dual,
        np.zeros(len(q)),
        jac=lambda at: z.T @ (share * weights(at)),
        hess=curvature,
        method="trust-exact",
        options={"gtol": TOLERANCE, "maxiter": STEPS},
    )
    return weights(found.x)
