"""Which share of a pane's substitutable sets becomes a counterfactual of which group, so that its DR meets the target.

The main paper (4.2.4, GC-CDA) changes as many sentences as an estimate says are needed for a DR near 0, from one
majority to one minority group. Here M groups are planned at once, over what may be changed at all, in two linear
programs. A class is what may go to the same groups; x_kt in [0, 1] is the rate at which class k goes to group t, with
sum_t x_kt <= 1; D_kt (M,) is what the whole class would add to the counts if it all went, and s_kt its sentences.

    n(x) = c + sum_kt x_kt D_kt,   N(x) = sum_i n_i(x),   DR(x) = 1/2 sum_i |n_i(x) - q_i N(x)| / N(x)

1. The least DR: a linear-fractional program, made linear by dividing through by N(x) (Charnes and Cooper 1962).
2. The fewest changed sentences, min sum_kt x_kt s_kt, among all x of that DR (linear once DR is a number).

Modes differ in D alone. Substitute: a set's mentions leave its group for t. Augment: a copy of the document, changed, is
added, so all its mentions are. Reweight: (w - 1) times the counts of documents of like profile, w within [1/limit, limit].
A plan is of expected counts; sets are chosen by a hash under its rates (`choose`), so counts realised differ by sampling.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog, minimize

from evenflow.transforms.representation import demographic_representation
from evenflow.transforms.sets import Set

Floats = npt.NDArray[np.float64]
Profile = tuple[int, ...]

DIGITS = 9  # of a rate: a thousand million sets would be off by one
NOISE = 1e-8  # of a share: what the solver leaves of nothing
SLACKS = (0.0, 1e-9, 1e-7)  # on the least DR, in DR: none where the solver's rounding allows, then its tolerances
TOLERANCE = 1e-10  # HiGHS's finest, on constraints in shares of the mentions
KEPT = 1e-3  # of all mentions, must stay: else mentions that fall away could make a pane even by leaving it none
EIGHTHS = 8  # steps of a share in a profile: 17 profiles for 2 groups, 1231 at most for 5, so a small program
LIMIT = 4.0  # greatest weight, and one through the least: a document read four times a pass is still not learnt by heart
RAKED = 1e-8  # of a DR: at most so far off its target are weights that meet it
STEPS = 200  # of Newton's method, at most: a target that cannot be met has no least point to reach


class Class(NamedTuple):
    """What may go from one group to the same others; targets sorted."""

    source: str
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Tally:
    """A class's size. units: sets, or documents to copy. mentions: of its source that would change, at most.

    sentences (T,): to change for each of the class's targets. changes (T, M): added to the counts if all go there.
    """

    units: int
    mentions: int
    sentences: tuple[int, ...]
    changes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Eligible:
    """What may be changed in a pane for an attribute: tallies by class, over M groups in the list's order. Additive."""

    groups: tuple[str, ...]
    tallies: Mapping[Class, Tally]

    def to_json(self) -> dict[str, Any]:
        """Plain data, the same for equal summaries however they were added up."""
        classes = [
            {
                "source": key.source,
                "targets": list(key.targets),
                "units": each.units,
                "mentions": each.mentions,
                "sentences": list(each.sentences),
                "changes": [list(row) for row in each.changes],
            }
            for key, each in sorted(self.tallies.items())
        ]
        return {"groups": list(self.groups), "classes": classes}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Eligible:
        """The summary that to_json wrote."""
        tallies = {
            Class(each["source"], tuple(each["targets"])): Tally(
                each["units"], each["mentions"], tuple(each["sentences"]), tuple(tuple(row) for row in each["changes"])
            )
            for each in data["classes"]
        }
        return cls(tuple(data["groups"]), tallies)


@dataclass(frozen=True)
class Expected:
    """Counts (M,) before and expected after, with their DR (None without mentions).

    shortage (M,): mentions that a group then still lacks, max(0, q_i N - n_i); all 0 where the target is met.
    """

    before: tuple[int, ...]
    after: tuple[float, ...]
    dr_before: float | None
    dr_after: float | None
    shortage: tuple[float, ...]


