"""The tables of `evenflow compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenflow.pipelines.terminal import tables
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.words import Table, counted, percent, score
from evenflow.transforms.measures.representation.comparison import gravity, moves

SIDES = ("first", "second")
KEYS = ("value", "low", "high")  # of a difference: the first less the second


def draw(found: Mapping[str, Any]) -> None:
    """Print of each attribute DR, the shares of its groups, and the sources, most moved first."""
    names, is_filtered = found["names"], found["filtered"]
    numbers = " and ".join(
        f"{number:,} in {name}" for number, name in zip(found["documents"], names, strict=True)
    )
    shared = f", {found['shared']:,} ids in both: versions" if found["shared"] else ""
    print(visible(f"documents: {numbers}{shared}"))
    more, less = names if is_filtered else names[::-1]
    sign = 1 if is_filtered else -1
    print(visible(f"differences: {more} less {less}, so + is more in {more}"))
    if any(found["dead_letters"]):
        print(f"not compared: {counted(sum(found['dead_letters']), 'record')} without a text")
    for name, own in found["attributes"].items():
        same = own.get("same_mix")
        parts = {"all": own["all"]} | ({"all, same mix": same} if same else {})
        rows: list[Sequence[str]] = [
            (label, *(score(each[side]["dr"]) for side in SIDES), _estimate(each["dr"], sign))
            for label, each in parts.items()
        ]
        tables.draw(Table(name, ("", *(f"DR {each}" for each in names), "difference"), rows))
        of_each = [moves(each, is_filtered) for each in (own["all"], same) if each]
        rows = [
            (
                group,
                *(percent(own["all"][side]["shares"][at]) for side in SIDES),
                *(_estimate(each[at], 100 * sign) for each in of_each),
            )
            for at, group in enumerate(own["groups"])
        ]
        title = "removed, above all" if is_filtered else "points"
        columns = ("group", *names, title, *(["same mix"] if same else []))
        tables.draw(Table("", columns, rows))
        if own.get("sources"):
            tables.draw(_by_source(name, own, names, is_filtered))
        removal = own["all"]["removal"]
        if is_filtered and removal is not None:
            print(f"{removal['rate']:.1%} of all mentions were removed; above it in points")
        if warning := paradox(own):
            print(warning)


def _by_source(name: str, own: Mapping[str, Any], names: Sequence[str], is_filtered: bool) -> Table:
    """The group of each source that moved most, then and now."""
    rows: list[Sequence[str]] = []
    for source, each in list(own["sources"].items())[: tables.SHOWN]:
        figures = moves(each, is_filtered)
        at = min(range(len(figures)), key=lambda at: gravity(figures[at]))
        shares = [percent(each[side]["shares"][at]) for side in SIDES]
        dr = " → ".join(score(each[side]["dr"]) for side in SIDES)
        figure = _estimate(figures[at], 100 if is_filtered else -100)
        rows.append((source, own["groups"][at], *shares, figure, dr))
    more = f", {tables.SHOWN} of {len(own['sources'])}; --json has all"
    title = f"{name} by source{more * (len(own['sources']) > tables.SHOWN)}"
    return Table(title, ("source", "most moved", *names, "points", "DR"), rows)


def paradox(own: Mapping[str, Any]) -> str | None:
    """Say where the pooled difference is made by the mix of sources."""
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


def _estimate(figure: Mapping[str, float] | None, scale: int) -> str:
    """A figure with its interval; with a scale of ±100 in points, below 0 the other way round."""
    if figure is None:
        return "–"
    most = abs(scale)
    form = "{:+.1f} [{:+.1f}, {:+.1f}]" if most == 100 else "{:+.3f} [{:+.3f}, {:+.3f}]"
    value, *ends = (scale * figure[key] for key in KEYS)
    return form.format(value, *(max(-most, min(most, end)) for end in sorted(ends)))
