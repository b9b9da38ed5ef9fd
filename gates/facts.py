"""The facts of an output: what terminal, pages, board, card and metrics are tables of.

They follow from the sums of its ledger alone, and from whether somebody holds the gate.
"""

from __future__ import annotations

import operator
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from evenflow.gates import weights
from evenflow.gates.ledger.totals import AttributeTotals, Totals
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import AttributeEntry, Entry, PaneEntry, Score, State, Sums, Verdict
from evenflow.schemas.words import counted, dr_of, ranges, score
from evenflow.transforms.llm import SPENT
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.representation.dr import DIGITS, demographic_representation
from evenflow.transforms.measures.shift.measure import ShiftMeasure, block_from
from evenflow.transforms.measures.shift.moved import Moved
from evenflow.transforms.measures.shift.reference import LEAST_DOCUMENTS
from evenflow.transforms.measures.verdict import UNSET
from evenflow.transforms.text.language import ENGLISH

FIELDS = 8  # fields that are named
NAMED = 3  # sources that the answer names
TRUSTED = "GOOD"  # files that the user trusts, in a command


class Answer(Entry):
    """Whether one may train on accepted/: the same in exit status, status, report and board.

    Attributes:
        said: The answer in words, with the documents that accepted/ is without; or that nothing
            was judged.
        word: That of the gate's state: held, or a state.
        why: In a sentence.
        next: The next step; None: there is none.
    """

    may: bool
    said: str
    word: str
    why: str
    next: str | None


class Panes(Entry):
    """Panes of which something is said, and the reason in the last of them."""

    panes: int
    reason: str | None


class Asking(Panes):
    """Panes whose questions a language model left unanswered too often, and all questions."""

    questions: int
    fallbacks: int
    left_out: int = Field(default=0, exclude=True)  # by llm.tokens; the ledger's reasons have it


class GroupFacts(Entry):
    """A group of an attribute: its mentions, their share, and the share that it should have."""

    group: str
    mentions: int | float
    share: float | None
    target: float

    @classmethod
    def of(cls, each: AttributeEntry, sums: Sums) -> list[GroupFacts]:
        """The groups of an attribute with some of its sums."""
        total = sum(sums.counts)
        return [
            cls(
                group=group,
                mentions=count,
                share=round(count / total, DIGITS) if total else None,
                target=target,
            )
            for group, count, target in zip(each.groups, sums.counts, each.target, strict=True)
        ]


class StreamFacts(Entry):
    """The stream's own rolling score and state."""

    state: State | None
    rolling: Score | None


class AttributeFacts(Entry):
    """An attribute after the last pane.

    Attributes:
        accepted: Score of accepted/.
        dr_before: Of the text before its repair; None without repair.
        hardly_named: The groups of which the text has too few for the target, in words, or None.
        groups: With the mentions of all panes, after their repair.
        panes: Number of panes in each state.
    """

    verdict: Verdict
    groups: list[GroupFacts]
    rolling: Score
    cumulative: Score
    accepted: Score | None
    stream: StreamFacts
    dr_before: float | None
    hardly_named: str | None
    panes: dict[State, int]

    @property
    def is_judged(self) -> bool:
        """Whether DR has a threshold."""
        return not self.verdict.reason.endswith(UNSET)

    @classmethod
    def of(cls, each: AttributeTotals) -> AttributeFacts:
        """The facts of an attribute's sums."""
        last, stream = each.last, each.last.stream_verdict
        came = each.repair.before if each.repair is not None else each.unweighted
        before = None if came is None else demographic_representation(came.counts, last.target)
        counts = (came or each.sums).counts
        return cls(
            verdict=last.verdict,
            groups=GroupFacts.of(last, each.sums),
            rolling=last.rolling,
            cumulative=last.cumulative,
            accepted=last.accepted,
            stream=StreamFacts(state=stream and stream.state, rolling=last.stream),
            dr_before=None if before is None else round(before, DIGITS),
            hardly_named=weights.hardly_named(last.groups, last.target, counts),
            panes=each.states,
        )


class Facts(Entry):
    """The state of a gate and its figures so far.

    Attributes:
        state: block if any pane is in quarantine, else the state of the last pane.
        blocked: Numbers of the last blocked_panes.
        reviewed: Panes that people accepted or rejected against the gate, and those that they left
            in quarantine.
        reading: Panes of which too little could be read.
        removed: Documents that gate.scope: documents set aside, and the panes that they were of.
        extra: Documents with fields that fit no column, and each of these fields.
        weights: What weights did (`weights.summary`); None without mode weight.
        measures: What measures found in all panes, by name.
    """

    state: State
    reason: str
    train: Answer
    finished: bool
    held: str | None
    panes: int
    blocked_panes: int
    blocked: list[int]
    reviewed: dict[str, int]
    reading: Panes
    asking: Asking
    documents: int
    accepted: int
    quarantined: int
    dead_letters: int
    dead_reasons: dict[str, int]
    removed: dict[str, int]
    extra: dict[str, Any]
    languages: dict[str, int] = Field(default_factory=dict, exclude_if=operator.not_)
    other_languages: dict[str, int] = Field(default_factory=dict, exclude_if=operator.not_)
    attributes: dict[str, AttributeFacts]
    weights: dict[str, Any] | None = None
    measures: dict[str, Any] = Field(default_factory=dict)


