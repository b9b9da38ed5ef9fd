"""Gaps in plain data and in words: what the table, JSON and the page show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations, product
from typing import Any, Literal

import numpy as np

from evenflow.schemas.threshold import Threshold
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.patterns import Ints
from evenflow.transforms.measures.coverage.threshold import interval

DIGITS = 9  # of shares
MOST_CELLS = 400  # of two attributes that are shown against each other
State = Literal["gap", "cannot tell", "no gap"]


def patterns(coverage: Coverage, codes: Ints) -> list[dict[str, str]]:
    """The values that patterns give their attributes.

    Args:
        codes: Codes of patterns, (n,).
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
        depth: Most attributes that a pattern may give a value; None: all.
        most: Most gaps that are listed; None: all.

    Returns:
        `records`, `values` by attribute, `tau`, `needed` (records that reach it), `called_below`
        (records below which a pattern is called uncovered), `confidence`, `depth`, `state` (see
        `state`), `least_tau` (see `least_tau`), `found` (number of gaps), `largest` (of the
        relative gaps, see `largest_gap`; null without records), and `gaps`: of each its `pattern`,
        `records`, `share`, `low`, `high`, `missing` (records up to tau) and `parents` (records of
        each pattern with one value fewer). `unsure` is the number of patterns whose share is below
        tau while their upper bound is not, and `unsure_gaps` lists them like `gaps`.
    """
    table, threshold = coverage.table, coverage.threshold
    codes, unsure = coverage.mups(depth), coverage.unsure(depth)
    return {
        "records": table.total,
        "values": dict(zip(table.attributes, map(list, table.values), strict=True)),
        "tau": str(threshold),
        "needed": threshold.needed(table.total),
        "called_below": coverage.limit,
        "confidence": confidence,
        "depth": depth,
        "state": state(table.total, len(codes), len(unsure)),
        "least_tau": least_tau(coverage, confidence),
        "found": len(codes),
        "largest": largest_gap(coverage, confidence, depth),
        "gaps": _listed(coverage, codes, confidence, most),
        "unsure": len(unsure),
        "unsure_gaps": _listed(coverage, unsure, confidence, most),
    }


def grids(coverage: Coverage) -> list[dict[str, Any]]:
    """The share of each combination of two attributes, as a page draws it.

    Returns:
        Of each pair its `attributes`, the values of the first as `rows` (r) and of the second as
        `columns` (c), and `shares` (r, c). A pair with more than MOST_CELLS is left out.
    """
    table, out = coverage.table, list[dict[str, Any]]()
    for pair in combinations(range(len(table.attributes)), 2):
        rows, columns = (table.values[each] for each in pair)
        if len(rows) * len(columns) > MOST_CELLS or not table.total:
            continue
        digits = np.tile(table.lattice.sizes, (len(rows) * len(columns), 1))
        digits[:, pair] = list(product(range(len(rows)), range(len(columns))))
        shares = coverage.count(table.lattice.encode(digits)) / table.total
        found = shares.round(DIGITS).reshape(len(rows), len(columns)).tolist()
        names = [table.attributes[each] for each in pair]
        out.append({"attributes": names, "rows": rows, "columns": columns, "shares": found})
    return out


def state(records: float, found: int, unsure: int) -> State:
    """What records say of coverage."""
    if found:
        return "gap"
    return "cannot tell" if unsure or not records else "no gap"


def least_tau(coverage: Coverage, confidence: float) -> float | None:
    """The smallest threshold at which these records can show a gap.

    It is the upper bound of a pattern of at most two values that no record matches. At a smaller
    threshold nothing is called a gap, whatever is missing.
    """
    table = coverage.table
    if not coverage.has_bound or not table.total:
        return None
    squares = coverage.squares(np.array([table.lattice.root]))
    return round(float(interval(0, table.total, squares, confidence)[1][0]), DIGITS)


def unsure(result: Mapping[str, Any]) -> str:
    """What cannot be told, in words.

    Args:
        result: What `summary` returned, with a pattern that may be a gap.
    """
    number = result["unsure"]
    said = f"{number:,} {'patterns are' if number != 1 else 'pattern is'} below {result['tau']}"
    return (
        f"{said}, but not surely; {result['records']:,} records can show no gap below"
        f" {result['least_tau']:.2g}"
    )


def _listed(
    coverage: Coverage, codes: Ints, confidence: float, most: int | None
) -> list[dict[str, Any]]:
    """Describe patterns, the rarest first."""
    table = coverage.table
    counts, levels, total = coverage.count(codes), table.lattice.levels(codes), table.total
    keys = [codes, levels, counts]
    if coverage.by_pattern:
        keys.append(interval(counts, total, coverage.squares(codes), confidence)[1])
    order = np.lexsort(keys)[:most]
    chosen, needed = codes[order], coverage.threshold.needed(total)
    squares = coverage.squares(chosen) if total else 1.0
    lows, highs = interval(counts[order], total or 1, squares, confidence)
    above: list[list[dict[str, Any]]] = [[] for _ in chosen]
    for (has, parents), name in zip(table.lattice.parents(chosen), table.attributes, strict=True):
        for place, count in zip(np.flatnonzero(has), coverage.count(parents).tolist(), strict=True):
            above[place].append({"without": name, "records": count})
    return [
        {
            "pattern": pattern,
            "records": count,
            "share": round(count / total, DIGITS) if total else None,
            "low": round(low, DIGITS) if total else None,
            "high": round(high, DIGITS) if total else None,
            "missing": math.ceil(needed - count),
            "parents": parents,
        }
        for pattern, count, low, high, parents in zip(
            patterns(coverage, chosen),
            counts[order].tolist(),
            lows.tolist(),
            highs.tolist(),
            above,
            strict=True,
        )
    ]


def joined(
    whole: Mapping[str, Any],
    parts: Mapping[str, Mapping[str, Any]],
    by: str,
    threshold: Threshold,
    most: int,
) -> dict[str, Any]:
    """Describe the gaps of several parts of the records together."""
    # As `largest_gap`: a number of records is compared as it is, of a share the upper bound
    rarity = "records" if threshold.share is None else "high"
    listed: dict[str, list[dict[str, Any]]] = {
        key: sorted(
            (
                {**gap, "pattern": {by: name, **gap["pattern"]}, "needed": part["needed"]}
                for name, part in sorted(parts.items())
                for gap in part[key]
            ),
            key=lambda gap: gap[rarity],
        )[:most]
        for key in ("gaps", "unsure_gaps")
    }
    found, unsure = (sum(part[key] for part in parts.values()) for key in ("found", "unsure"))
    every = [part["largest"] for part in parts.values() if part["largest"] is not None]
    least = [part["least_tau"] for part in parts.values() if part["least_tau"] is not None]
    return {
        **whole,
        "state": state(whole["records"], found, unsure),
        "least_tau": max(least, default=None),
        "found": found,
        "unsure": unsure,
        "largest": max(every, default=None),
        **listed,
    }


def largest_gap(coverage: Coverage, confidence: float, depth: int | None = None) -> float | None:
    """The largest relative gap that is not chance alone.

    `depth`: Most attributes that a pattern may give a value; None: all.

    Returns 1 - coverage / τ of the rarest pattern, 0 to 1; 0 without a gap; None without records.
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
