"""Tables of coverage for people, from plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from evenflow.pipelines.terminal.lines import visible
from evenflow.pipelines.terminal.tables import console
from evenflow.transforms.measures.coverage.gaps import unsure, words


def gaps(parts: Mapping[str | None, Mapping[str, Any]], things: Sequence[str]) -> None:
    """Print gaps, the largest first.

    Args:
        parts: What `gaps.summary` returned, by value of the attribute that divides the records;
            None for all records.
        things: What a record is called, one and several.
    """
    out = console()
    for name, result in parts.items():
        title = f"{visible(name)}: " if name is not None else ""
        title += (
            f"{result['records']:,} {things[1]}, {result['found']:,} gaps below {result['tau']}"
        )
        if result["unsure"]:
            title += f"; cannot tell of {result['unsure']:,}"
        columns = "values that meet", "state", things[1], "share", "interval", "missing"
        table = Table(*columns, title=title)
        for column in table.columns[2:]:
            column.justify = "right"
        for state, gap in (
            *(("gap", gap) for gap in result["gaps"]),
            *(("cannot tell", gap) for gap in result["unsure_gaps"]),
        ):
            known = gap["share"] is not None
            table.add_row(
                visible(words(gap["pattern"])),
                state,
                f"{gap['records']:,}",
                f"{gap['share']:.2%}" if known else "",
                f"{gap['low']:.2%}–{gap['high']:.2%}" if known else "",
                f"{gap['missing']:,}",
            )
        if table.row_count:
            out.print(table)
        else:
            out.print(title)
        hidden = result["found"] + result["unsure"] - table.row_count
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
        greedy = result["greedy"]
        print(
            f"{result['records']:,} {things[result['records'] != 1]}, cost {result['cost']:g}"
            f" ({'the least' if result['proven'] else 'not proven to be the least'});"
            f" one gap after the other: {'no end' if greedy is None else f'{greedy:,}'}"
        )
        table = Table("gap", "before", "after", "asked for")
        for column in table.columns[1:]:
            column.justify = "right"
        for gap in result["closes"]:
            numbers = (f"{gap[key]:,}" for key in ("before", "after", "needed"))
            table.add_row(visible(words(gap["pattern"])), *numbers)
        console().print(table)
        _evenness(result["evenness"])
        if result["left"]:
            print(f"{result['left']:,} more special gaps stay")


def _evenness(states: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    """Print how even the groups are before and after a plan."""
    table = Table("1 is even", "balance", "gap", "spread")
    for name, before in states["before"].items():
        after = states["after"][name]
        table.add_row(
            visible(name), *(f"{value:.3f} → {after[key]:.3f}" for key, value in before.items())
        )
    console().print(table)


def _likeness(found: Mapping[str, Mapping[str, float]]) -> str:
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
        parts: What `generation.writing.told` returned, by value of the attribute that divides the
            records; None for all records.
    """
    for name, result in parts.items():
        title = f"{visible(name)}: " if name is not None else ""
        by = visible(result["model"])
        how = "by templates, without a language model" if result["prompt"] is None else f"by {by}"
        print(
            f"{title}{result['written']:,} of {result['wanted']:,} records written {how},"
            f" from {result['asked']:,} candidates"
        )
        if result["likeness"] is not None:
            print(_likeness(result["likeness"]))
        for reason, number in result["rejected"].items():
            print(f"- rejected, {reason}: {number:,}")
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
