"""The page of a model's benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenflow.pipelines.pages.report.report import template


def page(found: Mapping[str, Any]) -> str:
    """Render benchmarks as a page of its own.

    Args:
        found: What results.json holds.

    Returns:
        The HTML, which needs no network.
    """
    return template("benchmarks_page.html.j2").render(
        model=found["model"],
        adapter=found["adapter"],
        seed=found["seed"],
        suites=[(name, suite, _rows(suite)) for name, suite in found["suites"].items()],
    )


def _rows(suite: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The suite's own figure and its parts, with places in percent of their range."""
    every = {"all": suite, **suite["parts"]}
    return [{**each, "name": name, **_places(each)} for name, each in every.items()]


def _places(each: Mapping[str, Any]) -> dict[str, Any]:
    """Where figure, interval and the best value are drawn; nothing without a range."""
    low, high = each["range"]
    if low is None or high is None or each["figure"] is None:
        return {"at": None, "span": None, "best": None}

    def place(value: float) -> float:
        return 100 * (min(max(value, low), high) - low) / (high - low)

    ends = None if each["low"] is None else (place(each["low"]), place(each["high"]))
    best = {"higher": high, "lower": low}.get(each["better"])
    best = float(each["better"]) if best is None else best
    return {"at": place(each["figure"]), "span": ends, "best": place(best)}
