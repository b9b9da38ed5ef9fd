"""What commands print as JSON, as plain data; the tables show the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from evenflow.gates.ledger.totals import AttributeTotals, Totals
from evenflow.gates.weights import hardly_named
from evenflow.pipelines.terminal import weights
from evenflow.schemas.config import Config
from evenflow.schemas.documents import AttributeFigures, Figures
from evenflow.schemas.ledger import PaneEntry, Sums
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.representation.dr import (
    DIGITS,
    Convergence,
    demographic_representation,
    documents_until,
    score,
)
from evenflow.transforms.measures.representation.people import doubted
from evenflow.transforms.models.people import PeopleHead
from evenflow.transforms.text.language import ENGLISH

if TYPE_CHECKING:
    from evenflow.pipelines.terminal.outcome import Outcome
    from evenflow.transforms.storage.storage import Storage

FIELDS = 8  # fields that are named
POINTS = 25  # a score costs about a millisecond, a block some twenty


def status(totals: Totals, finished: bool, held: str | None) -> dict[str, Any]:
    """Summarise the state of a gate and its figures so far.

    Args:
        totals: Sums of its ledger.
        finished: Whether all input was read.
        held: Why the gate is held; None where it is not.

    Returns:
        state is block if any pane is in quarantine, else the state of the last pane. blocked has
        the numbers of the last blocked_panes. reviewed counts the panes that people accepted or
        rejected against the gate. reading and asking give the number of panes of which
        too little could be read, or whose questions the LLM left unanswered too often, and the
        reason in the last such pane. removed counts the documents that gate.scope: documents set
        aside, and the panes that they were taken from. extra counts the documents with fields that
        fit no column, and each of these fields. attributes has for each attribute: the verdict, the
        rolling and cumulative score after the last pane, the score of accepted/, the stream's own
        rolling score and state, dr_before of the text before its repair (None without repair),
        hardly_named (the groups of which the text has too few for the target, in words, or None)
        and the number of panes in each state. Measures add their sections under their names
        (`Measure.section`). weights has what weights did (`weights.summary`); None without mode
        weight.
    """
    return {
        "state": "block" if totals.blocked_panes else totals.state,
        "reason": totals.blocked_reason if totals.blocked_panes else totals.reason,
        "finished": finished,
        "held": held,
        "panes": totals.panes,
        "blocked_panes": totals.blocked_panes,
        "blocked": totals.blocked,
        "reviewed": totals.reviewed.model_dump(exclude={"documents"}),
        "reading": {"panes": totals.unread, "reason": totals.unread_reason or None},
        "asking": {
            "panes": totals.asking["warn"] + totals.asking["block"],
            "reason": totals.asking_reason or None,
            "questions": sum(each["questions"] for each in totals.llm.values()),
            "fallbacks": sum(sum(each["fallbacks"].values()) for each in totals.llm.values()),
        },
        "documents": totals.documents,
        "accepted": totals.accepted,
        "quarantined": totals.documents - totals.accepted,
        "dead_letters": totals.dead,
        "dead_reasons": {
            reason: each.count for reason, each in sorted(totals.dead_reasons.items())
        },
        "removed": {"documents": totals.removed, "panes": totals.lightened},
        "extra": {"documents": totals.extra, "fields": totals.outside},
        **({"languages": totals.languages} if totals.languages else {}),
        "attributes": {
            name: {
                "verdict": each.last.verdict.model_dump(),
                "rolling": each.last.rolling.model_dump(),
                "cumulative": each.last.cumulative.model_dump(),
                "accepted": each.last.accepted.model_dump() if each.last.accepted else None,
                "stream": {
                    "state": each.last.stream_verdict.state if each.last.stream_verdict else None,
                    "rolling": each.last.stream.model_dump() if each.last.stream else None,
                },
                "dr_before": _before(each),
                "hardly_named": hardly_named(
                    each.last.groups, each.last.target, (_came(each) or each.sums).counts
                ),
                "panes": each.states,
            }
            for name, each in sorted(totals.attributes.items())
        },
        **registry.place(measures(totals, in_status=True), {}),
        "weights": weights.summary(totals),
    }


def measures(totals: Totals, in_status: bool) -> dict[str, Any]:
    """The sections of the measures that stand in `gate status`, or of the others.

    Args:
        totals: Sums of the ledger.
        in_status: Which of them.

    Returns:
        Sections by name; None of a measure that ships and is off.
    """
    return {
        name: None if own is None else each.section(own, totals.documents, totals.aside)
        for name, each in registry.measures(totals.measures).items()
        if each.in_status == in_status
        for own in [totals.measures.get(name)]
    }


def of_run(outcome: Outcome, output: Storage, page: str) -> dict[str, Any]:
    """Summarise a run as `evenflow run --json` prints it.

    Args:
        outcome: How the run ended.
        output: Its output.
        page: The address of its report.

    Returns:
        The state of the gate (see `status`), and output, report and new_panes.
    """
    return status(outcome.entries.totals, not outcome.halted, outcome.held) | {
        "output": str(output),
        "report": page,
        "new_panes": outcome.new,
    }


def lost(status: Mapping[str, Any]) -> list[str]:
    """List the problems that are shown first: unread panes, and an LLM that did not answer.

    Args:
        status: What `status` returned.

    Returns:
        A sentence for each; none where all is well.
    """
    reading, asking = status["reading"], status["asking"]
    sentences = []
    if reading["panes"]:
        sentences.append(
            f"too little could be read of {_panes(reading['panes'])}, which is in quarantine:"
            f" {reading['reason']}"
        )
    if asking["panes"]:
        sentences.append(
            f"the LLM left too much unanswered in {_panes(asking['panes'])}: {asking['reason']}"
        )
    return sentences


def taken_out(status: Mapping[str, Any]) -> str | None:
    """Say what gate.scope: documents set aside.

    Args:
        status: What `status` returned.

    Returns:
        A sentence; None where it set nothing aside.
    """
    removed = status["removed"]
    documents, panes = removed["documents"], removed["panes"]
    if not documents:
        return None
    return (
        f"{documents:,} document{'s' * (documents != 1)} of {panes:,} pane{'s' * (panes != 1)}"
        " set aside, so that the rest is accepted (gate.scope: documents)"
    )


def outside_columns(status: Mapping[str, Any]) -> str | None:
    """Say what fits no column of the shards.

    Args:
        status: What `status` returned.

    Returns:
        A sentence; None where all fits.
    """
    extra = status["extra"]
    if not (count := extra["documents"]):
        return None
    named = [f"{name} {each:,}" for name, each in extra["fields"].items()]
    return (
        f"{count:,} document{'s have' if count != 1 else ' has'} fields that fit no column and are"
        f" JSON text in _extra: {', '.join(named[:FIELDS])}{', …' * (len(named) > FIELDS)};"
        " fields.schema sets the columns"
    )


def by_language(found: Mapping[str, Any]) -> str | None:
    """Say how many documents there are of each language.

    Args:
        found: What `status` or `measured` returned.

    Returns:
        A sentence; None where languages do not matter.
    """
    if not (counts := found.get("languages", {})):
        return None
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    named = ", ".join(f"{name} {each:,}" for name, each in most[:FIELDS])
    others = sum(count for name, count in counts.items() if name != ENGLISH)
    return (
        f"documents by language: {named}{', …' * (len(most) > FIELDS)};"
        f" {others:,} that are not English are neither repaired nor searched for stereotypes"
    )


def opening(each: Mapping[str, Any]) -> list[str]:
    """Say what would end an attribute's state in a pane.

    Args:
        each: What `gates.why.attribute` returned.

    Returns:
        A sentence for documents, mentions and weights; none for a state that needs no end.
    """
    if each["rule"] is None:
        return []
    head = f"it is no longer {each['rule']['state']} below {each['rule']['ends_below']:g}:"
    gone, come, weighed = (each["opens"][key] for key in ("documents", "mentions", "weights"))
    lines = [
        f"{head} without the {gone['number']:,} document{'s' * (gone['number'] != 1)} that weigh"
        f" most ({gone['mentions']:g} mentions)"
        + ("; too few are then left to judge" if gone["too_few"] else "")
        if gone
        else f"{head} not by taking documents out of this pane; the panes before it are too uneven",
        f"or with {come['number']:,} more mentions of {' and '.join(come['groups'])}"
        if come
        else "more mentions of the other groups alone would not do",
    ]
    if weighed is not None:
        would = "or with" if weighed["ends"] else "not even with"
        lines.append(
            f"{would} weights (--mode weight): from {weighed['least']:g} to"
            f" {weighed['greatest']:g} they bring this pane's DR to {weighed['dr']:.4f}, its"
            f" effective sample to {weighed['effective']:.0%}"
        )
    return lines


def _panes(count: int) -> str:
    """How many panes, as the subject of "which is in quarantine"."""
    return "1 pane" if count == 1 else f"{count:,} panes, the last of them"


def _came(each: AttributeTotals) -> Sums | None:
    """The sums of the text before its repair; None where nothing was repaired."""
    return each.repair.before if each.repair is not None else each.unweighted


def _before(each: AttributeTotals) -> float | None:
    """The cumulative DR of the text before its repair; None where nothing was repaired."""
    came = _came(each)
    if came is None:
        return None
    dr = demographic_representation(came.counts, each.last.target)
    return None if dr is None else round(dr, DIGITS)


@dataclass
class Course:
    """How the attributes' sums grew, block by block.

    Attributes:
        sums: By attribute, the sums after each block, in the order of the input.
    """

    sums: dict[str, list[Sums]] = field(default_factory=dict)

    def note(self, total: Figures) -> None:
        """Note the figures of all blocks so far."""
        for name, seen in total.attributes.items():
            self.sums.setdefault(name, []).append(seen.sums)

    def convergence(
        self, name: str, target: list[float] | None, confidence: float, epsilon: float
    ) -> Convergence:
        """Find after how many documents the score's interval was within ± epsilon, to the block.

        Scores are computed at POINTS blocks at most, each some percent further than the one before,
        then between two of them.

        Args:
            name: The attribute.
            target: Share that each group should have, (M,); None for equal shares.
            confidence: Of the interval, in (0.5, 1).
            epsilon: Half of the interval's width.

        Returns:
            The number of documents, or an estimate where the interval is still wider.
        """
        course = self.sums.get(name, [])
        count = len(course)
        chosen = (
            {round(count ** (point / (POINTS - 1))) for point in range(POINTS)}
            if count > POINTS
            else range(1, count + 1)
        )
        scores = {number: score(course[number - 1], target, confidence) for number in chosen}
        while True:
            numbers = sorted(scores)
            found = documents_until([scores[number] for number in numbers], epsilon)
            first = next(
                (
                    at
                    for at, number in enumerate(numbers)
                    if scores[number].documents == found.documents
                ),
                0,
            )
            if not first or numbers[first] - numbers[first - 1] == 1:
                return found
            middle = (numbers[first] + numbers[first - 1]) // 2
            scores[middle] = score(course[middle - 1], target, confidence)


def measured(total: Figures, config: Config, course: Course) -> dict[str, Any]:
    """Summarise a measurement as `evenflow measure --json` prints it.

    Args:
        total: Figures of the whole input.
        config: The configuration that it was measured under.
        course: How the sums grew.

    Returns:
        documents, text_bytes, dead_letters, dead_reasons, confidence, and of each attribute its
        score (ledger.Score), counts and shares by group, its target, and convergence: after how
        many documents that name the attribute its interval was within ± epsilon, or is likely to
        be (Course.convergence). Where people are counted, score, counts and shares are theirs;
        passages says how many were read, words has the score, counts and shares of all mentions,
        and against the scores of people against equal shares (even) and those of the people who
        live (population). measures has the figures of each measure that the configuration names
        below `measures`, if there is one.
    """
    result: dict[str, Any] = {
        "documents": total.documents,
        "text_bytes": total.text_bytes,
        "dead_letters": sum(total.dead_reasons.values()),
        "dead_reasons": total.dead_reasons,
        "confidence": config.gate.confidence,
        **({"languages": total.languages} if total.languages else {}),
        "attributes": {},
    }
    for name in config.attributes:
        words = config.word_list(name)
        seen = total.attributes.get(name) or AttributeFigures.empty(len(words.groups))
        target, confidence = config.target(words), config.gate.confidence
        found = _scored(seen.sums, words.groups, target, confidence)
        people: dict[str, Any] = {}
        if seen.people is not None and seen.people.estimate:
            sums = Sums.model_validate(seen.people.estimate)
            sums = doubted(sums, PeopleHead.shipped().doubt(name))
            against = {
                each: score(sums, shares, confidence).model_dump()
                for each, shares in words.references.items()
            }
            people = {"words": found, "passages": seen.people.read, "against": against}
            found = _scored(sums, words.groups, target, confidence)
            last = score(sums, target, confidence)
            convergence = documents_until([last], config.measure.epsilon)
        else:
            convergence = course.convergence(name, target, confidence, config.measure.epsilon)
        result["attributes"][name] = (
            found
            | {
                "target": target and dict(zip(words.groups, target, strict=True)),
                "convergence": asdict(convergence),
            }
            | people
        )
    named = {name: each for name, each in registry.of(config).items() if name in config.measures}
    for name, each in named.items():
        record = each.judge(config, config.word_lists(), total.measures.get(name, {}), None)
        totals = each.added(None, record, accepted=True, most=0)
        section = each.section(totals, total.documents, 0)
        result.setdefault(registry.PLUGGED, {})[name] = section
    return result


def _scored(
    sums: Sums, groups: Sequence[str], target: list[float] | None, confidence: float
) -> dict[str, Any]:
    """The score of sums, with counts and shares by group."""
    total = sum(sums.counts)
    return score(sums, target, confidence).model_dump() | {
        "counts": dict(zip(groups, sums.counts, strict=True)),
        "shares": {
            group: round(count / total, 6) if total else None
            for group, count in zip(groups, sums.counts, strict=True)
        },
    }


def notes(entries: Sequence[PaneEntry]) -> list[str]:
    """List what measures say of the last pane, in sentences (see `Measure.notes`)."""
    if not entries:
        return []
    known = registry.measures(entries[-1].measures)
    found = registry.records(entries[-1]).items()
    return [line for name, record in found for line in known[name].notes(record)]
