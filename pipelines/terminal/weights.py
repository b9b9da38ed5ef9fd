"""What weights did, as plain data and as lines: DR as it came, after exchange, after weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evenflow.gates import weights as words
from evenflow.gates.ledger.totals import AttributeTotals, Totals
from evenflow.schemas.ledger import Score, Sums
from evenflow.transforms.measures.representation.dr import score


def summary(totals: Totals, confidence: float = 0.95) -> dict[str, Any] | None:
    """Collect what weights did over all panes.

    Args:
        totals: The sums of the ledger.
        confidence: Of the scores' intervals (0..1).

    Returns:
        None without mode weight. Else effective and design_effect of accepted/; limit, floor and
        kept of the last pane, and its least and greatest weight; left_out and copies of samples;
        problems, the number of panes whose weights are all 1 because what must stay contradicts;
        constraints, what a further step would bring, in words; and for each attribute came,
        exchanged (None without exchanges) and weighed (`schemas.ledger.Score` of all panes),
        sentences and documents that exchanges changed, and why its target is not met.
    """
    found = totals.weights
    if found is None:
        return None
    last = found.last

    def steps(name: str, each: AttributeTotals) -> dict[str, Any]:
        def scored(sums: Sums | None) -> dict[str, Any] | None:
            own: Score | None = sums and score(sums, each.last.target, confidence)
            return own and own.model_dump()

        done = each.repair
        return {
            "came": scored(each.unweighted if done is None else done.before),
            "exchanged": None if done is None else scored(each.unweighted),
            "weighed": scored(each.weighed),
            "sentences": 0 if done is None else done.sentences,
            "documents": 0 if done is None else done.documents,
            "asked": name in last.attributes,
            "why": words.unmet(name, last),
        }

    return {
        "effective": round(found.effective, 6),
        "design_effect": round(1 / found.effective, 6),
        "documents": found.documents,
        "least": last.least,
        "greatest": last.greatest,
        "limit": last.limit,
        "floor": last.floor,
        "held": last.held,
        "left_out": found.left_out,
        "copies": found.copies,
        "problems": found.problems,
        "kept": [each.model_dump() for each in last.kept],
        "constraints": list(words.constraints(last)),
        "attributes": {
            name: steps(name, each)
            for name, each in sorted(totals.attributes.items())
            if each.weighed is not None
        },
    }


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Say what weights did.

    Args:
        found: What `summary` returned.

    Yields:
        Lines for a terminal.
    """
    yield (
        f"weights from {found['least']:.2f} to {found['greatest']:.2f}: effective sample"
        f" {found['effective']:.0%}, design effect {found['design_effect']:.2f}"
    )
    if found["left_out"] or found["copies"]:
        yield (
            f"sampled by weight: {found['left_out']:,} documents left out, {found['copies']:,}"
            " copies added"
        )
    for name, each in found["attributes"].items():
        steps = [f"DR {_dr(each['came'])} as it came"]
        if each["exchanged"] is not None:
            count = each["sentences"]
            noun = "sentence" if count == 1 else "sentences"
            steps.append(f"{_dr(each['exchanged'])} after exchange ({count:,} {noun})")
        steps.append(f"{_dr(each['weighed'])} after weights")
        yield f"{name}: {', '.join(steps)}"
        if each["why"]:
            yield f"  {each['why']}"
    yield from found["constraints"]


def _dr(found: Mapping[str, Any] | None) -> str:
    """A DR in digits; a dash without mentions."""
    return "–" if found is None or found["dr"] is None else f"{found['dr']:.4f}"
