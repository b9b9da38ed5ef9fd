"""Figures with intervals: a bootstrap over items, or over clusters of items that share a template.

The interval is the expanded percentile interval (Hesterberg 2015, “What teachers should know about
the bootstrap”): the percentile interval is too narrow for few items, as if the normal distribution
were used for Student's, and its level is changed by that. Simulations are in
tests/transforms/lab/benchmarks/test_estimate.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from evenflow.transforms.lab.benchmarks.suite import Floats, Measure, Row

DRAWS = 2000
CHUNK = 200  # draws at a time: ten thousand items are 16 MB
LEVEL = 0.95
DIGITS = 6


def estimate(rows: Sequence[Row], measure: Measure, seed: int = 0) -> dict[str, Any]:
    """Compute a figure.

    Returns figure, low and high (95 %), n (items), units (items or clusters that are drawn), better
    and range; for a distance also direction, -1 or 1. Without an item figure, low and high are
    None, and with one unit low and high.
    """
    names, sums, counts, items = _units(rows, measure)
    fixed = {"n": items, "units": len(names), "better": measure.better, "range": measure.range}
    if not names:
        return {"figure": None, "low": None, "high": None, **fixed}
    plain = float(_figures(measure, sums, counts, np.ones((1, len(names))))[0])
    figure = abs(plain) if measure.distance else plain
    low, high = None, None
    if len(names) > 1:
        low, high = _interval(_drawn(measure, [(sums, counts)], seed)[0], len(names))
        if measure.distance:
            ends = sorted((abs(low), abs(high)))
            low, high = (0.0 if low <= 0 <= high else ends[0]), ends[1]
        if measure.share and plain in (0.0, 1.0):
            # Nothing varies: the exact bound for a share (Clopper and Pearson 1934)
            bound = ((1 - LEVEL) / 2) ** (1 / len(names))
            low, high = (bound, 1.0) if plain else (0.0, 1 - bound)
    found = _rounded(figure=figure, low=low, high=high) | fixed
    if measure.distance:
        found["direction"] = int(np.sign(plain))
    return found


def difference(
    one: Sequence[Row], other: Sequence[Row], measure: Measure, seed: int = 0
) -> dict[str, Any]:
    """Compute how much a figure differs between two models on the same items.

    Each draw of the bootstrap takes the same items of both.

    `other`: Lines of items of the second.

    Returns difference (second less first), low, high, n (items of both) and units; None where there
    is no common item.
    """
    common = {row["id"] for row in other} & {row["id"] for row in one}
    pairs = [
        {str(row["id"]): row for row in rows if row["id"] in common and measure.of(row) is not None}
        for rows in (one, other)
    ]
    ids = sorted(pairs[0].keys() & pairs[1].keys())
    first, second = (_units([each[name] for name in ids], measure) for each in pairs)
    fixed = {"n": len(ids), "units": len(first[0])}
    if not ids:
        return {"difference": None, "low": None, "high": None, **fixed}
    tables = [(first[1], first[2]), (second[1], second[2])]
    plain = [_figures(measure, *table, np.ones((1, len(first[0]))))[0] for table in tables]
    drawn = _drawn(measure, tables, seed)
    if measure.distance:
        plain, drawn = [abs(each) for each in plain], [np.abs(each) for each in drawn]
    ends = _interval(drawn[1] - drawn[0], len(first[0])) if len(first[0]) > 1 else (None, None)
    return _rounded(difference=plain[1] - plain[0], low=ends[0], high=ends[1]) | fixed


def _rounded(**figures: float | None) -> dict[str, Any]:
    return {
        name: None if each is None else round(float(each), DIGITS) for name, each in figures.items()
    }


def _units(rows: Sequence[Row], measure: Measure) -> tuple[list[str], Floats, Floats, int]:
    """Names (u), sums (u, k) and numbers of items (u,) of what is drawn, and the items' number."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for row in rows:
        if (own := measure.of(row)) is not None:
            found.setdefault(str(row["cluster"] or row["id"]), []).append(own)
    names = sorted(found)
    sums = np.array([np.sum(found[name], axis=0) for name in names], float)
    counts = np.array([len(found[name]) for name in names], float)
    items = int(counts.sum())
    if measure.alike and names:
        sums, counts = sums / counts[:, None], np.ones_like(counts)
    return names, sums, counts, items


def _figures(measure: Measure, sums: Floats, counts: Floats, weights: Floats) -> Floats:
    """Figures (B,) of weighted units (B, u)."""
    total = weights @ counts
    return measure.figure((weights @ sums) / total[:, None], total)


def _drawn(measure: Measure, tables: Sequence[tuple[Floats, Floats]], seed: int) -> list[Floats]:
    """Figures (DRAWS,) of each table, of the same units drawn with replacement."""
    random, size = np.random.default_rng(seed), len(tables[0][1])
    found: list[list[Floats]] = [[] for _ in tables]
    for _ in range(0, DRAWS, CHUNK):
        weights = random.multinomial(size, np.full(size, 1 / size), CHUNK).astype(float)
        for own, (sums, counts) in zip(found, tables, strict=True):
            own.append(_figures(measure, sums, counts, weights))
    return [np.concatenate(own) for own in found]


def _interval(drawn: Floats, units: int) -> tuple[float, float]:
    """The expanded percentile interval."""
    half = stats.t.ppf((1 + LEVEL) / 2, units - 1) * np.sqrt(units / (units - 1))
    level = stats.norm.cdf(-half)
    low, high = np.quantile(drawn, (level, 1 - level))
    return float(low), float(high)
