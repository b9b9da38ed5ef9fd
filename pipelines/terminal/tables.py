"""Tables for people, from the plain data of the summaries.

They fit in 80 columns, and none of their text is taken for markup.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evenflow.pipelines.terminal import weights
from evenflow.pipelines.terminal.lines import counted, visible
from evenflow.pipelines.terminal.summaries import (
    by_language,
    lost,
    opening,
    outside_columns,
    taken_out,
)
from evenflow.schemas.ledger import STATES
from evenflow.transforms.measures import registry

UNBOUNDED = 10_000  # columns: no table is as wide
SHOWN = 10  # numbers of blocked panes
STYLES = {"too few": "bright_black", "open": "green", "warn": "yellow", "block": "bold red"}


def console() -> Console:
    """Open standard output for tables.

    Returns:
        A console; where standard output is not a terminal, it is 80 columns wide and has no
        colours.
    """
    return Console(
        markup=False, highlight=False, emoji=False, width=None if sys.stdout.isatty() else 80
    )


def gate(status: Mapping[str, Any]) -> None:
    """Print the state of a gate.

    Args:
        status: What `summaries.status` returned.
    """
    out = console()
    for each in lost(status):
        out.print(Text(visible(each[0].upper() + each[1:]), "bold red"))
    if status["attributes"]:
        out.print(_scores(status["attributes"]))
    for line in _other_scores(status):
        print(visible(line))
    if status["blocked"]:
        last = status["blocked"][-SHOWN:]
        more = "… " * (status["blocked_panes"] > len(last))
        print(f"blocked: {more}{', '.join(map(str, last))}; `evenflow gate why` says why")
    if any(reviewed := status["reviewed"].values()):
        print("against the gate: {} accepted, {} rejected by people".format(*map(_panes, reviewed)))
    print(
        f"{counted(status['panes'], 'pane')}, {counted(status['documents'], 'document')}:"
        f" {status['accepted']:,} accepted, {status['quarantined']:,} in quarantine"
    )
    for measure, section in registry.sections(status):
        for line in measure.lines(section):
            print(visible(line))
    if asked := status["asking"]["questions"]:
        fallbacks = status["asking"]["fallbacks"]
        print(
            f"{counted(asked, 'question')} to the language model, {fallbacks:,} answered by the"
            " embedded one in its place"
        )
    for reason, count in status["dead_reasons"].items():
        print(f"{counted(count, 'dead letter')}: {visible(reason)}")
    reasons = "; ".join(_reasons(status))
    out.print(Text.assemble("gate: ", (status["state"], STYLES[status["state"]]), f" ({reasons})"))


def _scores(attributes: Mapping[str, Any]) -> Table:
    """A row of scores for each attribute."""
    table = Table(
        "attribute",
        "now",
        "rolling\nDR,\njudged",
        "interval",
        "cumulative\nDR",
        *(state.replace(" ", "\n") for state in STATES),
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for column in table.columns[1:]:  # a long name is wrapped, a figure never
        column.no_wrap = True
    for column in table.columns[-len(STATES) :]:
        column.justify = "right"
    for name, each in attributes.items():
        state = each["verdict"]["state"]
        table.add_row(
            visible(name),
            Text(state, STYLES[state]),
            *_score(each["rolling"]),
            _score(each["cumulative"])[0],
            *(str(each["panes"][one]) for one in STATES),
        )
    return table


def _reasons(status: Mapping[str, Any]) -> list[str]:
    """Why a gate is as it is."""
    reasons = [visible(status["reason"])]
    if status["held"]:
        reasons.append(
            "held" if status["reason"] in status["held"] else f"held: {visible(status['held'])}"
        )
    elif not status["finished"]:
        reasons.append("the run is not finished")
    return reasons


def _other_scores(status: Mapping[str, Any]) -> list[str]:
    """DR of each attribute before the repair, and of accepted/ where that is not everything.

    Then what the text names too rarely, what weights did, and what fits no column.
    """
    lines = []
    for name, each in status["attributes"].items():
        told = each["dr_before"] is None or status["weights"]
        others = [] if told else [f"{each['dr_before']:.4f} before repair"]
        if status["blocked_panes"] and each["accepted"] is not None:
            others.append(f"{' '.join(_score(each['accepted']))} of accepted/")
        if others:
            lines.append(f"{name}: cumulative DR {', '.join(others)}")
        if each["hardly_named"]:
            lines.append(f"{name}: {each['hardly_named']}")
    lines += weights.lines(status["weights"]) if status["weights"] else ()
    others = (taken_out(status), outside_columns(status), by_language(status))
    return [*lines, *(each for each in others if each is not None)]


def why(found: Mapping[str, Any]) -> None:
    """Print why a pane was judged as it was.

    Args:
        found: What `report.why.why` returned.
    """
    out, verdict = console(), found["verdict"]
    out.print(
        Text.assemble(
            f"pane {found['pane']}: ",
            (verdict["state"], STYLES[verdict["state"]]),
            f" ({visible(verdict['reason'])})",
        )
    )
    print(f"rule: {found['rule']}")
    if found["removed"]:
        print(f"set aside: {visible(found['removed'])}")
    for failure in found["failures"]:
        words = f"{failure['expectation']}, {failure['subject']}: {failure['observed']}"
        print(visible(f"check failed ({failure['severity']}): {words}"))
    for reason, count in found["dead_reasons"].items():
        print(f"{counted(count, 'dead letter')}: {visible(reason)}")
    for name, each in found["attributes"].items():
        _why_attribute(name, each, out)
    if found["next"]:
        print(visible(f"next: {found['next']} ({found['runbook']})"))


def _why_attribute(name: str, each: Mapping[str, Any], out: Console) -> None:
    """Print why an attribute was judged as it was."""
    window = each["window"]
    panes = ", ".join(map(str, window["panes"])) or "none"
    print(visible(f"\n{name}: {each['verdict']['state']} ({each['verdict']['reason']})"))
    dr, interval = _score(window)
    print(
        f"rolling DR {dr} {interval}, with the accepted panes before it: {panes};"
        f" {_part(each['pane_share'])} of the excess is this pane's"
    )
    table = Table("group", "mentions", "share", "of window", "target", title="groups of the pane")
    for row in each["groups"]:
        shares = (_part(row[key]) for key in ("share", "window_share", "target"))
        table.add_row(visible(row["group"]), f"{row['mentions']:,.0f}", *shares)
    out.print(table)
    words = each["words"]
    if words is not None:
        print(
            f"people are counted; all {words['mentions']:,} mentions of the pane would have DR"
            f" {' '.join(_score(words))}; {counted(words['passages'], 'passage')} read"
        )
    people = () if words is None else ("people",)
    labels = Table(
        "label", "group", "mentions", *people, "of the excess", title="labels that weigh most"
    )
    for row in each["labels"]:
        labels.add_row(
            visible(row["label"]),
            visible(row["group"]),
            f"{row['mentions']:,}",
            *(f"{row[key]:,.0f}" for key in people),
            _part(row["share"]),
        )
    if each["labels"]:
        out.print(labels)
    if each["documents"]:
        print("documents that weigh most, with their share of the excess:")
    for row in each["documents"]:
        out.print(Text.assemble(f"  {_part(row['share'])} ", (visible(row["id"]), "bold"), ": "))
        out.print(marked(row), soft_wrap=True)
    for line in opening(each):
        print(visible(line))
    for line in each["missing"]:
        print(visible(f"{line}; its documents are missing here"))


def marked(row: Mapping[str, Any]) -> Text:
    """A passage in one line, its labels in bold.

    Args:
        row: passage, and labels with their offsets in it.

    Returns:
        The text, indented.
    """
    text, at = Text("    "), 0
    for label in row["labels"]:
        text.append(visible(row["passage"][at : label["start"]]))
        text.append(visible(row["passage"][label["start"] : label["end"]]), "bold underline")
        at = label["end"]
    return text.append(visible(row["passage"][at:]))


def _part(share: float | None) -> str:
    """A share in per cent."""
    return "–" if share is None else f"{share:.1%}"


def measured(result: Mapping[str, Any]) -> None:
    """Print counts, shares and DR of each attribute.

    Args:
        result: What `summaries.measured` returned.
    """
    title = (
        f"{counted(result['documents'], 'document')}, {result['text_bytes'] / 1e6:,.1f} MB of text"
    )
    of_people = any("words" in each for each in result["attributes"].values())
    table = Table(
        "attribute",
        "group",
        "people" if of_people else "mentions",
        "share",
        "target",
        "DR",
        "interval",
        title=title,
    )
    for column in table.columns[2:5]:
        column.justify = "right"
    for number, (name, each) in enumerate(result["attributes"].items()):
        if number:
            table.add_section()
        targets = each["target"] or dict.fromkeys(each["counts"], 1 / len(each["counts"]))
        first = (visible(name), *_score(each))
        for group, count in each["counts"].items():
            share = each["shares"][group]
            figures = (
                f"{count:,.0f}",
                "" if share is None else f"{share:.1%}",
                f"{targets[group]:.1%}",
            )
            table.add_row(first[0], visible(group), *figures, *first[1:])
            first = ("", "", "")
    _framed(table)
    if languages := by_language(result):
        print(visible(languages))
    for name, each in result["attributes"].items():
        if sentence := _converged(each["convergence"]):
            print(visible(f"{name}: {sentence}"))
        if words := each.get("words"):
            dr, interval = _score(words)
            print(
                visible(
                    f"{name}: of {sum(words['counts'].values()):,} mentions about"
                    f" {sum(each['counts'].values()):,.0f} name people of their group"
                    f" ({counted(each['passages'], 'passage')} read); DR of all mentions: {dr}"
                    + (f", {interval}" if interval else "")
                )
            )
            against = [f"{of}: {' '.join(_score(row))}" for of, row in each["against"].items()]
            print(visible(f"{name}: DR of people against other shares: {', '.join(against)}"))
    for each, section in registry.sections(result):
        for line in each.lines(section):
            print(visible(line))


def _converged(convergence: Mapping[str, Any]) -> str:
    """After how many documents DR is known well enough; empty where that is unknown."""
    known = f"DR is known to ±{convergence['epsilon']:g}"
    if convergence["documents"] is not None:
        return f"{known} after {counted(convergence['documents'], 'document')} that name it"
    if convergence["projected"] is not None:
        return (
            f"not yet; {known} after about {_rounded(convergence['projected']):,} documents that"
            " name it"
        )
    return ""


def _rounded(number: int) -> int:
    """A number rounded to two digits."""
    return round(number, 2 - len(str(number)))


def lists(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print word lists with their groups and numbers of labels.

    Args:
        rows: Of each list its name, groups with their sizes, source, and whether it is measured by
            default.
    """
    table = Table("name", "groups (labels)", "source")
    for row in rows:
        groups = ", ".join(f"{group} ({size})" for group, size in row["groups"].items())
        name = f"{row['name']} *" if row["default"] else row["name"]
        table.add_row(visible(name), visible(groups), visible(row["source"]))
    console().print(table)