def of(
    totals: Totals,
    finished: bool,
    held: str | None,
    config: Config | None = None,
    output: object = "DIR",
) -> Facts:
    """Collect the facts of an output.

    Args:
        finished: Whether all input was read.
        held: Why the gate is held; None where it is not.
        config: Says whether anything is judged; None: that is not known.
        output: What the next step names.
    """
    return Facts(
        state="block" if totals.blocked_panes else totals.state,
        reason=totals.blocked_reason if totals.blocked_panes else totals.reason,
        train=answer(totals, finished, held, config, output),
        finished=finished,
        held=held,
        panes=totals.panes,
        blocked_panes=totals.blocked_panes,
        blocked=totals.blocked,
        reviewed=totals.reviewed.model_dump(exclude={"documents", "decided"}),
        reading=Panes(panes=totals.unread, reason=totals.unread_reason or None),
        asking=Asking(
            panes=totals.asking["warn"] + totals.asking["block"],
            reason=totals.asking_reason or None,
            questions=sum(each["questions"] for each in totals.llm.values()),
            fallbacks=sum(sum(each["fallbacks"].values()) for each in totals.llm.values()),
            left_out=sum(each["fallbacks"].get(SPENT, 0) for each in totals.llm.values()),
        ),
        documents=totals.documents,
        accepted=totals.accepted,
        quarantined=totals.documents - totals.accepted,
        dead_letters=totals.dead,
        dead_reasons={name: each.count for name, each in sorted(totals.dead_reasons.items())},
        removed={"documents": totals.removed, "panes": totals.lightened},
        extra={"documents": totals.extra, "fields": totals.outside},
        languages=totals.languages,
        other_languages=totals.other_languages,
        attributes={
            name: AttributeFacts.of(each) for name, each in sorted(totals.attributes.items())
        },
        weights=weights.summary(totals),
        measures={
            name: each.section(own, totals.documents, totals.aside)
            for name, each, own in registry.known(totals.measures)
        },
    )


def answer(
    totals: Totals,
    finished: bool,
    held: str | None,
    config: Config | None = None,
    output: object = "DIR",
) -> Answer:
    """Answer whether one may train on accepted/."""
    waiting = totals.blocked_panes - totals.reviewed.rejected - totals.reviewed.confirmed
    word = "block" if waiting > 0 else totals.state
    if word == "block" and not waiting:  # the last pane, on which somebody has decided
        word = "warn"
    elif word == "not_judged" and totals.states[word] < totals.panes:  # the last pane alone
        word = "open"
    why, step, named = totals.reason, None, shlex.quote(str(output))
    if held is not None:
        word, why = "held", held
        step = f"evenflow gate release {named} --reason '…', then the same command again"
        if totals.folder == "quarantine":
            step = f"evenflow gate why {named}, then {step}"
    elif waiting > 0:
        undecided = [pane for pane in totals.blocked if pane not in totals.reviewed.decided]
        shown = ranges(undecided)[-FIELDS:]
        more = "… " * (waiting > len(undecided) or len(ranges(undecided)) > FIELDS)
        why = f"{counted(waiting, 'pane')} {'is' if waiting == 1 else 'are'} in quarantine/"
        if waiting == 1 and undecided:
            why = f"pane {shown[0]} is in quarantine/, undecided"
        elif undecided:
            why = f"panes {more}{', '.join(shown)} are in quarantine/, undecided; {undecided[-1]}"
        if undecided and undecided[-1] == totals.blocked[-1]:
            why += f": {totals.blocked_reason}"
        accept = "".join(f" --pane {each}" for each in shown)
        step = f"evenflow gate why {named}, then evenflow gate accept {named}{accept} --reason '…'"
    elif count := len(set_aside(totals)):
        word = "warn"
        why = f"{counted(count, 'source')} set aside, the rest accepted (gate.scope)"
        step = f"evenflow gate why {named}, then evenflow gate accept {named} --reason '…'"
    elif word == "warn" and totals.state == "warn":
        step = f"evenflow gate why {named}" + f" --pane {totals.panes - 1}" * bool(totals.blocked)
    elif totals.panes and config is not None:
        word, why, step = _measured(totals, config, word, named)
    if totals.panes and not finished and held is None and totals.stream is None:
        why += "; the run is not finished"
    may = held is None and waiting <= 0
    said = "nothing was judged"
    if word != "not_judged" or not totals.panes:
        said = f"may one train on accepted/: {f'yes{_but(totals, config)}' if may else 'no'}"
    return Answer(may=may, said=said, word=word, why=why, next=step)