@dataclass(frozen=True)
class Plan:
    """rates: by class, the probability with which it goes to each of its targets (T,); a class without any is left out.

    units, sentences: expected to change.
    """

    expected: Expected
    rates: Mapping[Class, tuple[float, ...]]
    units: float
    sentences: float

    def rates_of(self, kind: Class) -> dict[str, float]:
        """A class's rates by target group, in the targets' order; empty where nothing of it changes."""
        return dict(zip(kind.targets, self.rates.get(kind, ()), strict=False))


@dataclass(frozen=True)
class Weights:
    """weights: by profile of a document; those of weight 1 are left out."""

    expected: Expected
    weights: Mapping[Profile, float]

    def of(self, counts: Sequence[int]) -> float:
        """The weight of a document of (M,) counts."""
        return self.weights.get(profile(counts), 1.0)


def is_eligible(proposed: Set, strictness: float) -> bool:
    """Whether a set may change at a strictness (0 to 1); one of confidence 0 never may."""
    return proposed.confidence > 0 and proposed.confidence >= strictness and bool(class_of(proposed).targets)


def class_of(proposed: Set) -> Class:
    """The class of a set: its group, and the others that it has edits for."""
    targets = sorted(target for target, edits in proposed.edits.items() if edits and target != proposed.source)
    return Class(proposed.source, tuple(targets))


def for_substitution(groups: Sequence[str], sets: Iterable[Set], strictness: float) -> Eligible:
    """The summary of an attribute's sets for mode substitute. Raises ValueError for a group that groups does not have."""
    place = _places(groups)
    found: list[tuple[Class, Tally]] = []
    for each in sets:
        if is_eligible(each, strictness):
            kind = class_of(each)
            changes = tuple(tuple(_moved(place, len(groups), each, target)) for target in kind.targets)
            found.append((kind, Tally(1, len(each.mentions), (len(each.sentences),) * len(kind.targets), changes)))
    return _summed(groups, found)


def to_copy(groups: Sequence[str], sets: Iterable[Set], strictness: float) -> tuple[Class, list[Set]] | None:
    """Mode augment: a document's class and the sets that change in its copy; None where none may.

    Those are the eligible sets of the group of which most mentions may change (of equal ones, the first in the list);
    the copy for a target changes those of them that can go there.
    """
    place = _places(groups)
    by_group: dict[str, list[Set]] = {}
    for each in sets:
        if is_eligible(each, strictness):
            by_group.setdefault(each.source, []).append(each)
    if not by_group:
        return None
    source = min(by_group, key=lambda group: (-sum(len(each.mentions) for each in by_group[group]), place(group)))
    targets = {target for each in by_group[source] for target in class_of(each).targets}
    return Class(source, tuple(sorted(targets))), by_group[source]


def for_augmentation(groups: Sequence[str], counts: Sequence[int], sets: Iterable[Set], strictness: float) -> Eligible:
    """The summary of one document of (M,) counts for mode augment; add() those of a pane's. Raises as for_substitution."""
    place = _places(groups)
    found = to_copy(groups, sets, strictness)
    if found is None:
        return Eligible(tuple(groups), {})
    kind, chosen = found
    sentences: list[int] = []
    changes: list[tuple[int, ...]] = []
    for target in kind.targets:
        going = [each for each in chosen if target in class_of(each).targets]
        sentences.append(len({at for each in going for at in each.sentences}))
        moved = [_moved(place, len(groups), each, target) for each in going]
        changes.append(tuple(map(sum, zip(map(int, counts), *moved, strict=True))))
    tally = Tally(1, sum(len(each.mentions) for each in chosen), tuple(sentences), tuple(changes))
    return Eligible(tuple(groups), {kind: tally})


