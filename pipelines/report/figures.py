"""The figures of the report, as in report.json: a pure function of the ledger, so that the same
ledger gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from evenflow.gates.hold import HoldEvent
from evenflow.gates.ledger.spans import Span
from evenflow.gates.ledger.totals import AttributeTotals, Totals
from evenflow.pipelines.report.repairs import repair
from evenflow.pipelines.terminal.summaries import status
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import AttributeEntry, PaneEntry

VERSION = 2  # of report.json's form


def figures(
    totals: Totals,
    panes: Sequence[PaneEntry],
    meta: dict[str, Any] | None,
    held: str | None = None,
    words: Sequence[HoldEvent] = (),
    groups: Sequence[Span] = (),
) -> dict[str, Any]:
    """The run in figures: those of `gate status`, and of each attribute and pane what the page
    draws.

    panes: those that are told one by one: all, or the last ones. meta: ledger/meta.json, None where
    there is none; without a configuration there are no thresholds. held: why the gate stands still.
    words: the holds and releases that people gave. groups: neighbouring panes, where there are too
    many to be told one by one.
    """
    config = configuration(meta)
    common = status(totals, bool(meta and meta.get("finished")), held)
    return common | {
        "version": VERSION,
        "states": totals.states,
        "input_bytes": totals.input_bytes,
        "text_bytes": totals.text_bytes,
        "sentences": totals.sentences,
        "dead_by_reason": dead_by_reason(totals),
        "checks": {
            "evaluated": totals.evaluated,
            "panes_failed": totals.panes_failed,
            "failed": totals.failures,
            "failures": [
                {"pane": pane, **failure.model_dump()} for pane, failure in totals.last_failures
            ],
        },
        "llm": llm(totals),
        "attributes": {
            name: each | attribute(name, totals.attributes[name], config)
            for name, each in common["attributes"].items()
        },
        "epochs": (meta or {}).get("epochs") or [],
        "words": [word.model_dump() for word in words],
        "by_pane": [pane(entry) for entry in panes],
        "groups": [each.model_dump() for each in groups],
        "configuration": (meta or {}).get("configuration"),
    }


def configuration(meta: dict[str, Any] | None) -> Config | None:
    """The run's configuration; None where the ledger has none, or one of another version."""
    try:
        return Config.model_validate((meta or {}).get("configuration"))
    except ValidationError:
        return None


def dead_by_reason(totals: Totals) -> list[dict[str, Any]]:
    """Dead letters by reason, the most frequent first: how many, in how many panes' files, and the
    last of these panes.
    """
    rows = [
        {
            "reason": reason,
            "count": each.count,
            "in_panes": each.panes,
            "panes": [{"pane": pane, "count": count} for pane, count in each.last.items()],
        }
        for reason, each in totals.dead_reasons.items()
    ]
    return sorted(rows, key=lambda row: (-row["count"], row["reason"]))


def llm(totals: Totals) -> dict[str, Any]:
    """What asking a language model cost over all panes, by prompt (inference_stats.Stats); empty
    where none was asked.
    """
    if not totals.llm:
        return {}
    from evenflow.transforms.llm.client.stats import Stats  # it is there wherever a model was asked

    return {name: Stats.from_json(each).as_json() for name, each in sorted(totals.llm.items())}


def attribute(name: str, total: AttributeTotals, config: Config | None) -> dict[str, Any]:
    """An attribute over all panes: shares against the target, thresholds, convergence, labels and
    documents that weigh most.

    unjudged: panes that are open because there was too little to judge. labels: mentions a label,
    summed over the panes. Each pane keeps its most frequent labels, so label_mentions, their sum,
    may fall short of mentions. convergence: after how many documents that name the attribute the
    cumulative interval was, and stayed, within +-epsilon, and the pane that completed them; null
    where it has not come to that. heavy: exact, since each pane keeps as many.
    """
    counts = total.sums.counts
    mentions = sum(counts)
    warn, block = config.thresholds(name) if config else (None, None)
    found = total.stereotypes
    return {
        "groups": [
            {
                "group": group,
                "mentions": count,
                "share": round(count / mentions, 6) if mentions else None,
                "target": target,
            }
            for group, count, target in zip(
                total.last.groups, counts, total.last.target, strict=True
            )
        ],
        "mentions": mentions,
        "documents": total.sums.documents,
        "relevant_sentences": total.relevant,
        "thresholds": {"warn": warn, "block": block},
        "unjudged": total.unjudged,
        "convergence": [each.model_dump() for each in total.convergence],
        "labels": [
            {"label": label, "mentions": count}
            for label, count in sorted(total.labels.items(), key=lambda row: (-row[1], row[0]))
        ],
        "label_mentions": sum(total.labels.values()),
        "heavy": [each.model_dump() for each in total.heavy],
        "repair": repair(total, config.gate.confidence if config else 0.95),
        "stereotypes": found.model_dump() if found is not None else None,
    }


def pane(entry: PaneEntry) -> dict[str, Any]:
    """A pane's line: what was decided and why, and its scores."""
    return {
        "pane": entry.pane,
        "state": entry.verdict.state,
        "reason": entry.verdict.reason,
        "folder": entry.folder,
        "documents": entry.documents,
        "dead": entry.dead,
        "input_bytes": entry.input_bytes,
        "epoch": entry.epoch,
        "stream": entry.stream.model_dump() if entry.stream else None,
        "shards": [shard.model_dump() for shard in entry.shards],
        "dead_letters": entry.dead_letters.model_dump() if entry.dead_letters else None,
        "set_aside": entry.set_aside.model_dump() if entry.set_aside else None,
        "sentence_table": entry.sentence_table.model_dump() if entry.sentence_table else None,
        "attributes": {name: _scores(each) for name, each in entry.attributes.items()},
    }


def _scores(each: AttributeEntry) -> dict[str, Any]:
    return {
        "state": each.verdict.state,
        "reason": each.verdict.reason,
        "mentions": each.pane.mentions,
        "pane": each.pane.dr,
        "rolling": [each.rolling.dr, each.rolling.low, each.rolling.high],
        "cumulative": [each.cumulative.dr, each.cumulative.low, each.cumulative.high],
        "stream": [each.stream.dr, each.stream.low, each.stream.high] if each.stream else None,
        "accepted": [each.accepted.dr, each.accepted.low, each.accepted.high]
        if each.accepted
        else None,
    }
