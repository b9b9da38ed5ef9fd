"""The sentences of the page, for readers who do not know DR and panes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from evenflow.gates.ledger.spans import Span
from evenflow.pipelines.pages.report.text import NAME, counted, listed, named, outside
from evenflow.pipelines.pages.report.view import drawn
from evenflow.pipelines.terminal.summaries import by_language, lost, outside_columns, taken_out

HEADLINES = {"too few": "Too few", "open": "Open", "warn": "Warn", "block": "Block"}
FEW_GROUPS = 3  # whose shares a sentence can name one by one


def headline(figures: dict[str, Any]) -> str:
    """Name the state of a run in a word; figures: of report.json."""
    return HEADLINES[figures["state"]] if figures["panes"] else "Empty"


def run_sentences(figures: dict[str, Any]) -> list[Markup]:
    """Explain the state of a run.

    Args:
        figures: Those of report.json.

    Returns:
        The sentences.
    """
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
    for each in (taken_out(figures), outside_columns(figures), by_language(figures)):
        if each is not None:
            out.append(Markup("{}.").format(outside(each, 400)))
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
    """How many panes were blocked, and why."""
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
    """How the panes of a run without a blocked one passed."""
    panes, warned = figures["panes"], figures["states"]["warn"]
    head = Markup(
        "The only pane was let through" if panes == 1 else f"All {panes:,} panes were let through"
    )
    if not warned:
        if figures["states"]["too few"] == panes:
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
    """`gender in 3` for each attribute that was in a state; of a single pane the name alone."""
    seen = [(named(name), each["panes"][state]) for name, each in figures["attributes"].items()]
    return [
        name if figures["panes"] == 1 else Markup("{} in {:,}").format(name, count)
        for name, count in seen
        if count
    ]


def attribute_sentence(each: dict[str, Any], panes: int) -> Markup:
    """Say how often each group is named.

    Args:
        each: An attribute of report.json with at least one mention.
        panes: Number of panes.

    Returns:
        The sentences.
    """
    groups = sorted(each["groups"], key=lambda row: -row["mentions"])
    mentions = counted(round(each["mentions"]), "mention")  # weighted ones are no whole number
    head = Markup(f"Of {mentions} in {counted(each['documents'], 'document')}, ")
    targets = {row["target"] for row in groups}
    wanted = f" The target is {_percent(targets.pop())} each." if len(targets) == 1 else ""
    parts = [
        Markup("{} name {}").format(_percent(row["share"]), named(row["group"])) for row in groups
    ]
    extremes = Markup("{}, the most, and {}, the least").format(parts[0], parts[-1])
    shares = listed(parts) if len(groups) <= FEW_GROUPS else extremes
    return head + shares + "." + wanted + _unjudged(each["panes"]["too few"], panes)


def _unjudged(unjudged: int, panes: int) -> str:
    """How many panes could not be judged; empty where all could."""
    if not unjudged:
        return ""
    if unjudged == panes:
        return " There were too few mentions to judge any pane; such a pane is let through."
    return (
        f" {unjudged:,} of the {panes:,} panes had too few mentions to be judged; such a pane is"
        " let through."
    )


def chart_description(name: str, each: dict[str, Any], panes: Sequence[Span]) -> str:
    """Describe the chart of an attribute's DR for readers who cannot see it.

    Args:
        name: The attribute.
        each: Its figures, as in report.json.
        panes: The panes that are drawn, or groups of them.

    Returns:
        A sentence.
    """
    scores = [own.rolling for one in panes if (own := one.attributes.get(name)) is not None]
    last = next((value for value in reversed(scores) if value is not None), None)
    ends = "no score" if last is None else f"{last:.3f}"
    limits = [
        Markup(f"{state} at {value:g}")
        for state, value in each["thresholds"].items()
        if value is not None
    ]
    thresholds = f"; thresholds: {listed(limits)}" if limits else ""
    return (
        f"DR of {name[:NAME]} over {counted(drawn(panes), 'pane')}: the rolling score ends at"
        f" {ends}{thresholds}."
    )


def convergence_sentence(row: dict[str, Any]) -> str:
    """Say when the cumulative interval became narrower than a bound.

    Args:
        row: An item of an attribute's convergence.

    Returns:
        The end of a sentence.
    """
    if row["documents"] is not None:
        return f"since pane {row['pane']:,}, {counted(row['documents'], 'document')}"
    if row["projected"] is None:
        return "not known: there is no interval"
    return f"not yet; needs about {_rounded(row['projected'])} documents"


def _rounded(count: int) -> str:
    """A projection with two significant digits; more would not be justified."""
    return f"{float(f'{count:.1e}'):,.0f}"


def _percent(share: float) -> str:
    """A share (0..1) in per cent; only 0 reads 0."""
    return (
        f"{100 * share:.1f}".removesuffix(".0") + "\N{NO-BREAK SPACE}%"
        if share == 0 or share >= 0.0005
        else "less than 0.1 %"
    )
