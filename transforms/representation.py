"""Demographic Representation score: DR = 1/2 sum_i |p_i - q_i| (main paper, section 4.2.2), with a cluster-robust interval.

Documents are drawn, not words: mentions within a document go together. The shares are ratios of sums over documents, so their
covariance is that of a ratio estimator (Cochran, Sampling Techniques, section 6.3), from sum c_d and sum c_d c_d^T.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evenflow.schemas.ledger import Score, Sums


def sums(counts: npt.NDArray[np.int64]) -> Sums:
    """Sums over documents of (D, M) mention counts; documents without a mention add nothing."""
    said = counts[counts.any(axis=1)]
    return Sums(documents=len(said), counts=said.sum(axis=0).tolist(), products=(said.T @ said).tolist())


def add(a: Sums, b: Sums) -> Sums:
    """Sums of both."""
    return Sums(
        documents=a.documents + b.documents,
        counts=(np.array(a.counts) + b.counts).tolist(),
        products=(np.array(a.products) + b.products).tolist(),
    )


def demographic_representation(counts: Sequence[int], target: Sequence[float] | None = None) -> float | None:
    """DR of (M,) counts against a target (uniform unless given); None where nothing was mentioned."""
    total = sum(counts)
    if not total:
        return None
    q = np.full(len(counts), 1 / len(counts)) if target is None else np.array(target)
    return float(np.abs(np.array(counts) / total - q).sum() / 2)


def score(sums: Sums, target: Sequence[float] | None = None, confidence: float = 0.95) -> Score:
    """DR with its confidence interval: the range of DR over shares whose distance to the observed is not significant.

    The interval takes quantiles of |x + e| for the observed signed deviations x under the estimated noise e, by fixed draws.
    """
    counts = np.array(sums.counts, float)
    total = counts.sum()
    plain = demographic_representation(sums.counts, target)
    if plain is None:
        return Score(dr=None, corrected=None, low=None, high=None, mentions=0, documents=sums.documents)
    dr = round(plain, 6)
    d = sums.documents
    if d < 2:
        return Score(dr=dr, corrected=None, low=None, high=None, mentions=int(total), documents=d)
    m = len(counts)
    q = np.full(m, 1 / m) if target is None else np.array(target)
    p = counts / total
    products = np.array(sums.products, float)
    sizes = products.sum(axis=1)
    spread = products - np.outer(p, sizes) - np.outer(sizes, p) + np.outer(p, p) * sizes.sum()
    covariance = spread / total**2 * d / (d - 1)
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root = vectors * np.sqrt(np.clip(values, 0, None))
    draws = np.random.Generator(np.random.PCG64(20250601)).standard_normal((2000, m))
    noisy = np.abs(p - q + draws @ root.T).sum(axis=1) / 2
    bias = max(0.0, float(noisy.mean()) - plain)
    corrected = max(0.0, plain - bias)
    tail = (1 - confidence) / 2
    low, high = np.quantile(noisy, [tail, 1 - tail]) - 2 * bias
    top = float(max(1 - q.min(), 0))
    return Score(
        dr=dr,
        corrected=round(corrected, 6),
        low=round(float(np.clip(low, 0, dr)), 6),
        high=round(float(np.clip(high, dr, top)), 6),
        mentions=int(total),
        documents=d,
    )
