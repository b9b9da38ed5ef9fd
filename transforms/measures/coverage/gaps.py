"""Gaps in plain data and in words: what the table, JSON and the page show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evenflow.schemas.threshold import Threshold
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.patterns import Ints
from evenflow.transforms.measures.coverage.threshold import interval

DIGITS = 9  # of shares


def patterns(coverage: Coverage, codes: Ints) -> list[dict[str, str]]:
    """The values that patterns give their attributes.

    Args:
        coverage: The coverage.
        codes: Codes of patterns, (n,).

    Returns:
        Value by attribute, for each pattern.
    """
    table = coverage.table
    return [
        {
            name: values[digit]
            for name, values, digit in zip(table.attributes, table.values, row, strict=True)
            if digit < len(values)
        }
        for row in table.lattice.decode(codes).tolist()
    ]


def words(pattern: Mapping[str, str]) -> str:
    """A pattern in words, such as “gender female, age old”."""
    return ", ".join(f"{name} {value}" for name, value in pattern.items()) or "any record"


def summary(
    coverage: Coverage, confidence: float, depth: int | None = None, most: int | None = None
) -> dict[str, Any]:
    """Describe the gaps, the largest first; of equal ones, the most general first.

    Args:
        coverage: The coverage.
        confidence: Level of the intervals that are given.
        depth: Most attributes that a pattern may give a value; None: all.
        most: Most gaps that are listed; None: all.

    Returns:
        `records`, `values` by attribute, `tau`, `needed` (records that reach it), `called_below`
        (records below which a pattern is called uncovered), `confidence`, `depth`, `found` (number
        of gaps), `largest` (of the relative gaps, see `largest_gap`; null without records), and
        `gaps`: of each its `pattern`, `records`, `share`, `low`, `high`, `missing` (records up to
        tau) and `parents` (records of each pattern with one value fewer).
    """
    table, threshold = coverage.table, coverage.threshold
    codes = coverage.mups(depth)
    counts, levels = coverage.count(codes), table.lattice.levels(codes)
    total = table.total
    keys = [codes, levels, counts]
    if coverage.by_pattern:
        keys.append(interval(counts, total, coverage.squares(codes), confidence)[1])
    order = np.lexsort(keys)[:most]
    chosen = codes[order]
    squares = coverage.squares(chosen) if total else 1.0
    lows, highs = interval(counts[order], total or 1, squares, confidence)
    needed = threshold.needed(total)
    above: list[list[dict[str, Any]]] = [[] for _ in chosen]
    for (has, parents), name in zip(table.lattice.parents(chosen), table.attributes, strict=True):
        for place, count in zip(np.flatnonzero(has), coverage.count(parents).tolist(), strict=True):
            above[place].append({"without": name, "records": count})
    gaps: list[dict[str, Any]] = []
    for pattern, count, low, high, parents in zip(
        patterns(coverage, chosen),
        counts[order].tolist(),
        lows.tolist(),
        highs.tolist(),
        above,
        strict=True,
    ):
        gaps.append(
            {
                "pattern": pattern,
                "records": count,
                "share": round(count / total, DIGITS) if total else None,
                "low": round(low, DIGITS) if total else None,
                "high": round(high, DIGITS) if total else None,
                "missing": math.ceil(needed - count),
                "parents": parents,
            }
        )
    return {
        "records": total,
        "values": dict(zip(table.attributes, map(list, table.values), strict=True)),
        "tau": str(threshold),
        "needed": needed,
        "called_below": coverage.limit,
        "confidence": confidence,
        "depth": depth,
        "found": len(codes),
        "largest": largest_gap(coverage, confidence, depth),
        "gaps": gaps,
    }


def joined(
    whole: Mapping[str, Any],
    parts: Mapping[str, Mapping[str, Any]],
    by: str,
    threshold: Threshold,
    most: int,
) -> dict[str, Any]:
    """Describe the gaps of several parts of the records together.

    Args:
        whole: What `summary` returned for all records.
        parts: What it returned for those of each value of the attribute that divides them.
        by: That attribute.
        threshold: The least coverage.
        most: Most gaps that are listed.

    Returns:
        As `summary`. The patterns have a value of `by` besides, and `needed` of their part.
    """
    gaps = [
        {**gap, "pattern": {by: name, **gap["pattern"]}, "needed": part["needed"]}
        for name, part in sorted(parts.items())
        for gap in part["gaps"]
    ]
    # As `largest_gap`: a number of records is compared as it is, of a share the upper bound
    gaps.sort(key=lambda gap: gap["records" if threshold.share is None else "high"])
    every = [part["largest"] for part in parts.values() if part["largest"] is not None]
    return {
        **whole,
        "found": sum(part["found"] for part in parts.values()),
        "largest": max(every, default=None),
        "gaps": gaps[:most],
    }


def largest_gap(coverage: Coverage, confidence: float, depth: int | None = None) -> float | None:
    """The largest relative gap that is not chance alone.

    Args:
        coverage: The coverage.
        confidence: Level of the interval. Of a share the upper bound is taken; of a number of
            records the number itself.
        depth: Most attributes that a pattern may give a value; None: all.

    Returns:
        1 - coverage / τ of the rarest pattern, 0 to 1; 0 without a gap; None without records.
    """
    table, threshold = coverage.table, coverage.threshold
    if not table.total:
        return None
    codes = coverage.mups(depth)
    if not len(codes):
        return 0.0
    counts = coverage.count(codes)
    if not coverage.by_pattern:
        rarest = [int(counts.argmin())]
        codes, counts = codes[rarest], counts[rarest]
    if threshold.share is None:
        gap = 1 - counts.min() / (threshold.count or 1)
    else:
        highs = interval(counts, table.total, coverage.squares(codes), confidence)[1]
        gap = 1 - highs.min() / float(threshold.share)
    return round(max(float(gap), 0.0), DIGITS)


def sentence(gap: Mapping[str, Any], result: Mapping[str, Any], things: Sequence[str]) -> str:
    """A gap in words.

    Args:
        gap: One of `summary`'s gaps.
        result: What `summary` returned.
        things: What a record is called, one and several.

    Returns:
        A sentence.
    """
    seen = f"{gap['records']:,} of {result['records']:,} {things[1]}"
    lacks = f"{gap['missing']:,} more {things[gap['missing'] != 1]} would reach {result['tau']}"
    if gap["share"] is None:
        return f"{words(gap['pattern'])}: {seen}; {lacks}."
    return (
        f"{words(gap['pattern'])}: {seen} ({gap['share']:.2%}, at most {gap['high']:.2%}); {lacks}."
    )
