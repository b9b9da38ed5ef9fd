"""Explains a verdict: the rule, what weighs most in the rolling window, what would open the gate.

The excess of the groups that are named too often is Σ (c_i − q_i n) over these groups: n mentions
times DR. It is a sum over mentions, so a document or a label has a share of it. The shares of a
window sum to 1. A document that names the other groups has a negative one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.gates.ledger.combine import add_sums
from evenflow.schemas.ledger import STATES, AttributeEntry, PaneEntry, State, Sums
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.representation.dr import score
from evenflow.transforms.measures.representation.people import doubted
from evenflow.transforms.measures.verdict import Thresholds
from evenflow.transforms.repair.calibration import Aim, Calibrator

Floats = npt.NDArray[np.float64]

MOST = 10  # documents and labels that are listed
DIGITS = 6
NOISE = 1e-9  # of sums of products, beside the greatest of them


@dataclass(frozen=True)
class Step:
    """What to do next, as the runbook says.

    Attributes:
        runbook: Name of its page in docs/runbooks.
        text: The step; {dir} and {pane} stand for the output and the pane.
    """

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
        "look at {dir}/checks/data_docs/index.html; repair the source, or change an expectation"
        " of your own that is too strict",
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


@dataclass(frozen=True)
class EarlierPanes:
    """What a verdict was made from, besides the pane.

    Attributes:
        panes: The earlier panes in the rolling window.
        sums: Their sums.
        previous: State of the pane before; None for the first.
    """

    panes: list[int]
    sums: Sums
    previous: State | None


def rule(entry: PaneEntry) -> tuple[str, str]:
    """Find which rule a pane's verdict comes from.

    Args:
        entry: The pane's entry.

    Returns:
        The rule's key in NEXT (empty where nothing is to do), and the rule in words.
    """
    state = entry.verdict.state
    if entry.reading is not None and entry.reading.state == "block":
        return "reading", "too little of the pane could be read (gate.most_dead)"
    if not entry.checks.success:
        return "checks", "a critical check of Great Expectations failed"
    if state == "too few":
        return "", "no attribute has enough mentions (gate.min_mentions)"
    if state == "open":
        return "", "every judged attribute is below its thresholds"
    if entry.asking is not None and entry.asking.state == state:
        return "asking", "the language model left too much unanswered (llm.most_fallbacks)"
    uneven = [name for name, each in entry.attributes.items() if each.verdict.state == state]
    others = registry.titled(entry.measures)
    uneven += [title for title, each in others.items() if each.verdict.state == state]
    uneven += ["benchmark"] if entry.benchmark and entry.benchmark.state == state else []
    return state, (
        f"{' and '.join(uneven)}: the lower bound of the rolling figure against the threshold of"
        f" {state}"
    )


def _least_share(row: Mapping[str, Any]) -> float:
    """By what labels are sorted, those of the greatest share first."""
    return -float(row["share"] or 0)


def limit_of(state: State, limits: Thresholds, previous: State | None) -> float:
    """The bound below which a pane is no longer in a state.

    Args:
        state: warn or block.
        limits: The attribute's thresholds.
        previous: State of the pane before.

    Returns:
        The threshold; with hysteresis, if the pane before was in the state.
    """
    threshold = limits.block if state == "block" else limits.warn
    lasting = previous is not None and STATES.index(previous) >= STATES.index(state)
    return limits.end(threshold) if lasting else threshold


def people_per_mention(each: AttributeEntry) -> Floats:
    """How many people a mention of each group of a pane stands for, (M,); 1 where words count."""
    if each.people is None:
        return np.ones(len(each.groups))
    words = np.array(each.people.words.counts, float)
    return np.array(each.sums.counts, float) / np.maximum(words, 1)


def attribute(
    each: AttributeEntry,
    window: EarlierPanes,
    limits: Thresholds,
    confidence: float,
    rows: PaneCounts,
    groups_of_labels: Mapping[str, int] | None,
    weight_limit: float,
) -> dict[str, Any]:
    """Explain an attribute's verdict.

    Args:
        each: The attribute's entry in the pane.
        window: The panes before.
        limits: The attribute's thresholds.
        confidence: Of the interval.
        rows: The pane's documents.
        groups_of_labels: The group of each label, by its number; None if the list is another one.
        weight_limit: The greatest weight that is tried (repair.weight_limit).

    Returns:
        verdict; rule (state and the bound below which it ends; None for open and too few); window
        (panes, and the rolling score); groups (mentions and share of the pane, share of the window,
        target); pane_share (the pane's part of the window's excess); labels and documents, each
        with its share of that excess; words (the score of all mentions of the pane, and passages
        read; None where words are counted); opens (what would end the state, `_opens`); unread.
        Where people are counted, shares and documents' counts are theirs: those of a document as
        a mention of its group has in the pane, those of a label by the first stage.
    """
    total = add_sums(window.sums, each.sums)
    target = np.array(each.target)
    all_mentions = np.array(total.counts, float)
    n = all_mentions.sum()
    over = all_mentions > target * n
    excess = float((all_mentions - target * n)[over].sum())
    drawn = over - target[over].sum()  # what a mention of each group adds to the excess

    def part(amount: float) -> float | None:
        return round(amount / excess, DIGITS) if excess > 0 else None

    own = rows.counts @ drawn
    order = np.argsort(-own, kind="stable")
    own_mentions = np.array(each.sums.counts, float)
    state = each.verdict.state
    held = state if state in ("warn", "block") else None
    limit = limit_of(held, limits, window.previous) if held else None
    return {
        "verdict": each.verdict.model_dump(),
        "rule": None if held is None else {"state": held, "ends_below": limit},
        "window": {"panes": window.panes, **each.rolling.model_dump()},
        "groups": [
            {
                "group": group,
                "mentions": each.sums.counts[i],
                "share": round(own_mentions[i] / own_mentions.sum(), DIGITS)
                if own_mentions.sum()
                else None,
                "window_share": round(all_mentions[i] / n, DIGITS) if n else None,
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
            for i in order[:MOST]
            if own[i] > 0
        ],
        "words": each.people
        and {
            **each.people.pane.model_dump(),
            "passages": each.people.passages,
        },
        "opens": _opens(total, each, rows, order[own[order] > 0], limit, limits, confidence)
        | _weighed(window.sums, each, rows, limit, limits, confidence, weight_limit)
        if limit is not None
        else {},
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
    return sorted(labels, key=_least_share)


def _is_out(
    total: Sums, each: AttributeEntry, limit: float, limits: Thresholds, confidence: float
) -> bool:
    """Whether a window with these sums is no longer in the state.

    People of a document are told by its words alone (`people_per_mention`), so what is left
    without some may be less than nothing: it is then nothing.
    """
    values, vectors = np.linalg.eigh(np.array(total.products, float))
    if min(*total.counts, values[0]) < -NOISE * max(values[-1], 1):
        products = (vectors * np.maximum(values, 0)) @ vectors.T
        total = Sums(
            documents=total.documents,
            counts=[max(0.0, count) for count in total.counts],
            products=products.tolist(),
        )
    doubt = 0.0 if each.people is None else each.people.doubt
    found = score(doubted(total, doubt), each.target, confidence)
    return found.mentions < limits.min_mentions or found.low is None or found.low < limit


def _least(holds: Any, most: int) -> int | None:
    """The least number from 1 to `most` that holds, by bisection; None if `most` does not."""
    if most < 1 or not holds(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _opens(
    total: Sums,
    each: AttributeEntry,
    rows: PaneCounts,
    order: npt.NDArray[np.intp],
    limit: float,
    limits: Thresholds,
    confidence: float,
) -> dict[str, Any]:
    """What would end the state: documents taken out, or mentions added elsewhere.

    Returns:
        documents: how many of those that weigh most would have to go, with their mentions, and
        whether too few would be left to judge; None if the state would last without all that
        weigh; mentions: how many of the groups that are named too seldom would have to come, in
        documents with one mention each; None if as many as make the window even would not do.
    """
    target = np.array(each.target)
    counts, products = np.array(total.counts, float), np.array(total.products, float)

    def without(number: int) -> bool:
        gone = rows.counts[order[:number]]
        left = Sums(
            documents=total.documents - number,
            counts=(counts - gone.sum(axis=0)).tolist(),
            products=(products - gone.T @ gone).tolist(),
        )
        return _is_out(left, each, limit, limits, confidence)

    some = target > 0
    even = max(float((counts[some] / target[some]).max()), counts.sum()) * target
    lacking = np.maximum(even - counts, 0)  # with this the window would be even
    share = lacking / max(lacking.sum(), 1)

    def with_more(number: int) -> bool:
        more = share * number
        fuller = Sums(
            documents=total.documents + number,
            counts=(counts + more).tolist(),
            products=(products + np.diag(more)).tolist(),
        )
        return _is_out(fuller, each, limit, limits, confidence)

    documents = _least(without, len(order))
    mentions = _least(with_more, int(np.ceil(lacking.sum())))
    return {
        "documents": None
        if documents is None
        else {
            "number": documents,
            "mentions": round(float(rows.counts[order[:documents]].sum()), 1),
            "too_few": bool(
                counts.sum() - rows.counts[order[:documents]].sum() < limits.min_mentions
            ),
        },
        "mentions": None
        if mentions is None
        else {
            "number": mentions,
            "groups": [name for name, lack in zip(each.groups, lacking, strict=True) if lack > 0],
        },
    }


def _weighed(
    before: Sums,
    each: AttributeEntry,
    rows: PaneCounts,
    limit: float,
    limits: Thresholds,
    confidence: float,
    weight_limit: float,
) -> dict[str, Any]:
    """Whether weights of the pane's documents would end the state.

    Returns:
        weights: the least and greatest weight, DR of the pane with them, its effective sample as a
        share of its documents, and whether they end the state; None without documents, and for a
        pane that has weights.
    """
    if not len(rows.counts) or each.unweighted is not None:
        return {"weights": None}
    profiles, at, number = np.unique(rows.counts, axis=0, return_inverse=True, return_counts=True)
    documents = number.astype(float)
    aim = Aim("", profiles * documents[:, None], np.array(each.target), np.zeros(len(each.target)))
    found = Calibrator(documents, [aim], [], limit=weight_limit).calibrate()
    weights = np.asarray(found.weights, float)
    own = rows.counts * weights[at.reshape(-1), None]
    weighed = Sums(
        documents=len(own), counts=own.sum(axis=0).tolist(), products=(own.T @ own).tolist()
    )
    total = add_sums(before, weighed)
    return {
        "weights": {
            "least": round(float(weights.min()), 3),
            "greatest": round(float(weights.max()), 3),
            "dr": round(aim.dr(weights) or 0.0, DIGITS),
            "effective": round(float(found.effective), 3),
            "ends": _is_out(total, each, limit, limits, confidence),
        }
    }
