"""What the report tells of repair: scores before and after, what was barred and why, substitutions; and of stereotypes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from typing import Any

from evenflow.schemas.ledger import PaneEntry, Substitution, Sums
from evenflow.transforms.representation import add, score

MOST = 12  # substitutions that the report names
SHOWN = 6  # strong stereotypes that it shows


def repair(name: str, entries: Sequence[PaneEntry], confidence: float) -> dict[str, Any] | None:
    """An attribute's repair over all panes; None where none was asked for.

    before, after: cumulative scores (ledger.Score). sets: mentions that hang together, and what became of them: changed,
    left (eligible, but the plan did not need them) and barred by reason, the most frequent first. reduced: by how much of
    itself DR fell.
    """
    seen = [entry.attributes[name] for entry in entries if entry.attributes[name].repair is not None]
    done = [each.repair for each in seen if each.repair is not None]
    if not done:
        return None
    target = seen[-1].target
    before = score(reduce(add, (each.before for each in done)), target, confidence)
    after = score(reduce(add, (each.sums for each in seen)), target, confidence)
    barred: Counter[str] = Counter()
    for each in done:
        barred.update(each.barred)
    changed, eligible = sum(each.changed for each in done), sum(each.eligible for each in done)
    return {
        "mode": done[-1].mode,
        "strictness": done[-1].strictness,
        "before": before.model_dump(),
        "after": after.model_dump(),
        "counts_before": _total([each.before for each in done]),
        "reduced": round(1 - after.dr / before.dr, 6) if before.dr and after.dr is not None else None,
        "sets": sum(each.sets for each in done),
        "eligible": eligible,
        "changed": changed,
        "left": max(eligible - changed, 0),
        "barred": [
            {"reason": reason, "sets": count} for reason, count in sorted(barred.items(), key=lambda row: (-row[1], row[0]))
        ],
        "sentences": sum(each.sentences for each in done),
        "documents": sum(each.documents for each in done),
        "copies": sum(each.copies for each in done),
        "shortage": [round(sum(column), 6) for column in zip(*(each.shortage for each in done), strict=True)],
        "weights": _weights([each.weights for each in done if each.weights is not None]),
        "substitutions": _substitutions([each for one in done for each in one.substitutions]),
    }


def stereotypes(name: str, entries: Sequence[PaneEntry]) -> dict[str, Any] | None:
    """What was found of stereotypes of an attribute's groups over all panes; None where nobody looked."""
    found = [each for entry in entries if (each := entry.attributes[name].stereotypes) is not None]
    if not found:
        return None
    sums = {key: sum(getattr(each, key) for each in found) for key in ("asked", "unsure", "potential", "strong", "kept")}
    examples = [example for each in found for example in each.examples]
    examples.sort(key=lambda each: (-float(each["score"]), str(each["id"]), str(each["sentence"])))
    return {
        "policy": found[-1].policy,
        "threshold": found[-1].threshold,
        "cut": found[-1].cut,
        **sums,
        "examples": examples[:SHOWN],
    }


def _total(sums: Sequence[Sums]) -> list[float]:
    return list(reduce(add, sums).counts)


def _weights(found: Sequence[tuple[float, float]]) -> list[float] | None:
    return [min(low for low, _ in found), max(high for _, high in found)] if found else None


def _substitutions(found: Sequence[Substitution]) -> list[dict[str, Any]]:
    """The most frequent, summed over the panes, each with its first example. A pane keeps its most frequent ones alone."""
    first: dict[tuple[str, str, str], Substitution] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    for each in found:
        key = (each.said, each.instead, each.target)
        first.setdefault(key, each)
        counts[key] += each.count
    often = sorted(counts, key=lambda key: (-counts[key], key))[:MOST]
    return [first[key].model_dump() | {"count": counts[key]} for key in often]
