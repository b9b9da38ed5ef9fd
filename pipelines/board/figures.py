"""The figures of the report, as in report.json: a pure function of the ledger, so that the same ledger gives the same bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from pydantic import ValidationError

from evenflow.gates.hold import Word
from evenflow.pipelines.board.repairs import repair, stereotypes
from evenflow.pipelines.summaries import status
from evenflow.schemas.config import Config
from evenflow.schemas.documents import HEAVY, summed
from evenflow.schemas.ledger import STATES, AttributeEntry, Heavy, PaneEntry, State
from evenflow.transforms.representation import documents_until

VERSION = 1  # of report.json's form
EPSILONS = (0.02, 0.01)  # half widths of DR's interval that the report looks for, beside the configuration's own


def figures(
    entries: Sequence[PaneEntry], meta: dict[str, Any] | None, held: str | None = None, words: Sequence[Word] = ()
) -> dict[str, Any]:
    """The run in figures: those of `gate status`, and of each attribute and pane what the page draws.

    meta: ledger/meta.json, None where there is none; without a configuration there are no thresholds. held: why the gate
    stands still. words: the holds and releases that people gave.
    """
    config = configuration(meta)
    common = status(entries, bool(meta and meta.get("finished")), held)
    return common | {
        "version": VERSION,
        "states": states(entry.verdict.state for entry in entries),
        "input_bytes": sum(entry.input_bytes for entry in entries),
        "text_bytes": sum(entry.text_bytes for entry in entries),
        "sentences": sum(entry.sentences for entry in entries),
        "dead_by_reason": dead_by_reason(entries),
        "checks": checks(entries),
        "llm": llm(entries),
        "attributes": {name: each | attribute(name, entries, config) for name, each in common["attributes"].items()},
        "words": [word.model_dump() for word in words],
        "by_pane": [pane(entry) for entry in entries],
        "configuration": (meta or {}).get("configuration"),
    }


def configuration(meta: dict[str, Any] | None) -> Config | None:
    """The run's configuration; None where the ledger has none, or one of another version."""
    try:
        return Config.model_validate((meta or {}).get("configuration"))
    except ValidationError:
        return None


def states(seen: Iterable[str]) -> dict[str, int]:
    """How often each state occurs, those that do not as well."""
    counted = Counter(seen)
    return {state: counted[state] for state in STATES}


def gravity(state: State) -> int:
    """0 open, 1 warn, 2 block."""
    return STATES.index(state)


def dead_by_reason(entries: Sequence[PaneEntry]) -> list[dict[str, Any]]:
    """Dead letters by reason, the most frequent first: how many, and which panes' files they are in."""
    panes: dict[str, dict[int, int]] = {}
    for entry in entries:
        for reason, count in entry.dead_reasons.items():
            panes.setdefault(reason, {})[entry.pane] = count
    rows = [
        {"reason": reason, "count": sum(seen.values()), "panes": [{"pane": n, "count": seen[n]} for n in sorted(seen)]}
        for reason, seen in panes.items()
    ]
    return sorted(rows, key=lambda row: (-row["count"], row["reason"]))


def checks(entries: Sequence[PaneEntry]) -> dict[str, Any]:
    """How many checks were evaluated, in how many panes a critical one failed, and each failure with its pane."""
    return {
        "evaluated": sum(entry.checks.evaluated for entry in entries),
        "panes_failed": sum(not entry.checks.success for entry in entries),
        "failures": [{"pane": entry.pane, **failure.model_dump()} for entry in entries for failure in entry.checks.failures],
    }


def llm(entries: Sequence[PaneEntry]) -> dict[str, Any]:
    """What asking a language model cost over all panes, by prompt (inference_stats.Stats); empty where none was asked."""
    total: dict[str, Any] = {}
    for entry in entries:
        cost = {name: {key: value for key, value in each.items() if key != "seconds"} for name, each in (entry.llm or {}).items()}
        total = summed(total, cost)
    if not total:
        return {}
    from evenflow.transforms.llm.inference_stats import Stats  # it is there wherever a model was asked

    return {name: Stats.from_json(each).as_json() for name, each in sorted(total.items())}


def attribute(name: str, entries: Sequence[PaneEntry], config: Config | None) -> dict[str, Any]:
    """An attribute over all panes: shares against the target, thresholds, convergence, labels and documents that weigh most.

    unjudged: panes that are open because there was too little to judge. labels: mentions a label, summed over the panes.
    Each pane keeps its most frequent labels, so label_mentions, their sum, may fall short of mentions.
    """
    seen = [entry.attributes[name] for entry in entries]
    counts = [sum(column) for column in zip(*(each.sums.counts for each in seen), strict=True)]
    total = sum(counts)
    labels: Counter[str] = Counter()
    for each in seen:
        labels.update(each.labels)
    warn, block = config.thresholds(name) if config else (None, None)
    return {
        "groups": [
            {"group": group, "mentions": count, "share": round(count / total, 6) if total else None, "target": target}
            for group, count, target in zip(seen[-1].groups, counts, seen[-1].target, strict=True)
        ],
        "mentions": total,
        "documents": sum(each.sums.documents for each in seen),
        "relevant_sentences": sum(each.relevant_sentences for each in seen),
        "thresholds": {"warn": warn, "block": block},
        "unjudged": sum(not judged(each, config.gate.min_mentions if config else 0) for each in seen),
        "convergence": convergence(name, entries, _epsilons(config)),
        "labels": [
            {"label": label, "mentions": count} for label, count in sorted(labels.items(), key=lambda row: (-row[1], row[0]))
        ],
        "label_mentions": labels.total(),
        "heavy": heavy(name, entries),
        "repair": repair(name, entries, config.gate.confidence if config else 0.95),
        "stereotypes": stereotypes(name, entries),
    }


def judged(each: AttributeEntry, few: int) -> bool:
    """Whether a verdict rests on evidence: not on fewer mentions than `few`, and on an interval."""
    return each.verdict.state != "open" or (each.rolling.mentions >= few and each.rolling.low is not None)


def _epsilons(config: Config | None) -> list[float]:
    return sorted({*EPSILONS, *([config.measure.epsilon] if config else [])}, reverse=True)


def heavy(name: str, entries: Sequence[PaneEntry]) -> list[dict[str, Any]]:
    """The documents with the most mentions of an attribute, and their panes; exact, since each pane keeps as many."""
    rows: list[tuple[int, Heavy]] = [(entry.pane, each) for entry in entries for each in entry.attributes[name].heavy]
    rows.sort(key=lambda row: -sum(row[1].counts))
    return [{"pane": number, **each.model_dump()} for number, each in rows[:HEAVY]]


def convergence(name: str, entries: Sequence[PaneEntry], epsilons: Iterable[float]) -> list[dict[str, Any]]:
    """After how many documents the cumulative DR's interval was, and stayed, within +-epsilon (representation.Convergence).

    documents are those that name the attribute; pane: the one that completed them, null where it has not come to that.
    """
    course = [(entry.pane, entry.attributes[name].cumulative) for entry in entries]
    rows = []
    for epsilon in epsilons:
        found = asdict(documents_until([score for _, score in course], epsilon))
        reached = found["documents"]
        number = None if reached is None else next(number for number, score in course if score.documents >= reached)
        rows.append(found | {"pane": number})
    return rows


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
    }
