"""What the page shows beside the charts: verdict tiles, spells of panes that were not open, labels
by group.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from evenflow.gates.ledger.spans import Span, merged
from evenflow.pipelines.report.text import counted, moment
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import STATES, State
from evenflow.wordlists import loader

MOST_TILES = 400  # tiles of one pane each; of more panes, neighbours share a tile
LARGE_TILES = 60  # up to here a tile has room for its mark at a comfortable size
TOP_LABELS = 10  # labels shown of a group
TITLE_REASON = 300  # characters of a reason in a tile's title


@dataclass(frozen=True)
class Tile:
    """A pane, or neighbours from `first` on, in the strip of verdicts: the gravest state, and what
    a pointer is told.
    """

    first: int
    state: State
    title: str


@dataclass(frozen=True)
class Spell:
    """Neighbouring panes with the same state for the same causes. reason: of the pane where it was
    gravest, `at`.
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
    """A label with its mentions and the length of its bar in per cent."""

    label: str
    mentions: int
    width: float


@dataclass(frozen=True)
class LabelGroup:
    """The labels of a group that were mentioned most; group is empty where the word list is not at
    hand. index: its colour.
    """

    group: str
    index: int
    bars: tuple[LabelBar, ...]
    others: int


def tiles(panes: Sequence[Span]) -> list[Tile]:
    """The strip of verdicts, at most MOST_TILES."""
    each = math.ceil(len(panes) / MOST_TILES) if panes else 1
    return [_tile(merged(panes[i : i + each])) for i in range(0, len(panes), each)]


def tens(strip: Sequence[Tile]) -> list[Sequence[Tile]]:
    """The strip in tens, so that a pane can be counted out."""
    return [strip[i : i + 10] for i in range(0, len(strip), 10)]


def _tile(span: Span) -> Tile:
    if span.panes == 1:
        when = f" from {moment(span.time)} UTC" if span.time is not None else ""
        cut = "…" if len(span.reason) > TITLE_REASON else ""
        title = f"Pane {span.first:,}{when}: {span.state}. {span.reason[:TITLE_REASON]}{cut}"
    else:
        seen = ", ".join(f"{span.states[one]} {one}" for one in STATES if one in span.states)
        title = f"Panes {span.first:,} to {span.last:,}: {seen}"
    return Tile(span.first, span.state, title)


def spells(panes: Sequence[Span]) -> list[Spell]:
    """Panes that were not open, neighbours with the same state and causes as one."""
    return [
        _spell(list(run))
        for (state, _), run in groupby(panes, lambda each: (each.state, each.causes))
        if state != "open"
    ]


def _spell(run: list[Span]) -> Spell:
    worst = max(run, key=lambda each: each.weight)
    first, last = run[0], run[-1]
    panes = last.last - first.first + 1
    return Spell(
        first.first,
        last.last,
        panes,
        first.state,
        first.causes,
        first.folder,
        worst.at,
        worst.reason,
    )


def label_groups(name: str, figures: dict[str, Any], config: Config | None) -> list[LabelGroup]:
    """An attribute's labels by group, the most mentioned first; one list without a group where the
    groups are not known.

    The ledger has no label's group, so it comes from the word list, and only where that list agrees
    with the ledger.
    """
    if not figures["labels"]:
        return []
    longest = figures["labels"][0]["mentions"]
    known = _groups_of_labels(name, figures, config)
    rows: list[list[tuple[str, int]]] = [[] for _ in figures["groups"]] if known else [[]]
    for row in figures["labels"]:
        rows[known[row["label"]] if known else 0].append((row["label"], row["mentions"]))
    top = TOP_LABELS if known else 3 * TOP_LABELS
    return [
        LabelGroup(
            figures["groups"][i]["group"] if known else "",
            i,
            tuple(LabelBar(label, count, 100 * count / longest) for label, count in found[:top]),
            max(len(found) - top, 0),
        )
        for i, found in enumerate(rows)
    ]


def _groups_of_labels(
    name: str, figures: dict[str, Any], config: Config | None
) -> dict[str, int] | None:
    settings = config.attributes.get(name) if config else None
    if settings is None:
        return None
    try:
        words = loader.load(settings.wordlist or name)
    except (loader.WordListError, OSError):
        return None  # a list of the user's that has gone since the run
    groups = [row["group"] for row in figures["groups"]]
    sums = [0] * len(groups)
    for row in figures["labels"]:
        if row["label"] not in words.labels or list(words.groups) != groups:
            return None
        sums[words.labels[row["label"]]] += row["mentions"]
    agrees = all(some <= row["mentions"] for some, row in zip(sums, figures["groups"], strict=True))
    return words.labels if agrees else None


def spell_name(spell: Spell) -> str:
    """`3` or `3 – 17`."""
    return f"{spell.first:,}" if spell.first == spell.last else f"{spell.first:,} – {spell.last:,}"


def strip_label(figures: dict[str, Any]) -> str:
    """What the strip of tiles shows, for who cannot see it."""
    return f"{counted(figures['panes'], 'pane')}: " + ", ".join(
        f"{figures['states'][one]:,} {one}" for one in STATES
    )