def add(*summaries: Eligible) -> Eligible:
    """The summary of one or more together. Raises ValueError where they are of different groups."""
    groups = summaries[0].groups
    for each in summaries:
        if each.groups != groups:
            raise ValueError(f"summaries of different groups cannot be added: {groups} and {each.groups}")
    return _summed(groups, (item for each in summaries for item in each.tallies.items()))


def plan(counts: Sequence[int], target: Sequence[float] | None, eligible: Eligible) -> Plan:
    """The rates of the least expected DR with the fewest changed sentences.

    counts (M,): mentions before. target (M,): shares, uniform where None. Raises ValueError where they do not fit the
    summary's groups, or more is eligible of a group than was counted.
    """
    c, q = _checked(counts, target, len(eligible.groups))
    kinds = sorted(eligible.tallies)
    options = [(place, t) for place, kind in enumerate(kinds) for t in range(len(kind.targets))]
    tallies = [eligible.tallies[kind] for kind in kinds]
    changes = np.array([tallies[k].changes[t] for k, t in options], float).reshape(-1, len(c))
    sentences = np.array([tallies[k].sentences[t] for k, t in options], float)
    classes = np.array([k for k, _ in options], np.intp)
    leaving = np.zeros_like(c)
    for each in tallies:
        leaving -= np.minimum(np.array(each.changes, float).min(axis=0, initial=0), 0)
    if (leaving > c).any():
        raise ValueError(f"more mentions are eligible than counted: {leaving.tolist()} of {c.tolist()}")
    x = _least_change(c, q, changes, sentences, classes)
    rates: dict[Class, tuple[float, ...]] = {}
    for place, kind in enumerate(kinds):
        own = tuple(float(rate) for rate in x[classes == place])
        if any(own):
            rates[kind] = own
    units = float(sum(x[o] * tallies[k].units for o, (k, _) in enumerate(options)))
    return Plan(_expected(c, c + x @ changes, q), rates, round(units, 6), round(float(x @ sentences), 6))


