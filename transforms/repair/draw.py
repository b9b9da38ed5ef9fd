"""Draws what changes in a pane, and lets a judge accept or refuse it.

A unit is what changes as a whole: a set, or (mode augment) a document to copy. Units are ordered by
a hash of seed, attribute, document and place, so that those that are likelier right come sooner:
key = -ln(u) / p, where u in (0, 1] is the hash and p the first probability (Efraimidis and Spirakis
2006, “Weighted random sampling with a reservoir”). Then

1. Plan over all units that may still change (`plan`). The plan gives each class of units a rate for
   each target.
2. Turn the rates into quotas, in mentions, and fill them in the units' order.
3. Judge the drawn units that are not judged yet. Those that are refused may no longer change.
4. Go on from 1 until every drawn unit is judged. After some rounds, units that come next are judged
   too, twice as many in each round: where a judge refuses nearly all and little is to change, a
   round would judge one unit, and each round goes through all units.

So the counts afterwards are those of the plan, not of a sample of it, and the number of judged
units grows with the number of changes. The result depends on the pane's documents, the seed and the
judge's answers alone: the order of units does not depend on blocks, sums do not depend on the
order, and the judge's answer to a unit depends on that unit alone. A replay draws the same.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

from evenflow.transforms.repair import eligibility
from evenflow.transforms.repair import plan as planning
from evenflow.transforms.repair.eligibility import Class, ClassSize
from evenflow.transforms.repair.plan import Plan

PATIENCE = 16  # rounds without a look ahead; most panes need fewer
MEDIAN = math.log(2)  # of the keys of units of probability 1


@dataclass(slots=True)
class Unit:
    """What changes as a whole."""

    key: float
    kind: Class
    size: ClassSize
    place: Any
    settled: tuple[str, ...] = ()
    gone: bool = False


@dataclass(frozen=True)
class Drawn:
    """What changes."""

    plan: Plan
    chosen: list[tuple[Unit, str]]


# Judges units for targets. Returns what is left of each (None: nothing); what was accepted has the
# target in `settled`.
Judge = Callable[[list[tuple[Unit, str]]], Sequence[Unit | None]]


def key(seed: int, attribute: str, identity: str, place: int, probability: float) -> float:
    """Compute a unit's place in the order of the draw.

    Returns A number from an exponential distribution of that rate. It is made of 53 bits of BLAKE2b
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
    """Draw what changes in a pane for an attribute.

    `target`: Target shares (M,); None: uniform.

    `counts`: Mentions before the repair, (M,). `groups`: The attribute's groups, (M,).
    """
    alive = sorted(units, key=lambda unit: unit.key)
    rounds = 0
    while True:
        made = planning.plan(
            counts, target, eligibility.add_up(groups, ((unit.kind, unit.size) for unit in alive))
        )
        chosen = _filled(made, alive)
        unjudged = [(unit, group) for unit, group in chosen if group not in unit.settled]
        if not unjudged:
            return Drawn(made, chosen)
        rounds += 1
        if rounds > PATIENCE:
            unjudged += _next(alive, chosen, unjudged, 2 ** (rounds - PATIENCE))
        left = {id(unit): rest for (unit, _), rest in zip(unjudged, judge(unjudged), strict=True)}
        rests = (left.get(id(unit), unit) for unit in alive)
        alive = [rest for rest in rests if rest is not None and not rest.gone]


def take_both_ways(
    groups: Sequence[str],
    units: Sequence[Unit],
    judge: Judge,
    share: float,
    leaning: Mapping[Any, float],
) -> tuple[list[tuple[Unit, str]], Sequence[Unit]]:
    """Draw units that lean most to their group, as many mentions both ways, without a plan.

    `share`: Share of the units of each direction between two groups that are judged for this.
    `leaning`: By the units' places.

    Returns what changes, and the units that are left for a plan.
    """
    out = list[tuple[Unit, str]]()
    for pair in combinations(groups, 2):
        sides, asked = dict[str, list[tuple[Unit, str]]](), set[int]()
        for source, target in (pair, pair[::-1]):
            own = [unit for unit in units if unit.kind.source == source]
            own = [(unit, target) for unit in own if target in unit.kind.targets]
            own.sort(key=lambda each: (-leaning.get(each[0].place, 0), each[0].key))
            own = own[: math.ceil(share * len(own))]
            asked |= {id(unit) for unit, _ in own}
            sides[source] = _accepted(own, judge)[::-1]
        sizes = dict.fromkeys(pair, 0)
        while side := sides[min(pair, key=sizes.__getitem__)]:
            out.append(side.pop())
            sizes[out[-1][0].kind.source] += out[-1][0].size.mentions
        units = [each for each in units if id(each) not in asked and not each.gone]
        units += [unit for side in sides.values() for unit, _ in side]
    return out, units


