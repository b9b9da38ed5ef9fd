"""How figures are written: one way for terminal, pages, card and reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

NONE = "–"
UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
FIGURE = re.compile(r"[-−+–<]?( ?\d.*)?")


def counted(count: int, thing: str) -> str:
    """Format a count of things: 1 pane, 2 panes."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def ranges(numbers: Iterable[int]) -> list[str]:
    """Whole numbers in ascending order, neighbours as a range: 0, 2..3."""
    runs = list[list[int]]()
    for each in numbers:
        if runs and each == runs[-1][-1] + 1:
            runs[-1][1:] = [each]
        else:
            runs.append([each])
    return ["..".join(map(str, each)) for each in runs]


def said(state: str) -> str:
    """A state in words."""
    return state.replace("_", " ")


def number(value: float | None) -> str:
    """Format a count, with commas between thousands."""
    return NONE if value is None else f"{value:,.0f}"


def score(value: float | None) -> str:
    """Format a DR or another score: three digits, since its interval justifies no more."""
    return NONE if value is None else f"{value:.3f}"


def short(value: float | None) -> str:
    """Format a setting as it was written: 0.25, not 0.250."""
    return NONE if value is None else f"{value:g}"


def interval(low: float | None, high: float | None) -> str:
    """Format an interval; a dash where there is none."""
    return NONE if low is None or high is None else f"{low:.3f}–{high:.3f}"


def estimate(value: float | None, low: float | None, high: float | None) -> str:
    """Format a score with its interval, if it has one: 0.318 (0.269–0.356)."""
    return score(value) + ("" if low is None else f" ({interval(low, high)})")


def dr_of(found: Mapping[str, Any]) -> str:
    """Format the DR of a score (ledger.Score) with its interval, or say that there is none."""
    known = found["dr"] is not None
    return estimate(found["dr"], found["low"], found["high"]) if known else "no mention"


def percent(share: float | None) -> str:
    """Format a share (0..1) in per cent; only 0 reads 0."""
    if share is None:
        return NONE
    return "< 0.1%" if 0 < share < 0.0005 else f"{share:.1%}"


def points(difference: float | None) -> str:
    """Format a difference of two shares in percentage points, with its sign."""
    if difference is None:
        return NONE
    value = f"{100 * difference:+.1f}".replace("-", "−")
    return "0.0" if value in ("+0.0", "−0.0") else value


def size(count: float | None) -> str:
    """Format a number of bytes in decimal units."""
    if count is None:
        return NONE
    for unit, name in UNITS:
        if count >= unit:
            value = count / unit
            return f"{value:,.1f} {name}" if value < 100 else f"{value:,.0f} {name}"
    return f"{count:.0f} B"


def duration(seconds: float) -> str:
    """Format a time for people, rounded: 42 s, 3 min, 2.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@dataclass(frozen=True)
class Table:
    """Rows of text, which a terminal and a page draw. It may come from outside."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]] = field(default_factory=list[Sequence[str]])

    @cached_property
    def figures(self) -> list[bool]:
        """Which columns have figures alone, and so are set to the right."""
        return [
            all(FIGURE.fullmatch(row[at]) for row in self.rows if row)
            for at in range(len(self.columns))
        ]
