"""The sums of a ledger over all its panes.

A start, the status, the metrics and the report need nothing else of old panes. The sums are a left
fold over the entries in order. The same entries therefore give the same sums, to the byte, and a
checkpoint can be verified by a recount.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from evenflow.gates.ledger.combine import add_sums, combine_repairs
from evenflow.schemas.config import Config
from evenflow.schemas.documents import HEAVY, plus, summed
from evenflow.schemas.ledger import (
    FORMAT,
    STATES,
    AttributeEntry,
    CheckFailure,
    Entry,
    Heavy,
    PaneEntry,
    Position,
    Repair,
    Score,
    State,
    Sums,
    Weights,
    effective_sample,
)
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.measure import MeasureTotals

# Half widths of DR's interval whose convergence is tracked, besides the configuration's own
EPSILONS = (0.02, 0.01)
ROLLING = 4  # without a configuration
# The last panes, failures and files that are listed one by one; the others are only counted
NAMED = 100

Window = dict[str, Sums]  # a pane's sums, by attribute


class Converged(Entry):
    """When the cumulative interval of DR became narrower than ± epsilon, and stayed so.

    `documents`: Number of documents that name the attribute at that point; None if the interval is
    wider. `pane`: Pane at that point; None if the interval is wider.
    """

    epsilon: float
    documents: int | None = None
    projected: int | None = None
    pane: int | None = None

    def add(self, pane: int, score: Score) -> None:
        """Add the cumulative score of the next pane."""
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
    """A document with many mentions."""

    pane: int


class AttributeTotals(Entry):
    """An attribute over all panes.

    Attributes:
        last: Entry of the last pane, without what belongs to that pane alone.
        sums: Sums of the texts after their repair.
        accepted: The part of these sums that is in accepted/.
        relevant: Number of sentences that name the attribute; None: none were looked for.
        labels: How often each label was mentioned.
        repair: What the repair did, over all panes; None without one.
        repaired: Sums of the repaired panes after their repair, without weights; None without one.
        unweighted: Sums of the panes with weights, after their repair, without weights; None
            without one.
        words: Sums of all mentions, where people are counted; None where words are.
        unjudged: Number of panes in a row, up to the last, with too few mentions to judge.
    """

    last: AttributeEntry
    sums: Sums
    accepted: Sums
    relevant: int | None = None
    states: dict[State, int]
    labels: dict[str, int] = Field(default_factory=dict)
    heavy: list[HeavyDocument] = Field(default_factory=list[HeavyDocument])
    repair: Repair | None = None
    repaired: Sums | None = None
    unweighted: Sums | None = None
    weighed: Sums | None = None
    convergence: list[Converged] = Field(default_factory=list[Converged])
    words: Sums | None = None
    unjudged: int = 0


class WeightTotals(Entry):
    """The weights of all panes, and their range in accepted ones; None before the first."""

    last: Weights
    least: float | None = None
    greatest: float | None = None
    documents: int = 0
    total: float = 0.0
    squares: float = 0.0
    problems: int = 0
    left_out: int = 0
    copies: int = 0

    @property
    def effective(self) -> float:
        """The effective sample of accepted/ as a share of its documents."""
        return effective_sample(self.documents, self.total, self.squares)


class DeadReason(Entry):
    """Dead letters of one kind."""

    count: int = 0
    panes: int = 0
    last: dict[int, int] = Field(default_factory=dict[int, int])


class Reviewed(Entry):
    """What decisions of people changed (ledger.reviews).

    `confirmed`: Panes that they left in quarantine. `decided`: Those of Totals.blocked that wait
    for no decision.
    """

    accepted: int = 0
    rejected: int = 0
    confirmed: int = 0
    documents: int = 0
    decided: list[int] = Field(default_factory=list[int])


def _measures(given: Any) -> Any:
    """Sums of measures from a checkpoint; those of a measure that is not loaded are left out."""
    found = {name: MeasureTotals.model_validate(each) for name, each in dict(given).items()}
    return {
        name: each.totals(own.last.model_dump(), own.sums, recent=own.recent, states=own.states)
        for name, each, own in registry.known(found)
    }


class Totals(Entry):
    """Sums over the panes of a ledger.

    Attributes:
        rolling: Number of panes behind a verdict.
        epsilons: Half widths whose convergence is tracked, in descending order.
        reason: Reason of the last pane's verdict.
        blocked: Numbers of the last of these panes.
        blocked_reason: Reason of the last of these panes.
        unread: Number of panes of which too little could be read.
        unread_reason: Reason of the last of these panes.
        asking: Number of panes in each state of the verdict on the LLM.
        asking_reason: Reason of the last such verdict that was not open.
        aside: Number of documents that were quarantined alone.
        removed: Number of documents that gate.scope: documents set aside.
        lightened: Number of panes that they were taken from.
        extra: Number of documents with fields that fit no column.
        outside: Number of documents with such a field, by its name.
        languages: Number of documents by language; left out without measure.by_language.
        other_languages: Number of documents in languages that no word list has, by language.
        dead_reasons: Dead letters, by kind of reason.
        evaluated: Number of expectations that were evaluated.
        panes_failed: Number of panes with a critical failure.
        last_failures: The last of these, with their panes.
        llm: What questions to an LLM cost, by prompt.
        recent: Sums of the last rolling - 1 panes, for the score of the stream.
        recent_accepted: Sums of the last rolling - 1 accepted panes, for the next verdict.
        newest: Time of the newest record of a topic that was committed, ms since 1970.
        stream: Span and part of the last pane of a stream.
        positions: Where a topic's partitions stand.
        weights: The documents' weights; None without mode weight.
        since: The pane from which each attribute is in its present state without a break; the
            pane's own verdict is under the empty name.
        files: Number of files in accepted/ and quarantine/.
        reviewed: What decisions of people changed in these sums; nothing in a checkpoint.
    """

    version: int = FORMAT
    rolling: int = ROLLING
    epsilons: list[float] = Field(default_factory=lambda: sorted(EPSILONS, reverse=True))
    panes: int = 0
    states: dict[State, int] = dict.fromkeys(STATES, 0)
    state: State = "not_judged"
    folder: str = "accepted"
    reason: str = "no pane yet"
    blocked_panes: int = 0
    blocked: list[int] = Field(default_factory=list[int])
    blocked_reason: str = ""
    unread: int = 0
    unread_reason: str = ""
    asking: dict[State, int] = dict.fromkeys(STATES, 0)
    asking_reason: str = ""
    documents: int = 0
    accepted: int = 0
    aside: int = 0
    removed: int = 0
    lightened: int = 0
    extra: int = 0
    outside: dict[str, int] = Field(default_factory=dict[str, int])
    languages: dict[str, int] = Field(default_factory=dict, exclude_if=operator.not_)
    other_languages: dict[str, int] = Field(default_factory=dict, exclude_if=operator.not_)
    dead: int = 0
    dead_reasons: dict[str, DeadReason] = Field(default_factory=dict)
    input_bytes: int = 0
    text_bytes: int = 0
    sentences: int | None = None
    evaluated: int = 0
    panes_failed: int = 0
    failures: int = 0
    last_failures: list[tuple[int, CheckFailure]] = Field(
        default_factory=list[tuple[int, CheckFailure]]
    )
    attributes: dict[str, AttributeTotals] = Field(default_factory=dict)
    llm: dict[str, dict[str, Any]] = Field(default_factory=dict)
    recent: list[Window] = Field(default_factory=list[Window])
    recent_accepted: list[Window] = Field(default_factory=list[Window])
    measures: Annotated[dict[str, MeasureTotals], BeforeValidator(_measures)] = Field(
        default_factory=dict
    )
    newest: int | None = None
    stream: tuple[int, int] | None = None
    positions: dict[str, Position] = Field(default_factory=dict)
    weights: WeightTotals | None = None
    since: dict[str, int] = Field(default_factory=dict)
    files: int = 0
    reviewed: Reviewed = Reviewed()

    @classmethod
    def for_run(cls, config: Config | None) -> Totals:
        """Sums of no panes, for a run with a configuration."""
        if config is None:
            return cls()
        registry.of(config)  # its own measures add to the sums
        epsilons = sorted({*EPSILONS, config.measure.epsilon}, reverse=True)
        return cls(rolling=config.pane.rolling, epsilons=epsilons)

    @classmethod
    def of(cls, entries: Iterable[PaneEntry], config: Config | None = None) -> Totals:
        """Sum entries."""
        totals = cls.for_run(config)
        for entry in entries:
            totals.add(entry)
        return totals

    def _add_dead(self, entry: PaneEntry) -> None:
        """Add the next pane's dead letters."""
        self.dead += entry.dead
        for reason, count in entry.dead_reasons.items():
            dead = self.dead_reasons.setdefault(reason, DeadReason())
            dead.count, dead.panes = dead.count + count, dead.panes + 1
            dead.last = dict([*dead.last.items(), (entry.pane, count)][-NAMED:])

    def add(self, entry: PaneEntry) -> None:
        """Add the next pane."""
        accepted = entry.folder == "accepted"
        aside = entry.set_aside.rows if entry.set_aside is not None else 0
        self._note_states(entry)
        self.files += len(entry.document_files())
        self.panes += 1
        self._add_verdicts(entry, accepted)
        self.documents += entry.documents + aside
        self.accepted += entry.documents if accepted else 0
        self.aside += aside
        if entry.removed is not None and entry.removed.is_done:
            self.removed += entry.removed.documents
            self.lightened += 1
        self.extra += entry.extra
        seen = summed(self.outside, entry.outside).items()
        self.outside = dict(sorted(seen, key=lambda each: (-each[1], each[0]))[:NAMED])
        self.languages = summed(self.languages, entry.languages)
        self.other_languages = summed(self.other_languages, entry.other_languages)
        self._add_figures(entry)
        for name, each in entry.attributes.items():
            if name in self.attributes:
                self._attribute(self.attributes[name], entry, each)
            else:
                self.attributes[name] = self._first(entry, each)
        self._remember(entry, accepted)
        for name, each, record in registry.known(entry.measures):
            before = self.measures.get(name)
            self.measures[name] = each.added(before, record, accepted, self.rolling - 1)
        if entry.weights is not None:
            self._weigh(entry.weights, accepted)

    def _add_verdicts(self, entry: PaneEntry, accepted: bool) -> None:
        """Add the verdicts on the next pane, on what was read, and on the language model."""
        verdict = entry.verdict
        self.states[verdict.state] += 1
        self.state, self.folder, self.reason = verdict.state, entry.folder, verdict.reason
        if not accepted:
            self.blocked_panes, self.blocked_reason = self.blocked_panes + 1, verdict.reason
            self.blocked = [*self.blocked, entry.pane][-NAMED:]
        if entry.reading is not None and entry.reading.state == "block":
            self.unread, self.unread_reason = self.unread + 1, entry.reading.reason
        if entry.asking is not None:
            self.asking[entry.asking.state] += 1
            if entry.asking.state != "open":
                self.asking_reason = entry.asking.reason

    def _add_figures(self, entry: PaneEntry) -> None:
        """Add what was read of the next pane, its checks, and what was asked."""
        self._add_dead(entry)
        self.input_bytes += entry.input_bytes
        self.text_bytes += entry.text_bytes
        self.sentences = plus(self.sentences, entry.sentences)
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

    def _weigh(self, each: Weights, accepted: bool) -> None:
        """Add the weights of the next pane."""
        total = self.weights or WeightTotals(last=each)
        total.last = each
        total.problems += each.problem is not None
        total.left_out += each.left_out
        total.copies += each.copies
        if accepted:
            total.documents += each.documents
            total.total += each.total
            total.squares += each.squares
            total.least = min(each.least, total.least or each.least)
            total.greatest = max(each.greatest, total.greatest or each.greatest)
        self.weights = total

    def _note_states(self, entry: PaneEntry) -> None:
        """Note since when each state lasts; called before the next pane is added."""
        before = {name: each.last.verdict.state for name, each in self.attributes.items()}
        now = {name: each.verdict.state for name, each in entry.attributes.items()}
        for name, state in {"": entry.verdict.state, **now}.items():
            if name not in self.since or state != (before[name] if name else self.state):
                self.since[name] = entry.pane

    def _remember(self, entry: PaneEntry, accepted: bool) -> None:
        """Keep what the next verdicts and the stream need of a pane."""
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
        """The sums of an attribute in its first pane."""
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
        """Add an attribute of the next pane."""
        total.last = each.lasting()
        total.sums = add_sums(total.sums, each.sums)
        if entry.folder == "accepted":
            total.accepted = add_sums(total.accepted, each.sums)
        total.relevant = plus(total.relevant, each.relevant_sentences)
        total.states[each.verdict.state] += 1
        total.unjudged = total.unjudged + 1 if each.verdict.state == "not_judged" else 0
        total.labels = summed(total.labels, each.labels)
        heavy = [
            *total.heavy,
            *(HeavyDocument(pane=entry.pane, **one.model_dump()) for one in each.heavy),
        ]
        total.heavy = sorted(heavy, key=lambda one: -sum(one.counts))[:HEAVY]
        for one in total.convergence:
            one.add(entry.pane, each.cumulative)
        if each.repair is not None:
            total.repair = combine_repairs(total.repair, each.repair)
            total.repaired = add_sums(total.repaired, each.unweighted or each.sums)
        if each.unweighted is not None:
            total.unweighted = add_sums(total.unweighted, each.unweighted)
            total.weighed = add_sums(total.weighed, each.sums)
        if each.people is not None:
            total.words = add_sums(total.words, each.people.words)


def _additive(cost: Mapping[str, Any]) -> dict[str, Any]:
    """What questions cost, without the quantiles, which are not additive."""
    return {key: value for key, value in cost.items() if key != "seconds"}
