"""Draws what changes in a pane, and has it judged: until the plan's quotas are met by what a judge
accepts, or all is judged.

A unit is what changes as a whole: a set, or (mode augment) a document to copy. Units stand in the
order of a hash of seed, attribute, document and place, the likelier right ones sooner: key = -ln(u)
/ p, u in (0, 1] of the hash and p the first probability (Efraimidis and Spirakis 2006, «Weighted
random sampling with a reservoir»). Then

1. plan over all units that may still change (`planning`), which gives each class of units a rate
for each target;
2. make quotas of the rates, in mentions, and fill them in the units' order;
3. judge those drawn that nobody has judged; those that are refused may no longer change;
4. from 1, until nothing drawn is unjudged.

So the counts after are those of the plan, not of a sample of it, and what is judged grows with what
changes. It all hangs on the pane's documents, the seed and the judge's answers: units are in one
order whatever block they were read in, sums do not depend on it, and the judge's answer to a unit
depends on that unit alone. A replay draws the same.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evenflow.transforms.repair import eligibility
from evenflow.transforms.repair import plan as planning
from evenflow.transforms.repair.eligibility import Class, ClassSize
from evenflow.transforms.repair.plan import Plan


@dataclass(slots=True)
class Unit:
    """What changes as a whole. key: its place in the order. kind, size: what it is to the plan.
    place: where it is from.

    settled: groups for which it is accepted.
    """

    key: float
    kind: Class
    size: ClassSize
    place: Any
    settled: tuple[str, ...] = ()


@dataclass(frozen=True)
class Drawn:
    """What changes: units with their target groups, in the units' order, and the plan that they
    fulfil.
    """

    plan: Plan
    chosen: list[tuple[Unit, str]]


# Judges units for targets: of each what is left of it, None: nothing. An accepted one has the
# target among its settled.
Judge = Callable[[list[tuple[Unit, str]]], Sequence[Unit | None]]


def key(seed: int, attribute: str, identity: str, place: int, probability: float) -> float:
    """A unit's place in the order of the draw.

    Args:
        seed: Of the draw.
        attribute: So that attributes draw independently.
        identity: The document's id.
        place: Of the set in its document; mode augment: 0.
        probability: First probability of being right, in (0, 1].

    Returns: A number of an exponential distribution with that rate. Its hash has 53 bits of BLAKE2b
        (RFC 7693).
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in (str(seed), attribute, identity, str(place)):
        raw = part.encode("utf-8", "surrogatepass")
        # With its length: no two tuples make the same bytes
        digest.update(len(raw).to_bytes(8, "big") + raw)
    u = ((int.from_bytes(digest.digest(), "big") >> 11) + 1) / 2**53
    return -math.log(u) / probability


def draw(
    counts: Sequence[int],
    target: Sequence[float] | None,
    groups: Sequence[str],
    units: Sequence[Unit],
    judge: Judge,
) -> Drawn:
    """What changes in a pane for an attribute.

    Args:
        counts: Mentions before, (M,).
        target: Shares (M,); None: uniform.
        groups: The attribute's, (M,).
        units: What may change.
        judge: Who accepts.

    Returns:
        The units that change, each accepted for its target.

    Raises:
        ValueError: Counts, target and units that do not fit the groups.
    """
    alive = sorted(units, key=lambda unit: unit.key)
    while True:
        made = planning.plan(
            counts, target, eligibility.summed(groups, ((unit.kind, unit.size) for unit in alive))
        )
        chosen = _filled(made, alive)
        asked = [(unit, group) for unit, group in chosen if group not in unit.settled]
        if not asked:
            return Drawn(made, chosen)
        left = {id(unit): rest for (unit, _), rest in zip(asked, judge(asked), strict=True)}
        alive = [rest for unit in alive if (rest := left.get(id(unit), unit)) is not None]


def _filled(made: Plan, units: Sequence[Unit]) -> list[tuple[Unit, str]]:
    """The units that fill a plan's quotas, with their targets.

    A unit is passed over that has more mentions than the quota still lacks.
    """
    totals: dict[Class, int] = {}
    for unit in units:
        totals[unit.kind] = totals.get(unit.kind, 0) + unit.size.mentions
    lacking = {
        kind: {group: round(rate * total) for group, rate in made.rates_of(kind).items()}
        for kind, total in totals.items()
    }
    out: list[tuple[Unit, str]] = []
    for unit in units:
        quota = lacking[unit.kind]
        # Of several targets one for which it is settled already: nobody need be asked again.
        for group in sorted(quota, key=lambda group: (group not in unit.settled, group)):
            if unit.size.mentions <= quota[group]:
                quota[group] -= unit.size.mentions
                out.append((unit, group))
                break
    return out