def choose(seed: int, document_id: str, set_place: int, rates: Mapping[str, float], attribute: str = "") -> str | None:
    """The target group of a set, or None where it stays: drawn by a hash, so the same on any engine and after any kill.

    set_place: the set's place in its document (mode augment: 0, a document is drawn as a whole). rates: of the set's class
    (Plan.rates_of). attribute: so that attributes draw independently. u in [0, 1), from 53 bits of BLAKE2b (RFC 7693),
    falls into one of consecutive intervals as long as the rates. A higher rate of the first target keeps what it chose.
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in (str(seed), attribute, document_id, str(set_place)):
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big") + raw)  # with its length: no two tuples make the same bytes
    u = (int.from_bytes(digest.digest(), "big") >> 11) / 2**53
    reached = 0.0
    for group, rate in sorted(rates.items()):
        reached += rate
        if u < reached:
            return group
    return None


def profile(counts: Sequence[int]) -> Profile:
    """The groups' shares of a document of (M,) counts in eighths, rounded down: what its weight depends on."""
    total = sum(counts)
    return tuple(EIGHTHS * int(each) // total for each in counts) if total else ()


def reweight(
    target: Sequence[float] | None, groups: int, documents: Mapping[Profile, Sequence[int]], limit: float = LIMIT
) -> Weights:
    """Weights of documents for the least weighted DR: as near 1 as that allows, within [1 / limit, limit].

    documents: by profile, the sum (M,) C_k of the counts of its documents (additive), n_k mentions in all. Where the target
    can be met, the weights nearest 1 by relative entropy, min sum_k n_k (w_k ln w_k - w_k + 1), which are what raking, or
    iterative proportional fitting, leads to: w_k = exp(lambda . (C_k / n_k - q)), cut at the bounds (Deville and Sarndal
    1992). Where it cannot, the least DR with the fewest weighted mentions that change. Raises ValueError for a limit
    below 1 or counts that are not of that many groups.
    """
    if not 1 <= limit < math.inf:
        raise ValueError(f"limit must be a number of at least 1, it is {limit}")
    profiles = sorted(key for key, counts in documents.items() if sum(counts))
    sums = np.array([documents[key] for key in profiles], float).reshape(-1, groups)
    c, q = _checked(sums.sum(axis=0).tolist(), target, groups)
    weights = _raked(sums, q, limit)
    if _off(weights @ sums, q) > RAKED:
        changes = np.concatenate([(limit - 1) * sums, (1 / limit - 1) * sums])
        x = _least_change(c, q, changes, np.abs(changes).sum(axis=1), np.tile(np.arange(len(sums)), 2))
        up, down = x[: len(sums)], x[len(sums) :]
        weights = 1 + up * (limit - 1) + down * (1 / limit - 1)
    weights = np.clip(np.round(weights, DIGITS), 1 / limit, limit)
    kept = {key: float(weight) for key, weight in zip(profiles, weights, strict=True) if weight != 1}
    return Weights(_expected(c, weights @ sums, q), kept)


def _raked(sums: Floats, q: Floats, limit: float) -> Floats:
    """Weights (K,) of sums (K, M) that minimise the dual sum_k n_k phi(lambda . z_k), phi' = exp cut at the bounds."""
    mentions = sums.sum(axis=1)
    if not len(sums) or _off(sums.sum(axis=0), q) <= RAKED:
        return np.ones(len(sums))
    z = sums / mentions[:, None] - q
    share = mentions / mentions.sum()
    bound = math.log(limit)

    def weights(at: Floats) -> Floats:
        return np.exp(np.clip(z @ at, -bound, bound))

    def dual(at: Floats) -> float:
        u = z @ at
        cut = np.clip(u, -bound, bound)
        return float(share @ (np.exp(cut) * (1 + u - cut)))

    def curvature(at: Floats) -> Floats:
        inside = share * weights(at) * (np.abs(z @ at) < bound)
        return z.T @ (z * inside[:, None])

    found = minimize(
        dual,
        np.zeros(len(q)),
        jac=lambda at: z.T @ (share * weights(at)),
        hess=curvature,
        method="trust-exact",
        options={"gtol": TOLERANCE, "maxiter": STEPS},
    )
    return weights(found.x)


def _off(counts: Floats, q: Floats) -> float:
    """DR of counts (M,); 0 where there are none."""
    return float(np.abs(counts / counts.sum() - q).sum() / 2) if counts.any() else 0.0


def _least_change(c: Floats, q: Floats, changes: Floats, costs: Floats, classes: npt.NDArray[np.intp]) -> Floats:
    """Rates (O,) of options of changes (O, M) and costs (O,), those of a class 1 at most together: see the module's text.

    Variables: z = x times the option's size (its greatest change, as a share of all mentions, so that a small class is
    solved as exactly as a large one), tau = 1 / N(x) in step 1 and 1 in step 2, and over, under (M,), the parts of n - q N.
    """
    rates = np.zeros(len(costs))
    used = np.flatnonzero(np.abs(changes).max(axis=1, initial=0) > 0)
    total = c.sum()
    if not total or not len(used) or len(c) < 2:
        return rates
    size = np.abs(changes[used]).max(axis=1)
    change = changes[used] / size[:, None]
    size = size / total
    grown = change.sum(axis=1)
    m, o = len(c), len(used)
    eye = np.eye(m)
    balance = np.hstack([(change - grown[:, None] * q).T, (c / total - q)[:, None], -eye, eye])
    within = np.zeros((classes.max() + 1, o + 1 + 2 * m))
    for place in np.unique(classes[used]):
        own = np.flatnonzero(classes[used] == place)
        within[place, own] = size[own].max() / size[own]
        within[place, o] = -size[own].max()
    mentions = np.concatenate([grown, [1], np.zeros(2 * m)])
    distance = np.concatenate([np.zeros(o + 1), np.full(2 * m, 0.5)])
    cost = np.concatenate([costs[used] / size / max(costs.max(), 1) * size.max(), np.zeros(1 + 2 * m)])
    first = _solved(
        distance, within, np.zeros(len(within)), np.vstack([balance, mentions]), np.append(np.zeros(m), 1), o, (0, 1 / KEPT)
    )
    if first is None:
        raise ArithmeticError("the least DR was not found")
    least = max(0.0, float(distance @ first))
    for slack in SLACKS:
        limits = np.vstack([within, distance - (least if least > NOISE else 0) * mentions, -mentions])
        bounds = np.concatenate([np.zeros(len(within)), [slack, -KEPT]])
        found = _solved(cost, limits, bounds, balance, np.zeros(m), o, (1, 1))
        if found is not None:
            break
    else:
        raise ArithmeticError("the fewest changes were not found")
    rates[used] = np.clip(np.round(found[:o] / size, DIGITS), 0, 1)
    return rates


def _solved(
    objective: Floats,
    upper: Floats,
    upper_values: Floats,
    equal: Floats,
    equal_values: Floats,
    tau: int,
    between: tuple[float, float],
) -> Floats | None:
    bounds: list[tuple[float, float | None]] = [(0.0, None)] * len(objective)
    bounds[tau] = between
    result = linprog(
        objective,
        A_ub=upper,
        b_ub=upper_values,
        A_eq=equal,
        b_eq=equal_values,
        bounds=bounds,
        method="highs-ds",
        options={"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE},
    )
    return result.x if result.success else None


def _expected(before: Floats, after: Floats, q: Floats) -> Expected:
    lacking = np.maximum(q * after.sum() - after, 0)
    lacking[lacking <= NOISE * max(after.sum(), 1)] = 0
    counts = tuple(int(each) for each in before)
    return Expected(
        before=counts,
        after=tuple(round(float(each), 6) for each in after),
        dr_before=_dr(before, q),
        dr_after=_dr(after, q),
        shortage=tuple(round(float(each), 6) for each in lacking),
    )


def _dr(counts: Floats, q: Floats) -> float | None:
    found = demographic_representation(counts.tolist(), q.tolist())
    return None if found is None else round(found, DIGITS)


def _checked(counts: Sequence[int], target: Sequence[float] | None, groups: int) -> tuple[Floats, Floats]:
    """counts and target as arrays (M,), the target summing to 1 exactly."""
    c = np.array(counts, float)
    if c.shape != (groups,) or not np.isfinite(c).all() or (c < 0).any():
        raise ValueError(f"counts must be of {groups} groups and not negative, they are {list(counts)}")
    q = np.full(groups, 1 / groups) if target is None else np.array(target, float)
    demographic_representation([1] * groups, q.tolist())  # refuses a target that is none
    return c, q / q.sum()


def _summed(groups: Sequence[str], found: Iterable[tuple[Class, Tally]]) -> Eligible:
    rows: dict[Class, list[Tally]] = {}
    for kind, tally in found:
        rows.setdefault(kind, []).append(tally)
    tallies = {
        kind: Tally(
            sum(each.units for each in own),
            sum(each.mentions for each in own),
            tuple(map(sum, zip(*(each.sentences for each in own), strict=True))),
            tuple(tuple(map(sum, zip(*rows, strict=True))) for rows in zip(*(each.changes for each in own), strict=True)),
        )
        for kind, own in rows.items()
    }
    return Eligible(tuple(groups), tallies)


def _moved(place: Callable[[str], int], groups: int, proposed: Set, target: str) -> list[int]:
    """What a set adds to the counts (M,) when it goes to a target; a mention whose edit leaves no word arrives nowhere."""
    moved = [0] * groups
    source, to = place(proposed.source), place(target)
    for mention in proposed.mentions:
        over = [edit for edit in proposed.edits[target] if edit.start < mention.end and mention.start < edit.end]
        moved[source] -= bool(over)
        moved[to] += any(edit.replacement for edit in over)
    return moved


def _places(groups: Sequence[str]) -> Callable[[str], int]:
    def place(group: str) -> int:
        if group not in groups:
            raise ValueError(f"group {group!r}: there are only {', '.join(groups)}")
        return list(groups).index(group)

    return place
