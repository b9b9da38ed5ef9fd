"""Explains a verdict: the rule, the sources, and what weighs most in the rolling window.

The excess of the groups that are named too often is Σ (c_i − q_i n) over these groups: n mentions
times DR. It is a sum over mentions, so a document or a label has a share of it. The shares of a
window sum to 1. A document that names the other groups has a negative one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.gates.ledger.combine import add_sums
from evenflow.gates.ledger.spans import causes
from evenflow.schemas.ledger import AttributeEntry, PaneEntry, Sums
from evenflow.schemas.words import Table, counted, dr_of, number, percent, said

Floats = npt.NDArray[np.float64]

MOST = 10  # documents and labels that are listed
DIGITS = 6


@dataclass(frozen=True)
class Step:
    """What to do next, as the runbook says."""

    runbook: str
    text: str


NEXT = {
    "reading": Step(
        "dead_letters",
        "look at the dead letters (evenflow gate ls {dir} --folder dead-letter --pane {pane}),"
        " repair the source or fields.text, and run it into a new output",
    ),
    "checks": Step(
        "checks_failed",
        "look at what did not hold; repair the source, or change an expectation of your own that"
        " is too strict",
    ),
    "asking": Step("llm_fallbacks", "look at the language model's server, and why it was silent"),
    "block": Step(
        "dr_block",
        "read the documents that weigh most. Is the text wrong: repair the source; the pane stays"
        " in quarantine. Is it right: evenflow gate accept {dir} --pane {pane} --reason '…'",
    ),
    "warn": Step(
        "dr_warn", "read the documents that weigh most; the pane was accepted with a warning"
    ),
    "shift_block": Step(
        "shift_block",
        "look what changed in all sources. Is it wrong: repair them; the pane stays in quarantine."
        " Is it right: evenflow gate accept {dir} --pane {pane} --reason '…', and make the"
        " reference again",
    ),
    "shift_warn": Step(
        "shift_warn",
        "look what changed at the source; evenflow gate ls {dir} --folder quarantine --pane {pane}"
        " names the documents that were set aside, if any. Is it right: make the reference again",
    ),
}


PRUNED = (
    "the pane's documents were pruned: it can be neither read nor accepted any more. To judge them"
    " anew, run their input into a new output"
)


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


RULES = {
    "reading": "too little of the pane could be read (gate.most_dead)",
    "checks": "a critical check of Great Expectations failed",
    "asking": "the language model left too much unanswered (llm.most_fallbacks)",
    "not_judged": "no attribute has enough mentions (gate.min_mentions)",
    "open": "every judged attribute is below its thresholds",
}


def rule(entry: PaneEntry) -> tuple[str, str]:
    """Find which rule a pane's verdict comes from.

    Returns:
        The rule's key in NEXT (empty where nothing is to do), and the rule in words.
    """
    state, found = entry.verdict.state, causes(entry)
    if not found:
        return "", RULES.get(state, entry.verdict.reason)
    if key := next((each for each in ("reading", "checks", "asking") if each in found), ""):
        return key, RULES[key]
    if found == ("shift",):
        return f"shift_{state}", (
            f"the lower bound of the shift from what sources were, against gate.shift.{state}"
        )
    return state, (
        f"{' and '.join(found)}: the lower bound of the rolling figure against the threshold of"
        f" {state}"
    )


def sources(entry: PaneEntry) -> list[dict[str, Any]]:
    """List the sources that were off in a pane, all judged ones together, and the new ones.

    Returns:
        For each source and attribute: source, attribute, state, documents of its window, and groups
        with the shares that were expected and observed.
    """
    found: Any = entry.measures.get("shift")
    if found is None:
        return []
    judged = [("all judged sources", name, each) for name, each in found.attributes.items()]
    judged += [
        (source, name, each)
        for source, own in found.off.items()
        if source in found.strata
        for name, each in own.items()
    ]
    rows: list[dict[str, Any]] = [
        {
            "source": source,
            "attribute": name,
            "state": each.state,
            "documents": each.documents,
            "groups": list(
                zip(entry.attributes[name].groups, each.expected, each.observed, strict=True)
            ),
        }
        for source, name, each in judged
        if name in entry.attributes
    ]
    new: dict[str, Any] = {"attribute": "", "state": "new", "groups": []}
    return rows + [
        {"source": source, "documents": number, **new} for source, number in found.learning.items()
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
) -> dict[str, Any]:
    """Explain an attribute's verdict.

    Args:
        each: The attribute's entry in the pane.
        earlier: The earlier panes in the rolling window, with their sums.
        groups_of_labels: The group of each label, by its number; None if the list is another one.

    Returns:
        verdict; window (panes, and the rolling score); groups (mentions and share of the pane,
        share of the window, target); pane_share (the pane's part of the window's excess); labels
        and documents, each with its share of that excess; words (the score of all mentions of the
        pane, and passages read; None where words are counted); unread.
        Where people are counted, shares and documents' counts are theirs: those of a document as
        a mention of its group has in the pane, those of a label by the first stage.
    """
    total = reduce(add_sums, earlier.values(), each.sums)
    target = np.array(each.target)
    all_mentions = np.array(total.counts, float)
    n = all_mentions.sum()
    over = all_mentions > target * n
    excess = float((all_mentions - target * n)[over].sum())
    drawn = over - target[over].sum()  # what a mention of each group adds to the excess

    def part(amount: float, of: float = excess) -> float | None:
        return round(amount / of, DIGITS) if of > 0 else None

    own = rows.counts @ drawn
    own_mentions = np.array(each.sums.counts, float)
    return {
        "verdict": each.verdict.model_dump(),
        "window": {"panes": list(earlier), **each.rolling.model_dump()},
        "groups": [
            {
                "group": group,
                "mentions": each.sums.counts[i],
                "share": part(own_mentions[i], own_mentions.sum()),
                "window_share": part(all_mentions[i], n),
                "target": each.target[i],
            }
            for i, group in enumerate(each.groups)
        ],
        "pane_share": part(float(own_mentions @ drawn)),
        "labels": _labels(each, groups_of_labels or {}, drawn, part)[:MOST],
        "documents": [
            {
                "id": rows.ids[i],
                "counts": [round(float(one), 3) for one in rows.counts[i]],
                "share": part(float(own[i])),
            }
            for i in np.argsort(-own, kind="stable")[:MOST]
            if own[i] > 0
        ],
        "words": each.people
        and {
            **each.people.pane.model_dump(),
            "passages": each.people.passages,
        },
        "unread": rows.unread,
    }


def _labels(
    each: AttributeEntry,
    groups_of_labels: Mapping[str, int],
    drawn: npt.NDArray[np.float64],
    part: Callable[[float], float | None],
) -> list[dict[str, Any]]:
    """The labels of a pane, those with the greatest share of the excess first."""
    counted = each.labels if each.people is None else each.people.labels
    labels: list[dict[str, Any]] = [
        {
            "label": label,
            "group": each.groups[group],
            "mentions": count,
            "share": part(counted.get(label, 0.0) * drawn[group]),
        }
        | ({} if each.people is None else {"people": counted.get(label, 0.0)})
        for label, count in each.labels.items()
        if (group := groups_of_labels.get(label)) is not None
    ]
    return sorted(labels, key=lambda row: -float(row["share"] or 0))


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Say why a pane was judged as it was; found: what `report.why.why` returned."""
    yield f"rule: {found['rule']}"
    if found["removed"]:
        yield f"set aside: {found['removed']}"
    for each in found["failures"]:
        words = f"{each['expectation']}, {each['subject']}: {each['observed']}"
        yield f"check failed ({each['severity']}): {words}"
    for reason, count in found["dead_reasons"].items():
        yield f"{counted(count, 'dead letter')}: {reason}"
    if found["next"]:
        yield f"next: {found['next']} ({found['runbook']})"


