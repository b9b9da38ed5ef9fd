"""The figures of the report, as in report.json.

They are a pure function of the ledger: the same ledger gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from evenflow.gates.hold import HoldEvent
from evenflow.gates.ledger.reviews import Review
from evenflow.gates.ledger.spans import Span
from evenflow.gates.ledger.totals import AttributeTotals, Totals
from evenflow.pipelines.pages.report.repairs import repair
from evenflow.pipelines.terminal.summaries import measures, status
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import AttributeEntry, PaneEntry
from evenflow.transforms.measures import registry

VERSION = 2  # of the format of report.json


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

    Args:
        totals: The sums of the ledger.
        panes: The panes that are listed one by one: all, or the last ones.
        meta: What ledger/meta.json holds; None where there is none. Without its configuration
            there are no thresholds.
        held: Why the gate is held; None: it is not.
        words: The holds and releases that people gave.
        groups: Groups of neighbouring panes, where there are too many panes to list.
        reviews: The decisions of people on panes.

    Returns:
        The content of report.json.
    """
    config = configuration(meta)
    common = status(totals, bool(meta and meta.get("finished")), held)
    data = common | {
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
        "reviews": [each.model_dump() for each in reviews],
        "by_pane": [pane(entry) for entry in panes],
        "groups": [each.model_dump() for each in groups],
        "configuration": (meta or {}).get("configuration"),
    }
    return registry.place(measures(totals, in_status=False), data)


def configuration(meta: dict[str, Any] | None) -> Config | None:
    """Read the configuration of a run.

    Args:
        meta: What ledger/meta.json holds; None where there is none.

    Returns:
        The configuration; None where there is none, or one of another version.
    """
    try:
        return Config.model_validate((meta or {}).get("configuration"))
    except ValidationError:
        return None


def dead_by_reason(totals: Totals) -> list[dict[str, Any]]:
    """Count dead letters by reason, the most frequent first.

    Args:
        totals: The sums of the ledger.

    Returns:
        Rows of reason, count, in_panes (number of panes with such letters) and panes (the last of
        these panes, with their counts).
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
    """Sum what asking a language model cost over all panes.

    Args:
        totals: The sums of the ledger.

    Returns:
        By prompt the figures of `llm.client.stats.Stats`; empty where no model was asked.
    """
    if not totals.llm:
        return {}
    from evenflow.transforms.llm.client.stats import Stats  # an optional part of the installation

    return {name: Stats.from_json(each).as_json() for name, each in sorted(totals.llm.items())}


def attribute(name: str, total: AttributeTotals, config: Config | None) -> dict[str, Any]:
    """Collect the figures of an attribute over all panes.

    Args:
        name: The attribute.
        total: Its sums.
        config: The configuration; None: not known, then there are no thresholds.

    Returns:
        groups: Of each group mentions, share and target.
        mentions, documents, relevant_sentences: Sums.
        thresholds: warn and block.
        convergence: After how many documents that name the attribute the cumulative interval was
            and stayed within ± epsilon, and the pane that completed them; null: not yet.
        labels, label_mentions: Mentions by label, and their sum. A pane keeps only its most
            frequent labels, so the sum may be below mentions. Where people are counted, people is
            the share of a label's mentions in the last pane that name people.
        heavy: The documents with the most mentions; exact, since each pane keeps as many.
        repair: What was done; null where it was not asked for.
        people: Scores of all mentions beside those of people, scores of people against other
            shares, and passages read in the last pane; null where words are counted.
    """
    counts = total.sums.counts
    mentions = sum(counts)
    warn, block = config.thresholds(name) if config else (None, None)
    people = total.last.people
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
        "convergence": [each.model_dump() for each in total.convergence],
        "labels": [
            {"label": label, "mentions": count} | _people_of(label, total.last)
            for label, count in sorted(total.labels.items(), key=lambda row: (-row[1], row[0]))
        ],
        "label_mentions": sum(total.labels.values()),
        "heavy": [each.model_dump() for each in total.heavy],
        "repair": repair(total, config.gate.confidence if config else 0.95),
        "people": people.model_dump(include={"pane", "cumulative", "passages", "against"})
        if people
        else None,
    }


def _people_of(label: str, last: AttributeEntry) -> dict[str, float]:
    """The share of a label's mentions that name people; empty where that is not known."""
    mentions = last.labels.get(label)
    if last.people is None or not mentions:
        return {}
    return {"people": round(last.people.labels.get(label, 0.0) / mentions, 3)}


def pane(entry: PaneEntry) -> dict[str, Any]:
    """Collect the figures of a pane: what was decided and why, its files and its scores.

    Args:
        entry: The pane's entry.

    Returns:
        The pane's item of by_pane.
    """
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
        "removed": entry.removed.model_dump() if entry.removed else None,
        "sentence_table": entry.sentence_table.model_dump() if entry.sentence_table else None,
        "attributes": {name: _scores(each) for name, each in entry.attributes.items()},
        **_measures(entry),
    }


def _measures(entry: PaneEntry) -> dict[str, Any]:
    """What measures found in a pane, by name; None of one that ships and is off."""
    found = registry.records(entry)
    sections = {
        name: each.of_pane(found[name]) if name in found else None
        for name, each in registry.measures(entry.measures).items()
        if each.in_panes
    }
    return registry.place(sections, {})


def _scores(each: AttributeEntry) -> dict[str, Any]:
    """The scores of an attribute of a pane."""
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
