"""The table of a model's benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table

from evenflow.pipelines.terminal.lines import visible
from evenflow.pipelines.terminal.tables import console

WANTED = {"higher": "higher", "lower": "lower"}
SIGNS = {1: " (+)", -1: " (-)", 0: ""}


def rows(found: Mapping[str, Any], suites: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The figures as text.

    Args:
        found: What results.json holds.
        suites: Which suites, in this order.

    Yields:
        Name, figure, interval, n and what is better, of each suite and of its parts.
    """
    for name in dict.fromkeys(suites):
        suite = found["suites"][name]
        yield _row(name, suite)
        for part, each in suite["parts"].items():
            yield _row(f"  {part}", each)


def _row(name: str, each: Mapping[str, Any]) -> tuple[str, ...]:
    if each["figure"] is None:
        return visible(name), "–", "", "0", ""
    low, high = each["low"], each["high"]
    best = each["better"]
    return (
        visible(name),
        f"{each['figure']:.4f}{SIGNS[each.get('direction', 0)]}",
        "" if low is None else f"{low:.4f} to {high:.4f}",
        f"{each['n']:,}",
        WANTED.get(best, f"near {best}"),
    )


def table(found: Mapping[str, Any], suites: Sequence[str]) -> None:
    """Print the figures.

    Args:
        found: What results.json holds.
        suites: Which suites, in this order.
    """
    drawn = Table("suite", "figure", "95 % interval", "n", "better")
    for column in drawn.columns[1:4]:
        column.justify = "right"
    for row in rows(found, suites):
        drawn.add_row(*row)
    console().print(drawn)
    for name in dict.fromkeys(suites):
        suite = found["suites"][name]
        if suite["left_out"]:
            print(visible(f"{name}: {suite['left_out']:,} items could not be asked"))
        if suite["note"]:
            print(visible(f"{name}: {suite['note']}"))
