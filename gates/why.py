"""Explains a verdict: the rule, the sources, and what weighs most in the rolling window.

The excess of the groups that are named too often is Σ (c_i − q_i n) over these groups: n mentions
times DR. It is a sum over mentions, so a document or a label has a share of it. The shares of a
window sum to 1. A document that names the other groups has a negative one. An excess that
chance alone gives, or of less than a mention, has no shares: they would be of any size.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, reduce
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml
from pydantic import Field

from evenflow.gates.facts import GroupFacts
from evenflow.gates.ledger.combine import add_sums
from evenflow.gates.ledger.spans import causes
from evenflow.schemas.ledger import (
    BAD,
    AttributeEntry,
    CheckFailure,
    Entry,
    PaneEntry,
    Score,
    Sums,
    Verdict,
)
from evenflow.schemas.words import Table, counted, dr_of, number, percent, ranges, said
from evenflow.transforms.measures.verdict import UNSET

Floats = npt.NDArray[np.float64]

MOST = 10  # documents, labels and sources that are listed
DIGITS = 6


class WindowFacts(Score):
    """The rolling score, and the earlier panes that are in it."""

    panes: list[int]


class WordFacts(Score):
    """The score of all mentions of a pane, and the passages that were read."""

    passages: int


class WeighedGroup(GroupFacts):
    """A group of a pane, with its share of the window."""

    window_share: float | None


class WeighedLabel(Entry):
    """A label of a pane, with its share of the window's excess.

    Attributes:
        people: Mentions that name people of the group, by the first stage; None where words count.
    """

    label: str
    group: str
    mentions: int
    share: float | None
    people: float | None = Field(None, exclude_if=lambda value: value is None)


class Marked(Entry):
    """Where a label is in a passage, and its group."""

    start: int
    end: int
    group: str


class WeighedDocument(Entry):
    """A document of a pane: its mentions by group, its share of the excess, and a passage."""

    id: str
    counts: list[float]
    share: float | None
    passage: str = ""
    labels: list[Marked] = Field(default_factory=list[Marked])


class AttributeWhy(Entry):
    """Why an attribute of a pane was judged as it was.

    Attributes:
        pane_share: The pane's part of the window's excess.
        source: The source of which labels and documents are, beside what it was; None: of the pane.
        words: None where words are counted.
        unread: Files that could not be read.
        missing: Why, in sentences.
        less: That weights make the attribute named less, in a sentence.
    """

    verdict: Verdict
    window: WindowFacts
    groups: list[WeighedGroup]
    pane_share: float | None
    labels: list[WeighedLabel]
    documents: list[WeighedDocument]
    words: WordFacts | None
    unread: list[str]
    missing: list[str] = Field(default_factory=list[str])
    less: str | None = Field(default=None, exclude_if=lambda value: value is None)
    source: str | None = None


class Source(Entry):
    """A source that was off, all judged ones together, or one of which too little is known.

    Attributes:
        documents: Documents of its window.
        groups: Groups with the shares that were expected and observed.
    """

    source: str
    attribute: str
    state: str
    documents: int
    groups: list[tuple[str, float, float]]


class Why(Entry):
    """Why a pane was judged as it was.

    Attributes:
        output: Of all panes what waits for a decision, was set aside, or moved, in words; where
            no pane was named.
        decided: What a person decided on the pane, in words.
        failures: Of checks.
        removed: The documents that were set aside so that the pane is not blocked, in words.
        attributes: Those of the verdict, or all if it comes from none.
        runbook: Its address; None: nothing is to do.
    """

    output: list[str] = Field(default_factory=list[str], exclude_if=operator.not_)
    pane: int
    verdict: Verdict
    decided: str | None = Field(default=None, exclude_if=operator.not_)
    rule: str
    failures: list[CheckFailure]
    dead_reasons: dict[str, int]
    removed: str | None
    sources: list[Source]
    attributes: dict[str, AttributeWhy]
    runbook: str | None
    next: str | None


@dataclass
class PaneCounts:
    """The documents of a pane that name an attribute, D of them.

    Attributes:
        ids: Their ids (D,).
        counts: Their mentions (D, M), weighted where the pane is.
        unread: Files that could not be read; their documents are missing here.
    """

    ids: list[str]
    counts: Floats
    unread: list[str] = field(default_factory=list[str])


@cache
def kinds() -> dict[str, dict[str, str]]:
    """What a verdict may come from: rule, runbook and next step of each, as the file has them."""
    return yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


def rule(entry: PaneEntry) -> tuple[str, str]:
    """Find which rule a pane's verdict comes from.

    Returns:
        The rule's key in `kinds`, and the rule in words.
    """
    state, found = entry.verdict.state, causes(entry)
    if state in BAD and not found:
        return "", entry.verdict.reason
    key = next((each for each in ("reading", "checks", "asking") if each in found), str(state))
    if found == ("shift",):
        key = _shift_key(entry)
    if key == "open":
        return key, "; ".join(_as_it_should(entry))
    return key, kinds()[key]["rule"].replace("{causes}", " and ".join(found))


def _as_it_should(entry: PaneEntry) -> Iterator[str]:
    """What an open pane was judged by."""
    found: Any = entry.measures.get("shift")
    known = [] if found is None else [name for name in found.strata if name not in found.learning]
    if known:
        names = ", ".join([*known[:MOST], *["…"] * (len(known) > MOST)])
        yield f"{counted(len(known), 'source')} below the limit of a shift ({names})"
    states = {name: each.verdict for name, each in entry.attributes.items()}
    unset = [name for name, each in states.items() if each.reason.endswith(UNSET)]
    below = [n for n, each in states.items() if each.state == "open" and n not in unset]
    other = f"DR of {', '.join(unset)}: {UNSET}" if unset else "DR is not judged"
    yield f"DR of {', '.join(below)} is below its thresholds" if below else other


def _shift_key(entry: PaneEntry) -> str:
    """The rule of a shift: where its sources alone are set aside, the rest has but a warning."""
    found: Any = entry.measures["shift"]
    return "shift_aside" if found.aside else f"shift_{found.verdict.state}"


def shifted(entry: PaneEntry) -> dict[str, tuple[str, Any]]:
    """The source that is off the most in a pane whose verdict is a shift's, by attribute."""
    found: Any = entry.measures.get("shift")
    worst: dict[str, tuple[str, Any]] = {}
    for source, own in found.off.items() if causes(entry) == ("shift",) else ():
        for name, each in own.items():
            known = worst.get(name)
            # Of block and warn, block comes first
            if known is None or (each.state, -each.shift) < (known[1].state, -known[1].shift):
                worst[name] = source, each
    return worst


