"""The figures of the report, as in report.json.

They are a pure function of the ledger: the same ledger gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenflow.gates import facts
from evenflow.gates.hold import HoldEvent
from evenflow.gates.ledger.reviews import Review
from evenflow.gates.ledger.spans import Span
from evenflow.gates.ledger.totals import AttributeTotals, Totals
from evenflow.schemas.config import Config, recorded
from evenflow.schemas.ledger import AttributeEntry, PaneEntry
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.representation.dr import score

MOST = 12  # substitutions that the report names
VERSION = 4  # of the format of report.json
PEOPLE = {"pane", "cumulative", "passages", "against"}
SUMS = ("states", "input_bytes", "text_bytes", "sentences")
SCORES = {"verdict", "pane", "rolling", "cumulative", "stream", "accepted"}
FACTS = ("pane", "verdict", "folder", "documents", "dead", "input_bytes", "epoch", "stream")
FILES = ("removed", "shards", "dead_letters", "set_aside", "sentence_table")
OF_PANE: Any = dict.fromkeys((*FACTS, *FILES), True) | {"attributes": {"__all__": SCORES}}


def figures(
    totals: Totals,
    panes: Sequence[PaneEntry],
    meta: dict[str, Any] | None,
    held: str | None = None,
    words: Sequence[HoldEvent] = (),
    groups: Sequence[Span] = (),
    reviews: Sequence[Review] = (),
) -> dict[str, Any]:
    """Collect the figures of a run: those of `gate status`, and of each attribute and pane.

    `said` has the sentences of the page; report.json is without them.

    `held`: Why the gate is held; None: it is not.
    """
    config = recorded(meta)
    meta = meta or {}
    common = facts.of(totals, bool(meta.get("finished")), held, config)
    left_out = (meta.get("left_out") or {}).items()
    unread = {end: count for end, count in left_out if isinstance(count, int)}
    data = common.model_dump() | {
        "said": list(facts.answers(common)),
        "version": VERSION,
        **{key: getattr(totals, key) for key in SUMS},
        "dead_by_reason": dead_by_reason(totals),
        "checks": {
            "evaluated": totals.evaluated,
            "panes_failed": totals.panes_failed,
            "failed": totals.failures,
            "failures": [
                {"pane": at, **failure.model_dump()} for at, failure in totals.last_failures
            ],
        },
        "llm": llm(totals),
        "attributes": {
            name: each.model_dump() | attribute(name, totals.attributes[name], config)
            for name, each in common.attributes.items()
        },
        "epochs": meta.get("epochs") or [],
        "words": [word.model_dump() for word in words],
        "reviews": [each.model_dump() for each in reviews],
        "by_pane": [pane(entry) for entry in panes],
        "groups": [each.model_dump() for each in groups],
        "configuration": meta.get("configuration"),
    }
    return data | ({"left_out": unread} if unread else {})


def dead_by_reason(totals: Totals) -> list[dict[str, Any]]:
    """Count dead letters by reason, the most frequent first."""
    return [
        {
            "reason": reason,
            "count": each.count,
            "in_panes": each.panes,
            "panes": [{"pane": pane, "count": count} for pane, count in each.last.items()],
        }
        for reason, each in sorted(
            totals.dead_reasons.items(), key=lambda row: (-row[1].count, row[0])
        )
    ]


def llm(totals: Totals) -> dict[str, Any]:
    """Sum what asking a language model cost over all panes."""
    if not totals.llm:
        return {}
    from evenflow.transforms.llm.client.stats import Stats  # an optional part of the installation

    return {name: Stats.from_json(each).as_json() for name, each in sorted(totals.llm.items())}


def attribute(name: str, total: AttributeTotals, config: Config | None) -> dict[str, Any]:
    """Collect the figures of an attribute over all panes.

    `config`: The configuration; None: not known, then there are no thresholds.
    """
    warn, block = config.thresholds(name) if config else (None, None)
    people = total.last.people
    return {
        "mentions": sum(total.sums.counts),
        "documents": total.sums.documents,
        "relevant_sentences": total.relevant,
        "thresholds": {"warn": warn, "block": block},
        "convergence": [each.model_dump() for each in total.convergence],
        "labels": [
            {"label": label, "mentions": count} | _people_of(label, total.last)
            for label, count in sorted(total.labels.items(), key=lambda row: (-row[1], row[0]))
        ],
        "label_mentions": sum(total.labels.values()),
        "heavy": [each.model_dump() for each in total.heavy],
        "repair": repair(total, config.gate.confidence if config else 0.95),
        "people": people and people.model_dump(include=PEOPLE),
    }


def _people_of(label: str, last: AttributeEntry) -> dict[str, float]:
    """The share of a label's mentions that name people; empty where that is not known."""
    mentions = last.labels.get(label)
    if last.people is None or not mentions:
        return {}
    return {"people": round(last.people.labels.get(label, 0.0) / mentions, 3)}


def pane(entry: PaneEntry) -> dict[str, Any]:
    """Collect the figures of a pane: what was decided and why, its files and its scores."""
    found = registry.known(entry.measures)
    measures = {name: each.of_pane(record) for name, each, record in found if each.in_panes}
    return entry.model_dump(mode="json", include=OF_PANE) | {"measures": measures}


def repair(total: AttributeTotals, confidence: float) -> dict[str, Any] | None:
    """Collect the figures of an attribute's repair over all panes."""
    done = total.repair
    if done is None or total.repaired is None:
        return None
    before, after = (
        score(sums, total.last.target, confidence) for sums in (done.before, total.repaired)
    )
    often = sorted(
        done.substitutions, key=lambda each: (-each.count, each.said, each.instead, each.target)
    )[:MOST]
    left_out = {"before", "score_before", "expected_dr", "mentions", "substitutions"}
    return {
        "uncopied": {},
        **done.model_dump(exclude=left_out),
        "before": before.model_dump(),
        "after": after.model_dump(),
        "counts_before": list(done.before.counts),
        "reduced": None
        if not before.dr or after.dr is None
        else round(1 - after.dr / before.dr, 6),
        "left": max(done.eligible - done.changed, 0),
        "substitutions": [each.model_dump() for each in often],
    }
