"""Combines two records of the ledger into one: sums, and repairs."""

from __future__ import annotations

from collections.abc import Sequence

from evenflow.schemas.documents import summed
from evenflow.schemas.ledger import Repair, Substitution, Sums

# Different substitutions that are counted. Twice as many are held before the rarest are dropped.
MOST_SUBSTITUTIONS = 500
REPAIR_COUNTS = ("sets", "judged", "eligible", "changed", "sentences", "documents", "copies")


def add_sums(a: Sums | None, b: Sums) -> Sums:
    """Add sums over the same M groups; `a`: None where there are none yet."""
    if a is None:
        return b
    return Sums.model_construct(  # sums of what was validated; a pane adds some forty
        documents=a.documents + b.documents,
        counts=[one + two for one, two in zip(a.counts, b.counts, strict=True)],
        products=[
            [one + two for one, two in zip(mine, theirs, strict=True)]
            for mine, theirs in zip(a.products, b.products, strict=True)
        ],
    )


def combine_repairs(a: Repair | None, b: Repair) -> Repair:
    """Combine the repairs of an attribute."""
    if a is None:
        return b
    counts = {name: getattr(a, name) + getattr(b, name) for name in REPAIR_COUNTS}
    return b.model_copy(
        update={
            **counts,
            "before": add_sums(a.before, b.before),
            "shortage": [one + two for one, two in zip(a.shortage, b.shortage, strict=True)],
            "mentions": [one + two for one, two in zip(a.mentions, b.mentions, strict=True)],
            "barred": summed(a.barred, b.barred),
            "uncopied": summed(a.uncopied, b.uncopied),
            "substitutions": _combine_substitutions(a.substitutions, b.substitutions),
        }
    )


def _combine_substitutions(
    a: Sequence[Substitution], b: Sequence[Substitution]
) -> list[Substitution]:
    """Substitutions with their counts added, each with its first example, the rarest dropped."""
    found = {(each.said, each.instead, each.target): each for each in a}
    for each in b:
        key = (each.said, each.instead, each.target)
        if before := found.get(key):
            each = before.model_copy(update={"count": before.count + each.count})
        found[key] = each
    if len(found) <= 2 * MOST_SUBSTITUTIONS:
        return list(found.values())
    return [
        found[key]
        for key in sorted(found, key=lambda key: (-found[key].count, key))[:MOST_SUBSTITUTIONS]
    ]