def moved(counts: Sequence[int], chosen: Sequence[tuple[Unit, str]]) -> list[int]:
    """The counts (M,) after exchanges."""
    changes = (unit.size.changes[unit.kind.targets.index(target)] for unit, target in chosen)
    return [sum(each) for each in zip(counts, *changes, strict=True)]


def take_all(groups: Sequence[str], units: Sequence[Unit], judge: Judge) -> list[tuple[Unit, str]]:
    """Draw every unit, without a plan: for the next group in the list that it may go to.

    Of two groups this is the other one. So different groups stay different.

    `groups`: The attribute's groups, (M,).
    """
    order = [*groups, *groups]
    return _accepted(
        [
            (unit, next(each for each in order[order.index(unit.kind.source) :] if each in targets))
            for unit in units
            if (targets := unit.kind.targets)
        ],
        judge,
    )


def take_half(
    counts: Sequence[int], groups: Sequence[str], units: Sequence[Unit], judge: Judge
) -> list[tuple[Unit, str]]:
    """Draw half of the units of the group that is named most, for the one that is named least.

    Each has a probability of 0.5, without a plan (BaseCDA; main paper, 4.2.4).

    `counts`: Mentions before the repair, (M,). `groups`: The attribute's groups, (M,).
    """
    by_count = dict(zip(groups, counts, strict=True))
    most, least = (pick(groups, key=by_count.__getitem__) for pick in (max, min))
    return _accepted(
        [
            (unit, least)
            for unit in units
            if unit.kind.source == most and least in unit.kind.targets and unit.key < MEDIAN
        ],
        judge,
    )


def _accepted(chosen: Sequence[tuple[Unit, str]], judge: Judge) -> list[tuple[Unit, str]]:
    """What a judge leaves of units with their targets."""
    asked = [(unit, group) for unit, group in chosen if group not in unit.settled]
    left = judge(asked) if asked else ()
    rest = {id(unit): each for (unit, _), each in zip(asked, left, strict=True)}
    return [
        (each, group) for unit, group in chosen if (each := rest.get(id(unit), unit)) is not None
    ]


def _next(
    units: Sequence[Unit],
    chosen: Sequence[tuple[Unit, str]],
    unjudged: Sequence[tuple[Unit, str]],
    times: int,
) -> list[tuple[Unit, str]]:
    """Units that are not chosen and not judged: these times as many of a class and a target."""
    asked = Counter((unit.kind, group) for unit, group in unjudged)
    left = Counter({key: count * times for key, count in asked.items()})
    taken = {id(unit) for unit, _ in chosen}
    out: list[tuple[Unit, str]] = []
    for unit in units:
        wanted = (group for group in unit.kind.targets if left[unit.kind, group])
        group = next((group for group in wanted if group not in unit.settled), None)
        if group is not None and id(unit) not in taken:
            left[unit.kind, group] -= 1
            out.append((unit, group))
    return out


def _filled(made: Plan, units: Sequence[Unit]) -> list[tuple[Unit, str]]:
    """The units that fill a plan's quotas, with their targets.

    A unit that has more mentions than its class still lacks is passed over. The others go to a
    target for which they are settled, so that the judge is not asked again, else to the target that
    lacks most.
    """
    totals: dict[Class, int] = {}
    for unit in units:
        totals[unit.kind] = totals.get(unit.kind, 0) + unit.size.mentions
    lacking = {
        kind: {group: rate * total for group, rate in made.rates_of(kind).items() if rate}
        for kind, total in totals.items()
    }
    left = {kind: round(sum(quota.values())) for kind, quota in lacking.items()}
    out: list[tuple[Unit, str]] = []
    for unit in units:
        quota = lacking[unit.kind]
        if not quota or unit.size.mentions > left[unit.kind]:
            continue
        group = max(quota, key=partial(_preference, unit, quota))
        quota[group] -= unit.size.mentions
        left[unit.kind] -= unit.size.mentions
        out.append((unit, group))
    return out


def _preference(unit: Unit, quota: Mapping[str, float], group: str) -> tuple[bool, float, bytes]:
    """How much a target is preferred for a unit; of equal ones, a hash decides."""
    tie = hashlib.blake2b(f"{unit.key!r} {group}".encode("utf-8", "surrogatepass"), digest_size=8)
    settled = group in unit.settled and round(quota[group], 6) > 0
    return settled, round(quota[group], 6), tie.digest()