def sources(entry: PaneEntry, decided: str | None = None) -> list[Source]:
    """List the sources that were off in a pane, all judged ones together, and those not judged.

    Args:
        decided: What a person decided on what was blocked; None: nobody has.
    """
    found: Any = entry.measures.get("shift")
    if found is None:
        return []
    judged = {source: own for source, own in found.off.items() if source in found.strata}
    judged = {f"all {'others' if judged else 'judged sources'}": found.attributes} | judged
    off = [
        Source(
            source=source,
            attribute=name,
            state=decided if decided and each.state == "block" else each.state,
            documents=each.documents,
            groups=[*zip(entry.attributes[name].groups, each.expected, each.observed, strict=True)],
        )
        for source, own in judged.items()
        for name, each in own.items()
        if name in entry.attributes
    ]
    return off + [
        Source(source=source, attribute="", state="not_judged", documents=count, groups=[])
        for source, count in found.learning.items()
    ]


def people_per_mention(each: AttributeEntry) -> Floats:
    """How many people a mention of each group of a pane stands for, (M,); 1 where words count."""
    if each.people is None:
        return np.ones(len(each.groups))
    words = np.array(each.people.words.counts, float)
    return np.array(each.sums.counts, float) / np.maximum(words, 1)


def attribute(
    each: AttributeEntry,
    earlier: Mapping[int, Sums],
    rows: PaneCounts,
    groups_of_labels: Mapping[str, int] | None,
) -> AttributeWhy:
    """Explain an attribute's verdict.

    Where people are counted, shares and documents' counts are theirs: those of a document as a
    mention of its group has in the pane, those of a label by the first stage.

    Args:
        each: The attribute's entry in the pane.
        earlier: The earlier panes in the rolling window, with their sums.
        groups_of_labels: The group of each label, by its number; None if the list is another one.
    """
    total = reduce(add_sums, earlier.values(), each.sums)
    target = np.array(each.target)
    all_mentions = np.array(total.counts, float)
    n = all_mentions.sum()
    over = all_mentions > target * n
    excess = float((all_mentions - target * n)[over].sum())
    drawn = over - target[over].sum()  # what a mention of each group adds to the excess

    certain = excess > 1 and each.rolling.corrected != 0

    def part(amount: float, of: float = excess if certain else 0) -> float | None:
        return round(amount / of, DIGITS) if of > 0 else None

    own = rows.counts @ drawn
    own_mentions = np.array(each.sums.counts, float)
    people = None if each.people is None else each.people.labels
    weighed = each.labels if people is None else people
    labels = [
        WeighedLabel(
            label=label,
            group=each.groups[group],
            mentions=count,
            share=part(weighed.get(label, 0.0) * drawn[group]),
            people=None if people is None else people.get(label, 0.0),
        )
        for label, count in each.labels.items()
        if (group := (groups_of_labels or {}).get(label)) is not None
    ]
    return AttributeWhy(
        verdict=each.verdict,
        window=WindowFacts(panes=list(earlier), **each.rolling.model_dump()),
        groups=[
            WeighedGroup(**one.model_dump(), window_share=part(count, n))
            for one, count in zip(GroupFacts.of(each, each.sums), all_mentions, strict=True)
        ],
        pane_share=part(float(own_mentions @ drawn)),
        labels=sorted(labels, key=lambda row: (-float(row.share or 0), -row.mentions))[:MOST],
        documents=[
            WeighedDocument(
                id=rows.ids[i],
                counts=[round(float(one), 3) for one in rows.counts[i]],
                share=part(float(own[i])),
            )
            for i in map(int, np.argsort(-own, kind="stable")[:MOST])
            if certain and own[i] > 0
        ],
        words=each.people
        and WordFacts(**each.people.pane.model_dump(), passages=each.people.passages),
        unread=rows.unread,
    )