def source_table(found: Mapping[str, Any]) -> Table:
    """The sources of a pane beside what they were."""
    columns = ("source", "attribute", "group", "expected", "observed", "documents", "state")
    rows = [
        (row["source"], row["attribute"], group, percent(expected), percent(observed), *tail)
        for row in found["sources"]
        for tail in [(number(row["documents"]), said(row["state"]))]
        for group, expected, observed in row["groups"] or [("", None, None)]
    ]
    return Table("sources beside what they were", columns, rows)


def attribute_lines(name: str, each: Mapping[str, Any]) -> Iterator[str]:
    """Say what an attribute's verdict was made from; each: what `attribute` returned."""
    window, words = each["window"], each["words"]
    yield f"{name}: {said(each['verdict']['state'])} ({each['verdict']['reason']})"
    yield (
        f"rolling DR {dr_of(window)}, with the accepted"
        f" panes before it: {', '.join(map(str, window['panes'])) or 'none'};"
        f" {percent(each['pane_share'])} of the excess is this pane's"
    )
    if words is not None:
        yield (
            f"people are counted; all {words['mentions']:,} mentions of the pane would have DR"
            f" {dr_of(words)}; {counted(words['passages'], 'passage')} read"
        )
    yield from (f"{line}; its documents are missing here" for line in each["missing"])


def attribute_tables(name: str, each: Mapping[str, Any]) -> Iterator[Table]:
    """The groups of a pane, and the labels that weigh most."""
    yield Table(
        f"{name}: groups of the pane",
        ("group", "mentions", "share", "of window", "target"),
        [
            (
                row["group"],
                number(row["mentions"]),
                *(percent(row[key]) for key in ("share", "window_share", "target")),
            )
            for row in each["groups"]
        ],
    )
    people = () if each["words"] is None else ("people",)
    labels = [
        (
            row["label"],
            row["group"],
            *(number(row[key]) for key in ("mentions", *people)),
            percent(row["share"]),
        )
        for row in each["labels"]
    ]
    columns = ("label", "group", "mentions", *people, "of the excess")
    yield from [Table(f"{name}: labels that weigh most", columns, labels)] if labels else []