def _measured(
    totals: Totals, config: Config, word: str, output: str
) -> tuple[str, str, str | None]:
    """The state, why, and the next step, where nothing waits and no pane has a warning."""
    if found := moved(totals):
        why = f"{counted(len(found), 'source')} moved, not as surely as it takes to set one aside"
        return "warn", why, f"evenflow gate why {output}"
    if (why := unjudged(config)) is not None:
        if _compares(totals):
            why = f"sources are compared with their own first panes: {why}"
        else:
            word = "not_judged"
        return word, why, _init(totals, config, output)
    if ShiftMeasure.name in totals.measures and not (_compares(totals) or _has_thresholds(config)):
        why = "no threshold of DR is set, and every source is new or too small to be compared:"
        least = f"{LEAST_DOCUMENTS:.0f} of its documents must name a group in the reference"
        return "not_judged", f"{why} {least}", None
    if word == "open" and config.reference.file and not _has_thresholds(config):
        return word, f"no source shifted from the reference; {totals.reason}", None
    return word, totals.reason, None


def _init(totals: Totals, config: Config, output: str) -> str:
    """The command that makes a reference: of files that the user trusts, or of a topic's panes."""
    if totals.stream is not None:
        return f"evenflow init {output} --reference evenflow.reference.json"
    own = [each.wordlist for each in config.attributes.values() if each.wordlist]
    words = [word for path in own for word in ("-w", str(path))]
    return f"evenflow init {shlex.join([TRUSTED, *words])}"


def _but(totals: Totals, config: Config | None) -> str:
    """What accepted/ is without, and the sources that moved, or were not judged."""
    gone = totals.documents - totals.accepted
    without = f", without {gone:,} of {counted(totals.documents, 'document')}" if gone else ""
    names = [*set_aside(totals)]
    without += f" ({', '.join(names[:NAMED])}{', …' * bool(names[NAMED:])})" * bool(names)
    given = config is not None and config.reference.file
    fresh = len(set_aside(totals, "fresh")) if given else 0
    found = moved(totals)
    more = f", and {len(found) - 1} more" if found[1:] else ""
    without += f", but look at {found[0].said}{more}" if found else ""
    kind = "other source" if found else "source"
    return f"{without}; {counted(fresh, kind)} not judged" if fresh else without


def moved(totals: Totals) -> list[Moved]:
    """The sources that moved from their reference and were not set aside, the surest first."""
    return ShiftMeasure().moved(totals.measures.get(ShiftMeasure.name))


def set_aside(totals: Totals, kind: str = "aside") -> dict[str, Any]:
    """The sources that were set aside and wait for a decision; or are `fresh`, not judged."""
    shift = totals.measures.get(ShiftMeasure.name)
    return shift.sums.get(kind, {}) if shift is not None else {}


def steps(step: str | None) -> list[str]:
    """What to do next, a command a line."""
    return f"next: {step}".replace(", then ", "\nthen ").splitlines() if step else []


def unjudged(config: Config) -> str | None:
    """Say that nothing can be blocked by what is measured.

    Returns:
        A sentence; None where a threshold or a reference is given.
    """
    if block_from(config) is not None or _has_thresholds(config) or config.checks.suite:
        return None
    others = (each for name, each in registry.of(config).items() if name != ShiftMeasure.name)
    if config.gate.require or any(any(each.thresholds(config).values()) for each in others):
        return None
    return f"there is no threshold of DR, and no reference: what sources were in {TRUSTED} files"


def _compares(totals: Totals) -> bool:
    """Whether a pane had a source that was compared with what it was."""
    shift = totals.measures.get(ShiftMeasure.name)
    return shift is not None and shift.states.get("not_judged") != totals.panes


def _has_thresholds(config: Config) -> bool:
    """Whether DR of an attribute is judged."""
    return any(config.thresholds(name)[0] is not None for name in config.attributes)


def answers(facts: Facts) -> Iterator[str]:
    """Say whether one may train on accepted/, why, what to do, and where documents went."""
    train = facts.train
    yield train.said[0].upper() + train.said[1:]
    yield f"why: {train.why}"
    yield from steps(train.next)
    yield from lines(facts)


