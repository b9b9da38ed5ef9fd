"""What the page shows beside the charts: verdict tiles, spells of panes not open, and labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from evenflow.gates.ledger.spans import Span, merged
from evenflow.pipelines.pages.report.text import counted, moment
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import BAD, STATES, State
from evenflow.schemas.plugins import PluginError
from evenflow.wordlists import loader

MOST_TILES = 400  # tiles of one pane each; of more panes, neighbours share a tile
LARGE_TILES = 60  # up to here a tile has room for its mark at a comfortable size
TOP_LABELS = 10  # labels shown of a group
TITLE_REASON = 300  # characters of a reason in a tile's title


@dataclass(frozen=True)
class Tile:
    """A pane, or neighbouring panes, in the strip of verdicts.

    Attributes:
        first: The first pane.
        last: The last pane.
        state: The gravest state.
        title: The tooltip.
    """

    first: int
    last: int
    state: State
    title: str


@dataclass(frozen=True)
class Spell:
    """Neighbouring panes with the same state for the same causes.

    Attributes:
        first: The first pane.
        last: The last pane.
        panes: How many panes.
        state: The state.
        causes: The causes.
        folder: The folder that the first pane's files are in.
        at: The pane where the state was gravest.
        reason: The reason of that pane.
    """

    first: int
    last: int
    panes: int
    state: State
    causes: tuple[str, ...]
    folder: str
    at: int
    reason: str


@dataclass(frozen=True)
class LabelBar:
    """A label of a bar chart.

    Attributes:
        label: The label.
        mentions: Its mentions.
        width: The length of its bar, in per cent.
        people: The share of its mentions in the last pane that name people of its group; None where
            people are not counted.
    """

    label: str
    mentions: int
    width: float
    people: float | None = None


@dataclass(frozen=True)
class LabelGroup:
    """The labels of a group that were mentioned most.

    Attributes:
        group: The group; empty where the word list is missing.
        index: Number of the group, for its colour.
        bars: The labels, the most mentioned first.
        others: Number of labels that are not shown.
    """

    group: str
    index: int
    bars: tuple[LabelBar, ...]
    others: int


def tiles(panes: Sequence[Span]) -> list[Tile]:
    """Compute the strip of verdicts.

    Args:
        panes: Panes, or groups of panes.

    Returns:
        At most MOST_TILES tiles.
    """
    each = math.ceil(len(panes) / MOST_TILES) if panes else 1
    return [_tile(merged(panes[i : i + each])) for i in range(0, len(panes), each)]


def tens(strip: Sequence[Tile]) -> list[Sequence[Tile]]:
    """Split the strip into tens, so that a reader can count panes."""
    return [strip[i : i + 10] for i in range(0, len(strip), 10)]


def _tile(span: Span) -> Tile:
    """The tile of a pane or a group."""
    if span.panes == 1:
        when = f" from {moment(span.time)} UTC" if span.time is not None else ""
        cut = "…" if len(span.reason) > TITLE_REASON else ""
        title = f"Pane {span.first:,}{when}: {span.state}. {span.reason[:TITLE_REASON]}{cut}"
    else:
        seen = ", ".join(f"{span.states[one]} {one}" for one in STATES if one in span.states)
        title = f"Panes {span.first:,} to {span.last:,}: {seen}"
    return Tile(span.first, span.last, span.state, title)


def spells(panes: Sequence[Span]) -> list[Spell]:
    """Merge neighbouring panes that were not open for the same causes.

    Args:
        panes: Panes, or groups of panes, in order.

    Returns:
        The spells, in order.
    """
    return [
        _spell(list(run))
        for (state, _), run in groupby(panes, lambda each: (each.state, each.causes))
        if state in BAD
    ]


def _spell(run: list[Span]) -> Spell:
    """Neighbours of one state and cause as a spell."""
    worst = max(run, key=lambda each: each.weight)
    first, last = run[0], run[-1]
    return Spell(
        first.first,
        last.last,
        drawn(run),
        first.state,
        first.causes,
        first.folder,
        worst.at,
        worst.reason,
    )


def label_groups(name: str, figures: dict[str, Any], config: Config | None) -> list[LabelGroup]:
    """List the labels of an attribute by group, the most mentioned first.

    The ledger does not have the groups of labels. They come from the word list, if that agrees with
    the ledger.

    Args:
        name: The attribute.
        figures: Its figures, as in report.json.
        config: The configuration, which names the word list; None: not known.

    Returns:
        The groups; one without a name where the groups of labels are not known; none without
        labels.
    """
    if not figures["labels"]:
        return []
    longest = figures["labels"][0]["mentions"]
    known = _groups_of_labels(name, figures, config)
    named = {row["label"]: row.get("people") for row in figures["labels"]}
    rows: list[list[tuple[str, int]]] = [[] for _ in figures["groups"]] if known else [[]]
    for row in figures["labels"]:
        rows[known[row["label"]] if known else 0].append((row["label"], row["mentions"]))
    top = TOP_LABELS if known else 3 * TOP_LABELS
    return [
        LabelGroup(
            figures["groups"][i]["group"] if known else "",
            i,
            tuple(
                LabelBar(label, count, 100 * count / longest, named.get(label))
                for label, count in found[:top]
            ),
            max(len(found) - top, 0),
        )
        for i, found in enumerate(rows)
    ]


def _groups_of_labels(
    name: str, figures: dict[str, Any], config: Config | None
) -> dict[str, int] | None:
    """The number of each label's group; None where the word list is missing or another one."""
    if config is None or name not in config.attributes:
        return None
    try:
        words = config.word_list(name)
    except (loader.WordListError, PluginError, OSError):
        return None  # the user's list or plug-in has been deleted since the run
    groups = [row["group"] for row in figures["groups"]]
    sums = [0] * len(groups)
    for row in figures["labels"]:
        if row["label"] not in words.labels or list(words.groups) != groups:
            return None
        sums[words.labels[row["label"]]] += row["mentions"]
    agrees = all(some <= row["mentions"] for some, row in zip(sums, figures["groups"], strict=True))
    return words.labels if agrees else None


def spell_name(spell: Spell) -> str:
    """Format the panes of a spell: `3` or `3 – 17`."""
    return f"{spell.first:,}" if spell.first == spell.last else f"{spell.first:,} – {spell.last:,}"


def strip_label(panes: Sequence[Span]) -> str:
    """Describe the strip of tiles for readers who cannot see it; panes: those that are drawn."""
    sums = {one: sum(each.states.get(one, 0) for each in panes) for one in STATES}
    return f"{counted(drawn(panes), 'pane')}: " + ", ".join(
        f"{count:,} {one}" for one, count in sums.items()
    )


def drawn(panes: Sequence[Span]) -> int:
    """Number of panes in neighbouring groups."""
    return panes[-1].last - panes[0].first + 1 if panes else 0
