"""What weights reach and what holds them back, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenflow.gates.ledger.totals import AttributeTotals, Totals
from evenflow.schemas.ledger import Score, Sums, Verdict, WeighedAttribute, Weights
from evenflow.schemas.words import counted
from evenflow.schemas.words import score as score_of
from evenflow.transforms.measures.representation.dr import score

MET = 5e-4  # DR up to which a target counts as met: it rounds to 0.000
FELT = 5e-4  # fall of DR from which a price is worth a sentence
WIDER = 1.5  # times the limit: see ledger.WeighedAttribute
FORGOTTEN = 0.9  # share of its mentions up to which it is said that an attribute is named less
STEPS = ("came", "exchanged", "weighed")
RARE = 0.05  # share of the mentions below which a group counts as hardly named


def unmet(name: str, weights: Weights) -> str | None:
    """Say why the target of an attribute is not met.

    Returns:
        A sentence without its end; None if the target is met, or was not asked for.
    """
    each = weights.attributes.get(name)
    if each is None or (each.after is not None and each.after <= MET):
        return None
    if each.after is None:
        return "nothing is named, so weights change nothing"
    if weights.problem:
        return f"documents keep weight 1: {weights.problem}"
    return f"weights bring DR to {each.after:.3f}; {_why(each, weights)}"


def _why(each: WeighedAttribute, weights: Weights) -> str:
    """What stands between an attribute and its target."""
    assert each.after is not None
    limit = f"{weights.limit:g}"
    if each.proven <= MET:
        text = f"weights up to {limit} could meet its target"
    else:
        text = f"no weights up to {limit} bring it below {each.proven:.3f}"
        if each.wider is not None and each.proven - each.wider > FELT:
            text += f", up to {weights.limit * WIDER:g} it could fall to {each.wider:.3f}"
    if weights.held:
        return f"{text}; the floor of the effective sample, {weights.floor:g}, holds it there"
    if each.after - each.proven > FELT:
        return f"{text}; the targets of the other attributes hold it there"
    return text


def forgotten(name: str, before: Sums | None, after: Sums | None) -> str | None:
    """Say that an attribute is named less under weights.

    Returns:
        A sentence without its end; None where it is not.
    """
    if before is None or after is None or not sum(before.counts):
        return None
    left = sum(after.counts) / sum(before.counts)
    if left > FORGOTTEN:
        return None
    return (
        f"mentions of {name} weigh {left:.2f} on average: a part of its fall in DR is that it is"
        " named less (repair.least_mentions)"
    )


def constraints(weights: Weights) -> Iterator[str]:
    """Say what each further step of what holds DR up would bring, the dearest first.

    Yields:
        Sentences without their ends.
    """
    if weights.problem:
        yield f"every weight is 1: {weights.problem}"
    if weights.limit_price > FELT:
        yield (
            f"a weight limit greater by 1 than {weights.limit:g} would lower the sum of DR by about"
            f" {weights.limit_price:.3f}"
        )
    for each in sorted(weights.kept, key=lambda kept: (-kept.price, kept.name)):
        if each.price > FELT:
            yield (
                f"{each.name} may not move further (now {each.value - 1:+.1%}); a further 1 % of it"
                f" would lower the sum of DR by about {each.price:.3f}"
            )


def hardly_named(
    groups: Sequence[str], target: Sequence[float], counts: Sequence[float]
) -> str | None:
    """Say which groups the text hardly names although the target asks for a share of them.

    Args:
        target: Their target shares, (M,).
        counts: Their mentions as the text came, (M,).

    Returns:
        A sentence without its end; None if each group is named often enough.
    """
    total = sum(counts)
    rare = [
        (group, share, count)
        for group, share, count in zip(groups, target, counts, strict=True)
        if count < min(share / 4, RARE) * total
    ]
    if not rare:
        return None
    names = " and ".join(group for group, *_ in rare)
    asked = sum(share for _, share, _ in rare)
    named = sum(count for *_, count in rare) / total
    return (
        f"{names}: {named:.1%} of the mentions, target {asked:.0%}; with these shares DR stays ≥"
        f" {asked - named:.2f}: change the target"
    )


def explained(verdict: Verdict, name: str, weights: Weights | None) -> Verdict:
    """Complete the reason of a verdict with what weights could not do."""
    why = unmet(name, weights) if weights is not None and verdict.state != "open" else None
    return (
        verdict
        if why is None
        else verdict.model_copy(update={"reason": f"{verdict.reason}; {why}"})
    )


def summary(totals: Totals, confidence: float = 0.95) -> dict[str, Any] | None:
    """Collect what weights did over all panes."""
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
            "why": unmet(name, last),
            "forgotten": forgotten(name, each.unweighted, each.weighed),
        }

    return {
        "effective": round(found.effective, 6),
        "design_effect": round(1 / found.effective, 6),
        **last.model_dump(include={"limit", "floor", "held", "kept"}),
        "least": found.least or last.least,
        "greatest": found.greatest or last.greatest,
        **found.model_dump(include={"documents", "left_out", "copies", "problems"}),
        "constraints": list(constraints(last)),
        "attributes": {
            name: steps(name, each)
            for name, each in sorted(totals.attributes.items())
            if each.weighed is not None
        },
    }


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Say what weights did."""
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
        dr = {key: score_of(each[key] and each[key]["dr"]) for key in STEPS}
        steps = [f"DR {dr['came']} as it came"]
        if each["exchanged"] is not None:
            count = counted(each["sentences"], "sentence")
            steps.append(f"{dr['exchanged']} after exchange ({count})")
        steps.append(f"{dr['weighed']} after weights")
        yield f"{name}: {', '.join(steps)}"
        if each["why"]:
            yield f"  {each['why']}"
        if each["forgotten"]:
            yield f"  {each['forgotten']}"
    yield from found["constraints"]
