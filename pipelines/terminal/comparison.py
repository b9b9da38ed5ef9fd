"""The tables of `evenflow compare`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.table import Table

from evenflow.pipelines.terminal.lines import visible
from evenflow.pipelines.terminal.tables import console

SHOWN = 20  # sources in the table; --json has all


def draw(found: Mapping[str, Any]) -> None:
    """Print two tables for each attribute."""
    out = console()
    sides = ("older", "newer") if found["shared"] else ("kept", "removed")
    numbers = " and ".join(
        f"{number:,} {side}" for number, side in zip(found["documents"], sides, strict=True)
    )
    shared = f", {found['shared']:,} ids on both sides: versions" if found["shared"] else ""
    print(f"documents: {numbers}{shared}")
    if any(found["dead_letters"]):
        print(f"not compared: {sum(found['dead_letters']):,} records that are no documents")
    for name, own in found["attributes"].items():
        same = own.get("same_mix")
        sources = own.get("sources", {})
        rows = {"all": own["all"]} | ({"all, same mix": same} if same else {})
        rows |= dict(list(sources.items())[:SHOWN])
        print(f"\n{visible(name)}")
        table = _table("", f"DR {sides[0]}", f"DR {sides[1]}", "difference")
        for label, each in rows.items():
            scores = (_number(each[side]["dr"]) for side in ("first", "second"))
            table.add_row(visible(label), *scores, _estimate(each["dr"]))
        out.print(table)
        if len(sources) > SHOWN:
            print(f"the {SHOWN} largest of {len(sources)} sources; --json has all")
        mixed = ["same mix"] if same else []
        table = _table("group", *sides, "removed, above all", *mixed)
        for at, group in enumerate(own["groups"]):
            shares = (f"{own['all'][side]['shares'][at]:.1%}" for side in ("first", "second"))
            excess = [
                _estimate(each["removal"] and each["removal"]["excess"][at], 100)
                for each in (own["all"], *([same] if same else []))
            ]
            table.add_row(visible(group), *shares, *excess)
        out.print(table)
        removal = own["all"]["removal"]
        if removal is not None:
            print(f"{removal['rate']:.1%} of all mentions were removed; above it in points")
        if warning := paradox(own):
            print(warning)


def _table(*columns: str) -> Any:
    """A table whose figures are never wrapped."""
    table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0))
    for column in table.columns[1:]:
        column.no_wrap = True
    return table


def paradox(own: Mapping[str, Any]) -> str | None:
    """Say where the pooled difference is made by the mix of sources.

    Args:
        own: An attribute of `compared`.

    Returns:
        A sentence; None where the mix does not matter.
    """
    crude, same = own["all"]["dr"], (own.get("same_mix") or {}).get("dr")
    if crude is None or same is None:
        return None
    sure, remains = (each["low"] * each["high"] > 0 for each in (crude, same))
    if sure and not remains:
        return "The mix of sources makes the difference: with the same mix none is sure."
    if sure and same["value"] * crude["value"] < 0:
        return "The mix of sources reverses the difference: see the row of the same mix."
    if remains and not sure:
        return "The mix of sources hides a difference: it is sure with the same mix."
    return None


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _estimate(figure: Mapping[str, float] | None, scale: int = 1) -> str:
    """A figure with its interval; with a scale of 100 in percentage points."""
    if figure is None:
        return "–"
    form = "{:+.1f} [{:+.1f}, {:+.1f}]" if scale == 100 else "{:+.3f} [{:+.3f}, {:+.3f}]"
    return form.format(*(scale * figure[key] for key in ("value", "low", "high")))
