"""The sums of a ledger: all that a start, the status, the metrics and the report need of panes that
are long gone.

A left fold over the entries in their order: the same entries give the same sums, to the byte, so
that a checkpoint can be verified by a recount.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from evenflow.schemas.config import Config
from evenflow.schemas.documents import HEAVY, summed
from evenflow.schemas.ledger import (
    STATES,
    AttributeEntry,
    CheckFailure,
    Entry,
    Filtered,
    Heavy,
    PaneEntry,
    Position,
    Repair,
    Score,
    State,
    Substitution,
    Sums,
)

# Half widths of DR's interval that are looked for, beside the configuration's own
EPSILONS = (0.02, 0.01)
ROLLING = 4  # where no configuration says otherwise
# Panes, failures and files that are named one by one: the last of them; the others are counted
NAMED = 100
# Different ones that are counted; twice as many are held before the rarest go
MOST_SUBSTITUTIONS = 500
EXAMPLES = 6  # strong stereotypes that are kept
# Of a Repair: what adds up over panes.
COUNTS = ("sets", "judged", "eligible", "changed", "sentences", "documents", "copies")

Window = dict[str, Sums]  # of a pane, by attribute


class Converged(Entry):
    """After how many documents that name the attribute the cumulative interval was, and stayed,
    within +- epsilon, and in which pane that was; projected: how many it would take, where it was
    not (representation.Convergence)."""

    epsilon: float
    documents: int | None = None
    projected: int | None = None
    pane: int | None = None

    def add(self, pane: int, score: Score) -> None:
        """Take in the next cumulative score."""
        if score.low is None or score.high is None:
            self.documents = self.projected = self.pane = None
            return
        half = (score.high - score.low) / 2
        if half > self.epsilon:
            self.documents, self.pane = None, None
            self.projected = math.ceil(score.documents * (half / self.epsilon) ** 2)
        elif self.documents is None:
            self.documents, self.projected, self.pane = score.documents, None, pane


class HeavyDocument(Heavy):
    """A document that weighs much, and its pane."""

    pane: int


class AttributeTotals(Entry):
    """An attribute over all panes.

    sums: of the text as it came out of its repair; accepted: of these what is in accepted/. before,
    repaired: of the panes that were repaired, before and after. last: the last pane's entry,
    without what is only its own.
    """

    last: AttributeEntry
    sums: Sums
    accepted: Sums
    relevant: int = 0
    unjudged: int = 0
    states: dict[State, int]
    labels: dict[str, int] = Field(default_factory=dict)
    heavy: list[HeavyDocument] = Field(default_factory=list)
    repair: Repair | None = None
    repaired: Sums | None = None
    stereotypes: Filtered | None = None
    convergence: list[Converged] = Field(default_factory=list)


class DeadReason(Entry):
    """Dead letters of a kind: how many, in how many panes, and the last of these panes with their
    numbers.
    """

    count: int = 0
    panes: int = 0
    last: dict[int, int] = Field(default_factory=dict)


class Totals(Entry):
    """Sums over the panes of a ledger.

    rolling: panes that a verdict looks back on. recent, recent_accepted: the sums of the last
    panes, and of the last that were accepted, as many as the next one looks back on. blocked:
    numbers of the last NAMED of blocked_panes. newest: time of the newest record of a topic that
    was committed, ms since 1970. positions: where a topic's partitions stand.
    """

    rolling: int = ROLLING
    epsilons: list[float] = Field(default_factory=lambda: sorted(EPSILONS, reverse=True))
    panes: int = 0
    states: dict[State, int] = dict.fromkeys(STATES, 0)
    state: State = "open"
    folder: str = "accepted"
    reason: str = "no pane yet"
    blocked_panes: int = 0
    blocked: list[int] = Field(default_factory=list)
    blocked_reason: str = ""
    unread: int = 0
    unread_reason: str = ""
    asking: dict[State, int] = dict.fromkeys(STATES, 0)
    asking_reason: str = ""
    documents: int = 0
    accepted: int = 0
    aside: int = 0
    dead: int = 0
    dead_reasons: dict[str, DeadReason] = Field(default_factory=dict)
    input_bytes: int = 0
    text_bytes: int = 0
    sentences: int = 0
    evaluated: int = 0
    panes_failed: int = 0
    failures: int = 0
    last_failures: list[tuple[int, CheckFailure]] = Field(default_factory=list)
    attributes: dict[str, AttributeTotals] = Field(default_factory=dict)
    llm: dict[str, dict[str, Any]] = Field(default_factory=dict)
    recent: list[Window] = Field(default_factory=list)
    recent_accepted: list[Window] = Field(default_factory=list)
    newest: int | None = None
    stream: tuple[int, int] | None = None
    positions: dict[str, Position] = Field(default_factory=dict)

    @classmethod
    def begun(cls, config: Config | None) -> Totals:
        """Nothing yet, of a run with a configuration."""
        if config is None:
            return cls()
        epsilons = sorted({*EPSILONS, config.measure.epsilon}, reverse=True)
        return cls(rolling=config.pane.rolling, epsilons=epsilons)

    @classmethod
    def of(cls, entries: Iterable[PaneEntry], config: Config | None = None) -> Totals:
        """Of all entries from pane 0 on."""
        totals = cls.begun(config)
        for entry in entries:
            totals.add(entry)
        return totals

    def add(self, entry: PaneEntry) -> None:
        """Add the next pane."""
        accepted = entry.folder == "accepted"
        aside = entry.set_aside.rows if entry.set_aside is not None else 0
        self.panes += 1
        self.states[entry.verdict.state] += 1
        self.state, self.folder, self.reason = (
            entry.verdict.state,
            entry.folder,
            entry.verdict.reason,
        )
        if not accepted:
            self.blocked_panes, self.blocked_reason = self.blocked_panes + 1, entry.verdict.reason
            self.blocked = [*self.blocked, entry.pane][-NAMED:]
        if entry.reading is not None and entry.reading.state == "block":
            self.unread, self.unread_reason = self.unread + 1, entry.reading.reason
        if entry.asking is not None:
            self.asking[entry.asking.state] += 1
            if entry.asking.state != "open":
                self.asking_reason = entry.asking.reason
        self.documents += entry.documents + aside
        self.accepted += entry.documents if accepted else 0
        self.aside += aside
        self.dead += entry.dead
        for reason, count in entry.dead_reasons.items():
            dead = self.dead_reasons.setdefault(reason, DeadReason())
            dead.count, dead.panes = dead.count + count, dead.panes + 1
            dead.last = dict([*dead.last.items(), (entry.pane, count)][-NAMED:])
        self.input_bytes += entry.input_bytes
        self.text_bytes += entry.text_bytes
        self.sentences += entry.sentences
        self.evaluated += entry.checks.evaluated
        self.panes_failed += not entry.checks.success
        self.failures += len(entry.checks.failures)
        self.last_failures = [
            *self.last_failures,
            *((entry.pane, each) for each in entry.checks.failures),
        ][-NAMED:]
        self.llm = summed(
            self.llm, {name: _additive(each) for name, each in (entry.llm or {}).items()}
        )
        for name, each in entry.attributes.items():
            if name in self.attributes:
                self._attribute(self.attributes[name], entry, each)
            else:
                self.attributes[name] = self._first(entry, each)
        self._remember(entry, accepted)

    def _remember(self, entry: PaneEntry, accepted: bool) -> None:
        most = self.rolling - 1
        window = {name: each.sums for name, each in entry.attributes.items()}
        self.recent = [*self.recent, window][-most:] if most else []
        if accepted:
            self.recent_accepted = [*self.recent_accepted, window][-most:] if most else []
        if entry.stream is not None:
            times = [position.time for position in entry.stream.positions.values()]
            self.newest = max(
                [*times, *([] if self.newest is None else [self.newest])], default=None
            )
            self.stream = (entry.stream.span, entry.stream.part)
            self.positions |= entry.stream.positions

    def _first(self, entry: PaneEntry, each: AttributeEntry) -> AttributeTotals:
        nothing = Sums.empty(len(each.groups))
        found = AttributeTotals(
            last=each,
            sums=nothing,
            accepted=nothing,
            states=dict.fromkeys(STATES, 0),
            convergence=[Converged(epsilon=epsilon) for epsilon in self.epsilons],
        )
        self._attribute(found, entry, each)
        return found

    def _attribute(self, total: AttributeTotals, entry: PaneEntry, each: AttributeEntry) -> None:
        total.last = each.model_copy(
            update={"labels": {}, "heavy": [], "repair": None, "stereotypes": None}
        )
        total.sums = add(total.sums, each.sums)
        if entry.folder == "accepted":
            total.accepted = add(total.accepted, each.sums)
        total.relevant += each.relevant_sentences
        total.unjudged += not each.verdict.judged
        total.states[each.verdict.state] += 1
        for label, count in each.labels.items():
            total.labels[label] = total.labels.get(label, 0) + count
        heavy = [
            *total.heavy,
            *(HeavyDocument(pane=entry.pane, **one.model_dump()) for one in each.heavy),
        ]
        total.heavy = sorted(heavy, key=lambda one: -sum(one.counts))[:HEAVY]
        for one in total.convergence:
            one.add(entry.pane, each.cumulative)
        if each.repair is not None:
            total.repair = each.repair if total.repair is None else _both(total.repair, each.repair)
            total.repaired = each.sums if total.repaired is None else add(total.repaired, each.sums)
        if each.stereotypes is not None:
            total.stereotypes = _found(total.stereotypes, each.stereotypes)


def add(a: Sums, b: Sums) -> Sums:
    """Sums of both, of the same M groups."""
    return Sums(
        documents=a.documents + b.documents,
        counts=[one + two for one, two in zip(a.counts, b.counts, strict=True)],
        products=[
            [one + two for one, two in zip(mine, theirs, strict=True)]
            for mine, theirs in zip(a.products, b.products, strict=True)
        ],
    )


def _additive(cost: Mapping[str, Any]) -> dict[str, Any]:
    """What asking cost, without the quantiles, which do not add up."""
    return {key: value for key, value in cost.items() if key != "seconds"}


def _both(a: Repair, b: Repair) -> Repair:
    """Two repairs as one; what does not add up is the later one's."""
    known = [each.weights for each in (a, b) if each.weights is not None]
    sums = {name: getattr(a, name) + getattr(b, name) for name in COUNTS}
    return b.model_copy(
        update={
            **sums,
            "before": add(a.before, b.before),
            "shortage": [one + two for one, two in zip(a.shortage, b.shortage, strict=True)],
            "mentions": [one + two for one, two in zip(a.mentions, b.mentions, strict=True)],
            "barred": summed(a.barred, b.barred),
            "weights": (min(low for low, _ in known), max(high for _, high in known))
            if known
            else None,
            "substitutions": _often(a.substitutions, b.substitutions),
        }
    )


def _often(a: Sequence[Substitution], b: Sequence[Substitution]) -> list[Substitution]:
    """Substitutions with their counts added, each with its first example; the rarest go once there
    are too many.
    """
    found = {(each.said, each.instead, each.target): each for each in a}
    for each in b:
        key = (each.said, each.instead, each.target)
        before = found.get(key)
        found[key] = (
            each
            if before is None
            else before.model_copy(update={"count": before.count + each.count})
        )
    if len(found) <= 2 * MOST_SUBSTITUTIONS:
        return list(found.values())
    return [
        found[key]
        for key in sorted(found, key=lambda key: (-found[key].count, key))[:MOST_SUBSTITUTIONS]
    ]


def _found(a: Filtered | None, b: Filtered) -> Filtered:
    """What was found of stereotypes in both, with the strongest examples."""
    examples = sorted(
        [*(a.examples if a else ()), *b.examples],
        key=lambda each: (-float(each["score"]), str(each["id"]), str(each["sentence"])),
    )
    names = ("asked", "unsure", "potential", "strong", "kept")
    counts = {name: getattr(b, name) + (getattr(a, name) if a else 0) for name in names}
    return b.model_copy(update={**counts, "examples": examples[:EXAMPLES]})
