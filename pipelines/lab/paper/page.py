"""The page of an experiment, drawn with the report's style."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenflow.pipelines.lab.paper.comparison import Estimate, drawn_dr, interval
from evenflow.pipelines.pages.report.report import template

MARGIN = 0.05  # of a plot's width that is free on either side


def page(found: Mapping[str, Any]) -> str:
    """Render an experiment."""
    return template("paper.html.j2").render(
        found=found,
        drawn_dr={
            name: {attribute: drawn_dr(own) for attribute, own in arm.get("attributes", {}).items()}
            for name, arm in found["arms"].items()
        },
        suites=[{"name": name, **_suite(each)} for name, each in found["suites"].items()],
    )


def _suite(each: Mapping[str, Any]) -> dict[str, Any]:
    """A suite with its rows: figures and differences as text, and where they are drawn."""
    found = {
        kind: {arm: Estimate(**own) for arm, own in each[kind].items()}
        for kind in ("estimates", "differences")
    }
    wanted = [] if each["wanted"] in ("higher", "lower") else [float(each["wanted"])]
    scales = {
        "estimates": _scale(found["estimates"], wanted),
        "differences": _scale(found["differences"], [0.0]),
    }
    rows = [
        {
            "arm": arm,
            "figure": _drawn(own, *scales["estimates"]),
            "difference": _drawn(found["differences"].get(arm), *scales["differences"]),
        }
        for arm, own in found["estimates"].items()
    ]
    low, high = scales["estimates"]
    best = 100 * (wanted[0] - low) / (high - low) if wanted else None
    low, high = scales["differences"]
    return {**each, "rows": rows, "best": best, "zero": 100 * (0 - low) / (high - low)}


def _scale(found: Mapping[str, Estimate], more: list[float]) -> tuple[float, float]:
    """The ends of a plot that holds all intervals."""
    values = [
        value
        for own in found.values()
        for value in (own.low, own.high, own.value)
        if value is not None
    ]
    values += more or [0.0][: not values]
    low, high = min(values), max(values)
    room = (high - low or 1.0) * MARGIN
    return low - room, high + room


def _drawn(own: Estimate | None, low: float, high: float) -> dict[str, Any] | None:
    """A figure as text, with its place and its interval's in per cent."""
    if own is None or own.value is None:
        return None

    def place(value: float | None) -> float:
        return 100 * ((value or 0.0) - low) / (high - low)

    return {
        "text": interval(own),
        "at": place(own.value),
        "span": None if own.low is None else (place(own.low), place(own.high)),
        "differs": own.excludes_zero,
    }
