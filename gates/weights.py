"""What weights reach and what holds them back, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evenflow.schemas.ledger import Verdict, WeighedAttribute, Weights

MET = 5e-4  # DR up to which a target counts as met: it rounds to 0.000
FELT = 5e-4  # fall of DR from which a price is worth a sentence
WIDER = 1.5  # times the limit: see ledger.WeighedAttribute
RARE = 0.05  # share of the mentions below which a group counts as hardly named


def unmet(name: str, weights: Weights) -> str | None:
    """Say why the target of an attribute is not met.

    Args:
        name: Name of the attribute.
        weights: The weights.

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


def constraints(weights: Weights) -> Iterator[str]:
    """Say what each further step of what holds DR up would bring, the dearest first.

    Args:
        weights: The weights.

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
        groups: The groups, (M,).
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
        f"{names}: {named:.1%} of the mentions, the target asks {asked:.0%}; as long as the text"
        f" names them so rarely, DR cannot fall below about {asked - named:.2f}"
    )


def explained(verdict: Verdict, name: str, weights: Weights | None) -> Verdict:
    """Complete the reason of a verdict with what weights could not do.

    Args:
        verdict: The verdict on an attribute.
        name: Name of the attribute.
        weights: The weights; None without mode weight.

    Returns:
        The verdict.
    """
    why = unmet(name, weights) if weights is not None and verdict.state != "open" else None
    return (
        verdict
        if why is None
        else verdict.model_copy(update={"reason": f"{verdict.reason}; {why}"})
    )


def judge(weights: Weights | None) -> Verdict | None:
    """Warn of weights that could not be found.

    Args:
        weights: The weights of a pane; None without mode weight.

    Returns:
        The verdict; None if there is nothing to warn of.
    """
    if weights is None or weights.problem is None:
        return None
    return Verdict(state="warn", reason=f"every weight is 1, because {weights.problem}")