def plugins(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print plug-ins.

    Args:
        rows: What `schemas.plugins.listed` returned.
    """
    if not rows:
        print("no installed package declares a plug-in")
        return
    table = Table("kind", "name", "package", "place")
    for row in rows:
        kind = row["kind"].removeprefix("evenflow.")
        cells = (kind, row["name"], row["package"], row["place"])
        table.add_row(*map(visible, cells))
    console().print(table)
    for row in rows:
        if row["problem"]:
            print(visible(row["problem"]))


def labels_in_corpus(result: Mapping[str, Any]) -> None:
    """Print how often labels name people, the weakest label first, with examples of weak ones.

    Args:
        result: What `annotation.label_people.check` returned.
    """
    title = counted(result["documents"], "document")
    table = Table("label", "group", "mentions", "people", "interval", "DR without", title=title)
    for each in result["labels"]:
        dr = each["dr_without"]
        table.add_row(
            visible(each["label"]),
            visible(each["group"]),
            f"{each['mentions']:,}",
            f"{each['precision']:.0%}",
            f"{each['low']:.0%}–{each['high']:.0%}",
            "" if dr is None else f"{dr:.4f}",
        )
    _framed(table)
    for each in result["labels"]:
        for one in each["examples"] if each["precision"] < 0.5 else ():
            print(visible(f"{each['label']}, people {one['people']:.0%}: {one['text']}"))
    dr = {name: "none" if each is None else f"{each:.4f}" for name, each in result["dr"].items()}
    print(
        f"DR of all mentions {dr['words']}; of those that name people {dr['people']}; of all"
        f" mentions of labels that mostly name people {dr['without_weak']}"
    )


def _framed(table: Table) -> None:
    """Print a table; without its frame where the terminal is too narrow, so that no name is cut."""
    out = console()
    if out.measure(table, options=out.options.update(width=UNBOUNDED)).maximum > out.width:
        table.box, table.padding = box.SIMPLE_HEAD, (0, 0)
    out.print(table)


def _score(score: Mapping[str, Any]) -> tuple[str, str]:
    """DR and its interval as text."""
    if score["dr"] is None:
        return "no mention", ""
    return f"{score['dr']:.4f}", (
        "" if score["low"] is None else f"{score['low']:.3f}–{score['high']:.3f}"
    )


def _panes(number: int) -> str:
    """A number of panes."""
    return counted(number, "pane")
