"""Tables of coverage for people, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenflow.pipelines.terminal.lines import visible
from evenflow.pipelines.terminal.tables import draw
from evenflow.schemas.words import Table, number, percent, score
from evenflow.transforms.measures.coverage.gaps import unsure, words


def gaps(parts: Mapping[str | None, Mapping[str, Any]], things: Sequence[str]) -> None:
    """Print gaps, the largest first.

    Args:
        parts: What `gaps.summary` returned, by value of the attribute that divides the records;
            None for all records.
        things: What a record is called, one and several.
    """
    for name, result in parts.items():
        title = "" if name is None else f"{name}: "
        title += (
            f"{result['records']:,} {things[1]}, {result['found']:,} gaps below {result['tau']}"
        )
        if result["unsure"]:
            title += f"; cannot tell of {result['unsure']:,}"
        rows = [
            (
                words(gap["pattern"]),
                state,
                number(gap["records"]),
                percent(gap["share"]),
                f"{percent(gap['low'])}–{percent(gap['high'])}" if gap["share"] is not None else "",
                number(gap["missing"]),
            )
            for state, found in (("gap", "gaps"), ("cannot tell", "unsure_gaps"))
            for gap in result[found]
        ]
        columns = "values that meet", "state", things[1], "share", "interval", "missing"
        draw(Table(title, columns, rows)) if rows else print(visible(title))
        hidden = result["found"] + result["unsure"] - len(rows)
        if hidden:
            print(f"and {hidden:,} more, see --most and --json")
        if result["unsure"]:
            print(f"cannot tell: {unsure(result)}")


def plans(parts: Mapping[str | None, Mapping[str, Any]], things: Sequence[str]) -> None:
    """Print plans in words, with what they close.

    Args:
        parts: What `planned` returned, by value of the attribute that divides the records; None for
            all records.
        things: What a record is called, one and several.
    """
    for name, result in parts.items():
        if name is not None:
            print(f"{visible(name)}:")
        for line in result["words"]:
            print(visible(f"- {line}"))
        if not result["words"]:
            print("There is no gap to fill.")
            continue
        print(
            f"{result['records']:,} {things[result['records'] != 1]}"
            f" ({'the least' if result['proven'] else 'not proven to be the least'})"
        )
        rows = [
            (words(gap["pattern"]), *(number(gap[key]) for key in ("before", "after", "needed")))
            for gap in result["closes"]
        ]
        draw(Table("", ("gap", "before", "after", "asked for"), rows))
        _evenness(result["evenness"])
        if result["left"]:
            print(f"{result['left']:,} more special gaps stay")


def _evenness(states: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    """Print how even the groups are before and after a plan."""
    rows = [
        (
            name,
            *(
                f"{score(value)} → {score(states['after'][name][key])}"
                for key, value in own.items()
            ),
        )
        for name, own in states["before"].items()
    ]
    draw(Table("", ("1 is even", "balance", "gap", "spread"), rows))


def _likeness(found: Mapping[str, Any]) -> str:
    """How like the corpus written sentences are, in a line."""
    before, after, alone = found["before"], found["after"], found["alone"]
    whole = found["augmented"]
    return (
        f"words a sentence: {before['mean']:.1f} in the input, {found['written']['mean']:.1f}"
        f" written (JSD {alone['jsd']:.3f}, KS {alone['ks']:.3f}, p {alone['p']:.2g});"
        f" with them JSD {whole['jsd']:.4f}, KS {whole['ks']:.4f}, TTR {before['ttr']:.4f} →"
        f" {after['ttr']:.4f}, words that occur once {before['hapax']:.2%} → {after['hapax']:.2%}"
    )


def generated(parts: Mapping[str | None, Mapping[str, Any]]) -> None:
    """Print what was written, and what was not.

    Args:
        parts: What `generation.writing` said of its records, by value of the attribute that divides
            the records; None for all records.
    """
    for name, result in parts.items():
        title = f"{visible(name)}: " if name is not None else ""
        by = visible(result["model"])
        print(
            f"{title}{result['written']:,} of {result['wanted']:,} records written by {by},"
            f" from {result['asked']:,} candidates"
        )
        if result["likeness"] is not None:
            print(_likeness(result["likeness"]))
        for reason, count in result["rejected"].items():
            print(f"- rejected, {reason}: {count:,}")
        for reason, limit in result["limits"].items():
            if limit:
                said = ", ".join(f"{key} {_short(value)}" for key, value in limit.items())
                print(visible(f"- {reason} allowed: {said}"))
        for each in result["left"]:
            print(visible(f"- left {each['records']:,} with {each['words']}: {each['why']}"))


def _short(value: object) -> str:
    """A figure of a limit."""
    if isinstance(value, list):
        return " and ".join(map(_short, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
