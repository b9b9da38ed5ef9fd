"""The page that `evenflow words complete --page` writes: DR over the words of a list (C3)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evenflow.pipelines.pages.report import charts
from evenflow.pipelines.pages.report.report import template

MOST_LABELS = 200  # rows of the table of shares; JSON has all
LEAST_TOP = 0.05  # upper end of an axis whose values are smaller


def page(found: Mapping[str, Any]) -> str:
    """Render what a word list lacks.

    Args:
        found: What `evenflow words complete --json` prints.

    Returns:
        The HTML, which needs no network.
    """
    named = [each for each in found["labels"] if each["mentions"]]
    return template("completeness_page.html.j2").render(
        found=found,
        charts={
            which: _chart(points, found["settled_at"][which])
            for which, points in found["curves"].items()
            if points
        },
        labels=named[:MOST_LABELS],
        more=len(named) - len(named[:MOST_LABELS]),
        groups=sorted({each["group"] for each in found["labels"]}),
    )


def _chart(points: Sequence[Mapping[str, Any]], settled: int | None) -> dict[str, Any]:
    """The curve with its interval; of very many points a column has its first."""
    step = math.ceil(len(points) / charts.MOST_COLUMNS)
    chosen = points[::step]
    values = [each[key] for each in points for key in ("dr", "high") if each[key] is not None]
    top, ticks = charts.axis(max([LEAST_TOP, *values]))
    width = charts.WIDTH / len(points)

    def course(key: str) -> list[tuple[float, float] | None]:
        return [
            None
            if each[key] is None
            else ((each["words"] - 0.5) * width, charts.HEIGHT * (1 - each[key] / top))
            for each in chosen
        ]

    return {
        "line": charts.line(course("dr")),
        "band": charts.band(course("low"), course("high"), width / 3),
        "settled": settled,
        "at": None if settled is None else (min(settled, len(points)) - 0.5) * width,
        "end": points[-1],
        "y": ticks,
        "x": charts.pane_ticks(len(points), len(points), first=1),
    }
