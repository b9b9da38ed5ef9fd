"""The tables of `evenflow compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenflow.pipelines.terminal import tables
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.words import Table, counted, percent, score

SIDES = ("first", "second")


def draw(found: Mapping[str, Any]) -> None:
    """Print two tables for each attribute."""
    names, of = found["names"], "removal" if found["filtered"] else "shares"
    numbers = " and ".join(
        f"{number:,} in {name}" for number, name in zip(found["documents"], names, strict=True)
    )
    shared = f", {found['shared']:,} ids in both: versions" if found["shared"] else ""
    print(visible(f"documents: {numbers}{shared}"))
    print(visible(f"differences: {names[0]} less {names[1]}"))
    if any(found["dead_letters"]):
        print(f"not compared: {counted(sum(found['dead_letters']), 'record')} without a text")
    for name, own in found["attributes"].items():
        same = own.get("same_mix")
        sources = own.get("sources", {})
        parts = {"all": own["all"]} | ({"all, same mix": same} if same else {})
        parts |= dict(list(sources.items())[: tables.SHOWN])
        rows: list[Sequence[str]] = [
            (label, *(score(each[side]["dr"]) for side in SIDES), _estimate(each["dr"]))
            for label, each in parts.items()
        ]
        tables.draw(Table(name, ("", *(f"DR {each}" for each in names), "difference"), rows))
        if len(sources) > tables.SHOWN:
            print(f"the {tables.SHOWN} worst of {len(sources)} sources; --json has all")
        rows = [
            (
                group,
                *(percent(own["all"][side]["shares"][at]) for side in SIDES),
                *(_estimate(_figure(each, of, at), 100) for each in (own["all"], same) if each),
            )
            for at, group in enumerate(own["groups"])
        ]
        title = "removed, above all" if found["filtered"] else "points"
        columns = ("group", *names, title, *(["same mix"] if same else []))
        tables.draw(Table("", columns, rows))
        removal = own["all"]["removal"]
        if found["filtered"] and removal is not None:
            print(f"{removal['rate']:.1%} of all mentions were removed; above it in points")
        if warning := paradox(own):
            print(warning)


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


def _figure(compared: Mapping[str, Any], of: str, at: int) -> Mapping[str, float] | None:
    """The difference of a group's shares, or how much more of its mentions was removed."""
    found = compared[of]
    return found and (found["excess"] if of == "removal" else found)[at]


def _estimate(figure: Mapping[str, float] | None, scale: int = 1) -> str:
    """A figure with its interval; with a scale of 100 in percentage points."""
    if figure is None:
        return "–"
    form = "{:+.1f} [{:+.1f}, {:+.1f}]" if scale == 100 else "{:+.3f} [{:+.3f}, {:+.3f}]"
    return form.format(*(scale * figure[key] for key in ("value", "low", "high")))