def lines(facts: Facts) -> Iterator[str]:
    """Say where documents went, besides accepted/ and quarantine/, and what was answered.

    Yields:
        Sentences without their ends.
    """
    if any(facts.reviewed.values()):
        yield "by people: " + ", ".join(
            f"{counted(count, 'pane')} {what}" for what, count in facts.reviewed.items() if count
        )
    if count := facts.dead_letters:
        yield f"{counted(count, 'dead letter')}: {_most(facts.dead_reasons)}"
    if count := facts.reading.panes:
        yield f"too little could be read of {counted(count, 'pane')}: {facts.reading.reason}"
    asking = facts.asking
    if asking.questions:
        yield (
            f"{counted(asking.questions, 'question')} to the language model,"
            f" {asking.fallbacks:,} answered by the embedded one"
            + (f", {asking.left_out:,} of these beyond llm.tokens" if asking.left_out else "")
        )
    if asking.panes:
        yield f"too many in {counted(asking.panes, 'pane')}: {asking.reason}"
    if count := facts.removed["documents"]:
        yield (
            f"{counted(count, 'document')} of {counted(facts.removed['panes'], 'pane')} set"
            " aside, so that the rest is accepted (gate.scope: documents)"
        )
    if count := facts.extra["documents"]:
        yield (
            f"{count:,} document{'s have' if count != 1 else ' has'} fields that fit no column and"
            f" are JSON text in _extra: {_most(facts.extra['fields'])}; fields.schema sets the"
            " columns"
        )
    yield from by_language(facts.languages, facts.other_languages)


def attribute_lines(facts: Facts) -> Iterator[str]:
    """Say what was done about attributes, and what they lack."""
    for name, each in facts.attributes.items():
        if each.dr_before is not None and not facts.weights:
            yield f"{name}: cumulative DR {score(each.dr_before)} before repair"
        if each.hardly_named and (each.is_judged or each.dr_before is not None):
            yield f"{name}: {each.hardly_named}"
    if facts.weights:
        yield from weights.lines(facts.weights)


def measure_lines(facts: Facts) -> Iterator[str]:
    """Say what measures found, if the reason does not say it."""
    for _, each, section in registry.known(facts.measures):
        yield from (line for line in each.lines(section) if line not in facts.reason)


def by_language(counts: Mapping[str, int], unlisted: Mapping[str, int]) -> Iterator[str]:
    """Say how many documents there are of each language, and of those that no list has."""
    if counts:
        others = sum(count for name, count in counts.items() if name != ENGLISH)
        yield (
            f"documents by language: {_most(counts)}; {others:,} that are not English are neither"
            " repaired nor searched for stereotypes"
        )
    if unlisted:
        yield (
            f"not judged: {not_judged(unlisted)}; no word list has these languages, and no word of"
            " theirs is counted. measure.languages says which there may be"
        )


def not_judged(unlisted: Mapping[str, int]) -> str:
    """How many documents are in languages that no word list has, and in which."""
    return f"{counted(sum(unlisted.values()), 'document')} in other languages ({_most(unlisted)})"


def measured_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """Say what a measurement found besides counts; result: of `summaries.measured`."""
    yield from by_language(result.get("languages", {}), result.get("other_languages", {}))
    for name, each in result["attributes"].items():
        known = each["convergence"]
        if known["documents"] is not None or known["projected"] is not None:
            yield f"{name}: DR known to ±{known['epsilon']:g}: {convergence(known)}"
        if words := each.get("words"):
            yield (
                f"{name}: of {sum(words['counts'].values()):,} mentions about"
                f" {sum(each['counts'].values()):,.0f} name people of their group"
                f" ({counted(each['passages'], 'passage')} read); DR of all mentions:"
                f" {dr_of(words)}"
            )
            against = ", ".join(f"{of}: {dr_of(row)}" for of, row in each["against"].items())
            yield f"{name}: DR of people against other shares: {against}"
    for _, each, section in registry.known(result.get("measures", {})):
        yield from each.lines(section)


def convergence(row: Mapping[str, Any]) -> str:
    """Say after how many documents an interval became narrower than a bound."""
    if row["documents"] is not None:
        return f"after {counted(row['documents'], 'document')} that name it"
    if row["projected"] is None:
        return "not known: there is no interval"
    about = round(row["projected"], 2 - len(str(row["projected"])))
    return f"not yet; needs about {about:,} documents that name it"


def _most(counts: Mapping[str, int]) -> str:
    """The greatest of some counts, with their names."""
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    named = ", ".join(f"{name} {each:,}" for name, each in most[:FIELDS])
    return named + ", …" * (len(most) > FIELDS)


def notes(entries: Sequence[PaneEntry]) -> Iterable[str]:
    """What measures say of the last pane, in sentences (see `Measure.notes`)."""
    if not entries:
        return []
    found = registry.known(entries[-1].measures)
    return [line for _, each, record in found for line in each.notes(record)]
