"""What the page says in sentences: the state of the run and of an attribute, for people who know
neither DR nor panes.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from evenflow.pipelines.report.text import counted, listed, outside
from evenflow.pipelines.terminal.summaries import lost

HEADLINES = {"open": "Open", "warn": "Warn", "block": "Block"}
FEW_GROUPS = 3  # whose shares a sentence can name one by one
NAME = 24  # characters of a name within a sentence


def headline(figures: dict[str, Any]) -> str:
    """The state in a word. figures: of report.json."""
    return HEADLINES[figures["state"]] if figures["panes"] else "Empty"


def run_sentences(figures: dict[str, Any]) -> list[Markup]:
    """What the state of the run means, a sentence each. figures: of report.json."""
    if not figures["panes"]:
        return [Markup("Nothing has been judged yet: the ledger holds no pane.")]
    out = [Markup("{}.").format(outside(each[0].upper() + each[1:], 300)) for each in lost(figures)]
    out.append(_blocked(figures) if figures["blocked_panes"] else _let_through(figures))
    if dead := figures["dead_letters"]:
        lies = "lies" if dead == 1 else "lie"
        out.append(
            Markup(
                f"{counted(dead, 'record')} could not be read and {lies} in dead-letter/ with the"
                " reason."
            )
        )
    if figures["held"] is not None:
        out.append(
            Markup("The gate is held until a person releases it: {}.").format(
                outside(figures["held"], 300)
            )
        )
    elif not figures["finished"]:
        out.append(Markup("The run has not finished; these are the figures so far."))
    return out


def _blocked(figures: dict[str, Any]) -> Markup:
    panes, blocked, failed = (
        figures["panes"],
        figures["blocked_panes"],
        figures["checks"]["panes_failed"],
    )
    uneven = _attributes_in(figures, "block")
    why = [Markup("too uneven ({})").format(Markup(", ").join(uneven))] if uneven else []
    why += [Markup(f"checks failed in {failed:,}")] if failed else []
    verb = "was" if blocked == 1 else "were"
    documents = f"{figures['quarantined']:,} of {counted(figures['documents'], 'document')}"
    head = Markup(
        f"{blocked:,} of {counted(panes, 'pane')} {verb} blocked and set aside in quarantine/, with"
        f" {documents}"
    )
    return head + (Markup(": ") + listed(why) if why else "") + "."


def _let_through(figures: dict[str, Any]) -> Markup:
    panes, warned = figures["panes"], figures["states"]["warn"]
    head = Markup(
        "The only pane was let through" if panes == 1 else f"All {panes:,} panes were let through"
    )
    if not warned:
        judged = any(each["unjudged"] < panes for each in figures["attributes"].values())
        if not judged:
            return (
                head
                + ", but not for being even: the text names the groups too seldom to be judged."
            )
        return (
            head
            + " without a warning: the text names the groups evenly enough for the thresholds that"
            " were set."
        )
    causes = Markup(", ").join(_attributes_in(figures, "warn"))
    often = "with a warning" if panes == 1 else f"{warned:,} of them with a warning"
    more = "the text names some groups more often than the target asks, but not enough to block."
    return (
        head + Markup(", {} ({}): {}").format(often, causes, more)
        if causes
        else head + f", {often}."
    )


def _attributes_in(figures: dict[str, Any], state: str) -> list[Markup]:
    """`gender in 3` for the attributes that were in a state; the bare name where there is one pane
    alone.
    """
    seen = [
        (outside(name, NAME), each["panes"][state]) for name, each in figures["attributes"].items()
    ]
    return [
        name if figures["panes"] == 1 else Markup("{} in {:,}").format(name, count)
        for name, count in seen
        if count
    ]


def attribute_sentence(each: dict[str, Any], panes: int) -> Markup:
    """Who is named how often. each: an attribute of report.json, with at least one mention."""
    groups = sorted(each["groups"], key=lambda row: -row["mentions"])
    head = Markup(
        f"Of {counted(each['mentions'], 'mention')} in {counted(each['documents'], 'document')}, "
    )
    targets = {row["target"] for row in groups}
    wanted = f" The target is {_percent(targets.pop())} each." if len(targets) == 1 else ""
    named = [
        Markup("{} name {}").format(_percent(row["share"]), outside(row["group"], NAME))
        for row in groups
    ]
    extremes = Markup("{}, the most, and {}, the least").format(named[0], named[-1])
    said = listed(named) if len(groups) <= FEW_GROUPS else extremes
    return head + said + "." + wanted + _unjudged(each["unjudged"], panes)


def _unjudged(unjudged: int, panes: int) -> str:
    if not unjudged:
        return ""
    if unjudged == panes:
        return " There were too few mentions to judge any pane; one that cannot be judged is open."
    return (
        f" {unjudged:,} of the {panes:,} panes had too few mentions to be judged; such a pane is"
        " open."
    )


def chart_description(name: str, each: dict[str, Any], panes: int) -> str:
    """What the chart of an attribute's DR shows, for who cannot see it."""
    last = each["rolling"]
    ends = "no score" if last["dr"] is None else f"{last['dr']:.3f}"
    limits = [
        Markup(f"{state} at {value:g}")
        for state, value in each["thresholds"].items()
        if value is not None
    ]
    said = f"; thresholds: {listed(limits)}" if limits else ""
    return (
        f"DR of {name[:NAME]} over {counted(panes, 'pane')}: the rolling score ends at"
        f" {ends}{said}."
    )


def convergence_sentence(row: dict[str, Any]) -> str:
    """When the cumulative interval became narrower than a bound. row: an item of an attribute's
    convergence.
    """
    if row["documents"] is not None:
        return f"since pane {row['pane']:,}, {counted(row['documents'], 'document')}"
    if row["projected"] is None:
        return "not known: there is no interval"
    return f"not yet; needs about {_rounded(row['projected'])} documents"


def _rounded(count: int) -> str:
    """Two digits that count: a projection knows no more."""
    return f"{float(f'{count:.1e}'):,.0f}"


def _percent(share: float) -> str:
    return (
        f"{100 * share:.1f}".removesuffix(".0") + "\N{NO-BREAK SPACE}%"
        if share == 0 or share >= 0.0005
        else "less than 0.1 %"
    )
