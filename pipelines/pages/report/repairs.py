"""The figures of repair: scores before and after, sets that stay and why, substitutions."""

from __future__ import annotations

from typing import Any

from evenflow.gates.ledger.totals import AttributeTotals
from evenflow.transforms.measures.representation.dr import score

MOST = 12  # substitutions that the report names


def repair(total: AttributeTotals, confidence: float) -> dict[str, Any] | None:
    """Collect the figures of an attribute's repair over all panes.

    Args:
        total: The attribute's sums.
        confidence: Of the scores' intervals (0..1).

    Returns:
        None where no repair was asked for. Else, beside the settings and sums of the repair:
        before, after: Cumulative scores (`schemas.ledger.Score`).
        reduced: The relative reduction of DR; null where DR is 0 or not known.
        sets: Sets of mentions that belong together: of them eligible, changed, left (eligible, but
            the plan did not need them) and barred by reason, the most frequent first.
        judged: Exchanges that the encoder judged.
        substitutions: The most frequent ones, each with its first example. A pane keeps only its
            most frequent ones.
    """
    done = total.repair
    if done is None or total.repaired is None:
        return None
    target = total.last.target
    before, after = (
        score(done.before, target, confidence),
        score(total.repaired, target, confidence),
    )
    barred = sorted(done.barred.items(), key=lambda row: (-row[1], row[0]))
    often = sorted(
        done.substitutions, key=lambda each: (-each.count, each.said, each.instead, each.target)
    )[:MOST]
    return {
        "mode": done.mode,
        "strictness": done.strictness,
        "before": before.model_dump(),
        "after": after.model_dump(),
        "counts_before": list(done.before.counts),
        "reduced": round(1 - after.dr / before.dr, 6)
        if before.dr and after.dr is not None
        else None,
        "sets": done.sets,
        "judged": done.judged,
        "eligible": done.eligible,
        "changed": done.changed,
        "left": max(done.eligible - done.changed, 0),
        "barred": [{"reason": reason, "sets": count} for reason, count in barred],
        "sentences": done.sentences,
        "documents": done.documents,
        "copies": done.copies,
        "uncopied": [
            {"reason": reason, "documents": count}
            for reason, count in sorted(done.uncopied.items(), key=lambda row: (-row[1], row[0]))
        ],
        "shortage": [round(each, 6) for each in done.shortage],
        "substitutions": [each.model_dump() for each in often],
    }
