"""What the page shows beside the charts: verdict tiles, spells of panes not open, and labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from evenflow.gates.ledger.spans import Span, merged
from evenflow.pipelines.pages.report.text import moment
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import BAD, STATES
from evenflow.schemas.plugins import PluginError
from evenflow.schemas.words import counted, said
from evenflow.wordlists.loader import WordList, WordListError

MOST_TILES = 400  # tiles of one pane each; of more panes, neighbours share a tile
LARGE_TILES = 60  # up to here a tile has room for its mark at a comfortable size
TOP_LABELS = 20  # labels shown of an attribute
TITLE_REASON = 300  # characters of a reason in a tile's title


def tile_title(span: Span) -> str:
    """Describe a pane, or neighbouring panes, of the strip of verdicts."""
    if span.panes > 1:
        seen = ", ".join(f"{span.states[one]} {said(one)}" for one in STATES if one in span.states)
        return f"Panes {span.first:,} to {span.last:,}: {seen}"
    when = f" from {moment(span.time)} UTC" if span.time is not None else ""
    cut = "…" if len(span.reason) > TITLE_REASON else ""
    return f"Pane {span.first:,}{when}: {said(span.state)}. {span.reason[:TITLE_REASON]}{cut}"


def spells(panes: Sequence[Span]) -> list[Span]:
    """Merge neighbouring panes that were not open for the same causes."""
    return [
        merged(list(run))
        for (state, _), run in groupby(panes, lambda each: (each.state, each.causes))
        if state in BAD
    ]


def labels(
    name: str, figures: dict[str, Any], config: Config | None
) -> list[tuple[dict[str, Any], int | None]]:
    """List the labels of an attribute that are mentioned most, with the numbers of their groups.

    The ledger does not have the groups of labels. They come from the word list, if that agrees with
    the ledger; else they are None.

    `config`: The configuration, which names the word list; None: not known.
    """
    rows, groups = figures["labels"], [row["group"] for row in figures["groups"]]
    words = word_list(config, name, groups, [row["label"] for row in rows]) if config else None
    return [(row, words and words.labels[row["label"]]) for row in rows[:TOP_LABELS]]


def word_list(
    config: Config, name: str, groups: Sequence[str], labels: Iterable[str]
) -> WordList | None:
    """The attribute's word list; None if it is gone or another one than the ledger's."""
    with suppress(WordListError, PluginError, OSError, KeyError):
        words = config.word_list(name)
        if list(words.groups) == list(groups) and set(labels) <= words.labels.keys():
            return words
    return None


def strip_label(panes: Sequence[Span]) -> str:
    """Describe the strip of tiles for readers who cannot see it; panes: those that are drawn."""
    sums = {one: sum(each.states.get(one, 0) for each in panes) for one in STATES}
    return f"{counted(drawn(panes), 'pane')}: " + ", ".join(
        f"{count:,} {said(one)}" for one, count in sums.items()
    )


def drawn(panes: Sequence[Span]) -> int:
    """Number of panes in neighbouring groups."""
    return panes[-1].last - panes[0].first + 1 if panes else 0