def lines(found: Why) -> Iterator[str]:
    """Say why a pane was judged as it was."""
    yield from [found.decided] if found.decided else []
    yield f"rule: {found.rule}"
    if found.removed:
        yield f"set aside: {found.removed}"
    for each in found.failures:
        words = f"{each.expectation}, {each.subject}: {each.observed}"
        yield f"check failed ({each.severity}): {words}"
    for reason, count in found.dead_reasons.items():
        yield f"{counted(count, 'dead letter')}: {reason}"
    if found.next:
        yield f"next: {found.next} ({found.runbook})"
    if any(row.state == "not_judged" for row in found.sources):
        yield "sources not judged: they are new, or the reference has too few of their documents"


def source_table(found: Why) -> Table:
    """The sources of a pane beside what they were."""
    columns = ("source", "attribute", "group", "expected", "observed", "documents", "state")
    rows = [
        (row.source, row.attribute, group, percent(expected), percent(observed), *tail)
        for row in found.sources
        for tail in [(number(row.documents), said(row.state))]
        for group, expected, observed in row.groups or [("", None, None)]
    ]
    return Table("sources beside what they were", columns, rows)


def attribute_lines(name: str, each: AttributeWhy) -> Iterator[str]:
    """Say what an attribute's verdict was made from."""
    yield f"{name}: {said(each.verdict.state)} ({each.verdict.reason})"
    if each.source is not None:
        yield f"below are documents of this pane of {each.source} alone, beside what was expected"
    else:
        yield (
            f"rolling DR {dr_of(each.window.model_dump())}, of this pane with the accepted"
            f" panes before it: {', '.join(ranges(each.window.panes)) or 'none'};"
            + (
                " nothing is left over, so nothing has a share of it"
                if each.pane_share is None
                else f" {percent(each.pane_share)} of the rolling excess is this pane's"
            )
        )
    if (words := each.words) is not None:
        yield (
            f"people are counted; all {words.mentions:,} mentions of the pane would have DR"
            f" {dr_of(words.model_dump())}; {counted(words.passages, 'passage')} read"
        )
    if each.less:
        yield each.less
    for what, listed in (("labels", each.labels), ("documents", each.documents)):
        if sum(row.share or 0 for row in listed) > 1:
            yield (
                f"mentions of the other groups offset a part: the listed {what} have more than all"
                " of the excess that is left"
            )
    yield from (f"{line}; its documents are missing here" for line in each.missing)


def attribute_tables(name: str, each: AttributeWhy) -> Iterator[Table]:
    """The groups of a pane, and the labels that weigh most."""
    groups = [
        (row.group, number(row.mentions), *map(percent, (row.share, row.window_share, row.target)))
        for row in each.groups
    ]
    of = "the pane" if each.source is None else each.source
    columns = ("group", "mentions", "share", "rolling share", "target")
    if each.source is not None:
        columns, groups = (*columns[:3], "expected"), [(*row[:3], row[4]) for row in groups]
    yield Table(f"{name}: groups of {of}", columns, groups)
    people = each.words is not None
    labels = [
        (row.label, row.group, *counts, percent(row.share))
        for row in each.labels
        for counts in [map(number, (row.mentions, row.people)[: 1 + people])]
    ]
    columns = ("label", "group", "mentions", *["people"] * people, "of the excess")
    yield from [Table(f"{name}: labels that weigh most", columns, labels)] if labels else []
