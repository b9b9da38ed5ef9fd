"""The table of a model's benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenflow.pipelines.terminal.lines import visible
from evenflow.pipelines.terminal.tables import draw
from evenflow.schemas.words import Table, interval, number, score

SIGNS = {1: " (+)", -1: " (-)", 0: ""}


def rows(found: Mapping[str, Any], suites: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The figures as text."""
    for name in dict.fromkeys(suites):
        suite = found["suites"][name]
        yield _row(name, suite)
        for part, each in suite["parts"].items():
            yield _row(f"  {part}", each)


def _row(name: str, each: Mapping[str, Any]) -> tuple[str, ...]:
    if each["figure"] is None:
        return name, "–", "", "0", ""
    figure = score(each["figure"]) + SIGNS[each.get("direction", 0)]
    better = each["better"] if each["better"] in ("higher", "lower") else f"near {each['better']}"
    return name, figure, interval(each["low"], each["high"]), number(each["n"]), better


def table(found: Mapping[str, Any], suites: Sequence[str]) -> None:
    """Print the figures.

    Args:
        found: What results.json holds.
    """
    columns = ("suite", "figure", "95 % interval", "n", "better")
    draw(Table("", columns, list(rows(found, suites))))
    for name in dict.fromkeys(suites):
        suite = found["suites"][name]
        if suite["left_out"]:
            print(visible(f"{name}: {suite['left_out']:,} items could not be asked"))
        if suite["note"]:
            print(visible(f"{name}: {suite['note']}"))
