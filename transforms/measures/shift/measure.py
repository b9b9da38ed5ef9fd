"""Shift as a measure: each source, and all of them together, beside their reference."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import orjson
from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from evenflow.schemas.config import Config
from evenflow.schemas.errors import UsageError
from evenflow.schemas.guards import is_mapping
from evenflow.schemas.ledger import Entry, Measured, State, Verdict
from evenflow.schemas.words import Table, estimate, percent, said
from evenflow.schemas.words import counted as number
from evenflow.transforms.measures.measure import (
    Counter,
    Family,
    Measure,
    MeasureTotals,
    counted_states,
)
from evenflow.transforms.measures.shift import statistics
from evenflow.transforms.measures.shift.moved import Moved, moved
from evenflow.transforms.measures.shift.reference import (
    Known,
    Learnt,
    Reference,
    judged_by,
    learnt,
)
from evenflow.transforms.measures.shift.statistics import Panel, Windows
from evenflow.transforms.measures.shift.strata import (
    UNITS,
    Strata,
    StratumCounter,
    Unit,
    long,
    of_text,
    packed,
    packed_size,
    pooled,
    short,
    text_of,
)
from evenflow.transforms.measures.shift.windows import Bucket, total, with_pane
from evenflow.transforms.measures.verdict import worst
from evenflow.wordlists.loader import WordList

BLOCK = 0.02  # where a reference is given (see gate.shift.block)
DIGITS = 6
ALL = "*"  # all judged sources together; no source's name, which has a letter
LARGEST = 64 << 20  # bytes of a reference's file
NEW = "?"  # before the words of a source that is not judged yet
PLAIN = 16  # strata that the ledger has as plain lists, a number a line; more are words
NAMED = 5  # sources that a line names
MOVED = 3  # sources that moved, a line each
DECIDED = "decided"  # among sums: sources on which a person has decided, which no entry has
BLIND = 0.15  # a source is named in whose own wandering a smaller shift is not seen


class ShiftReferenceError(UsageError):
    """A reference cannot be read, or is of other attributes or sources."""


class Shifted(Entry):
    """An attribute of a source, or of all judged ones, beside what is expected.

    Attributes:
        of: What is compared. `documents`: those that a group leads, with more than half of their
            mentions; each counts as one mention.
        observed: Shares of the groups (M,).
        expected: Expected shares (M,).
    """

    state: State
    of: Unit = "mentions"
    reason: str = ""
    panes: int
    mentions: int
    documents: int
    observed: list[float]
    expected: list[float]
    shift: float
    low: float | None
    high: float | None
    ratio: float


class Shift(Measured):
    """Shift of a pane."""

    strata: Strata
    groups: dict[str, int] = Field(default_factory=dict[str, int])
    attributes: dict[str, Shifted] = Field(default_factory=dict[str, Shifted])
    off: dict[str, dict[str, Shifted]] = Field(default_factory=dict[str, dict[str, Shifted]])
    learning: dict[str, int] = Field(default_factory=dict[str, int])
    aside: list[str] = Field(default_factory=list[str])
    moved: list[Moved] = Field(default_factory=list[Moved], exclude_if=operator.not_)

    @model_serializer(mode="wrap")
    def _without_names(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The record with sums in the order of the attributes' names, and short."""
        order = sorted(self.groups)
        strata = {
            name: [documents, *(short(sums.get(each, ())) for each in order)]
            for name, (documents, sums) in self.strata.items()
        }
        if len(strata) <= PLAIN:
            return written(self) | {"strata": strata}
        words = {name: NEW * (name in self.learning) + text_of(own) for name, own in strata.items()}
        return written(self) | {"strata": words, "learning": {}}

    @model_validator(mode="before")
    @classmethod
    def _with_names(cls, data: Any) -> Any:
        """A record with sums by attribute; those of older outputs, and in memory, are already."""
        if not is_mapping(data) or not is_mapping(strata := data.get("strata")):
            return data
        order = sorted(data.get("groups", {}).items())
        most = [packed_size(size) for _, size in order]
        words = {name: each for name, each in strata.items() if isinstance(each, str)}
        strata = {**strata, **{name: of_text(each.strip(NEW)) for name, each in words.items()}}
        if words:
            fresh = {name: strata[name][0] for name, each in words.items() if each[:1] == NEW}
            data = {**data, "learning": fresh}
        named = {
            name: (
                own[0],
                {
                    each: long(numbers, largest)
                    for (each, _), largest, numbers in zip(order, most, own[1:], strict=True)
                    if numbers
                },
            )
            if len(own) == 1 or not is_mapping(own[1])
            else own
            for name, own in strata.items()
        }
        return {**data, "strata": named}

    def off_in(self, state: State) -> list[str]:
        """The sources whose worst state this is; ALL for all together."""
        states = {
            name: worst(each.state for each in own.values()) for name, own in self.off.items()
        }
        return [name for name, each in states.items() if each == state]

    def blocked(self) -> list[str]:
        """The sources that are blocked; ALL for all together."""
        return self.off_in("block")

    def set_aside(self, sources: Sequence[str]) -> None:
        """Note that sources were set aside: the rest of the pane gets a warning."""
        self.aside = list(sources)
        self.verdict = Verdict(state="warn", reason=f"set aside: {self.verdict.reason}")


def block_from(config: Config) -> float | None:
    """The shift from which a source is blocked; None: nothing is."""
    own = config.gate.shift.block
    return own if own is not None or config.reference.file is None else BLOCK


def read(path: str) -> Reference:
    """Read a reference's file.

    Raises:
        ShiftReferenceError: It is no reference.
        OSError: It cannot be read.
    """
    found = Path(path).stat()
    return _read(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=4)  # every pane asks for it
def _read(path: str, changed: int, size: int) -> Reference:
    """Read a reference's file that was changed at a time, and is of a size."""
    if size > LARGEST:
        raise ShiftReferenceError(f"{path}: a reference has at most {LARGEST >> 20} MiB")
    with Path(path).open("rb") as file:
        data = file.read(LARGEST)
    try:
        return Reference.model_validate(orjson.loads(data))
    except ValueError as error:
        raise ShiftReferenceError(
            f"{path}: no reference that this version can read; `evenflow init` writes one elsewhere"
        ) from error


class ShiftMeasure(Measure[Shift]):
    """Shift from what sources were."""

    name = "shift"
    title = "shift"
    record = Shift
    off: ClassVar[Mapping[str, Any]] = {}
    limits = ()
    about_limits = "Shift from which a pane gets a warning, or a source is blocked."
    in_explain = False  # a document alone has no source

    def counter(self, config: Config, lists: Sequence[WordList]) -> Counter | None:
        """What counts by source."""
        return StratumCounter(config.reference.by, lists)

    def judge(
        self,
        config: Config,
        lists: Sequence[WordList],
        counted: Mapping[str, Any],
        totals: MeasureTotals | None,
        reference: Reference | None = None,
    ) -> Shift:
        """Judge the next pane by what was learnt of sources, and a reference: the configured."""
        reference, memory = reference or given(config, lists), Memory.of(totals)
        strata = pooled(packed(counted), [*(memory.known | reference.strata)])
        found = Shift.model_construct(
            strata=strata,
            groups={words.attribute: len(words.groups) for words in lists},
            verdict=Verdict(state="open", reason=""),
        )
        buckets = with_pane(memory.buckets, strata)
        known_well: set[str] = set()
        for words in lists:
            known_well |= _judge(found, config, words, reference.strata, memory.known, buckets)
        found.learning = {
            name: documents
            for name, (documents, _) in strata.items()
            if name not in known_well | found.off.keys()
        }
        found.verdict = _verdict(found)
        if reference.strata:
            so_far = total(tuple(buckets))
            groups = {words.attribute: words.groups for words in lists}
            found.moved = moved(reference.strata, so_far, groups, block_from(config) or BLOCK)
        return found

    def sums(self, record: Shift) -> dict[str, Any]:
        """The pane's counts by source."""
        return dict(record.strata)

    def without_sums(self, record: Shift) -> Shift:
        """A record without them."""
        return record.model_copy(update={"strata": {}})

    def added(
        self, before: MeasureTotals | None, record: Shift, accepted: bool, most: int
    ) -> MeasureTotals:
        """Add the next pane: it is looked back at, and learnt from where nothing has shifted."""
        memory = Memory.of(before)
        left = record.strata if ALL in record.off else record.off
        memory.known = learnt(memory.known, record.strata, record.groups, left)
        memory.buckets = with_pane(memory.buckets, record.strata)
        memory.note(record)
        return MeasureTotals(
            last=self.without_sums(record), sums=vars(memory), states=counted_states(before, record)
        )

    def taken_back(self, totals: MeasureTotals, record: Any) -> MeasureTotals:
        """The sums once a person decides on the sources that were set aside of a pane."""
        aside = {name: dict(own) for name, own in Memory.of(totals).aside.items()}
        for name in record.aside:
            aside[name]["documents"] -= record.strata[name][0]
            aside[name]["panes"] -= 1
        left = {name: own for name, own in aside.items() if own["panes"]}
        decided = [*totals.sums.get(DECIDED, ()), *record.aside]
        sums = {**totals.sums, "aside": left, DECIDED: decided}
        return totals.model_copy(update={"sums": sums})

    def totals(self, last: Any, sums: dict[str, Any], **others: Any) -> MeasureTotals:
        """Sums from plain data."""
        memory = Memory(
            {
                name: {attribute: Learnt.model_validate(each) for attribute, each in own.items()}
                for name, own in sums["known"].items()
            },
            [Bucket.model_validate(each) for each in sums["buckets"]],
            sums.get("fresh", {}),
            sums.get("aside", {}),
        )
        return super().totals(last, vars(memory), **others)

    def section(self, totals: MeasureTotals, documents: int, aside: int) -> dict[str, Any]:
        """The last record, and what is known of sources."""
        memory = Memory.of(totals)
        sources = {
            name: {"documents": max((each.documents for each in own.values()), default=0)}
            for name, own in memory.known.items()
        }
        more = {"sources": sources, "fresh": memory.fresh, "set_aside": memory.aside}
        more["moved"] = [each._asdict() for each in self.moved(totals)]
        return super().section(totals, documents, aside) | more

    def lines(self, section: Mapping[str, Any]) -> list[str]:
        """Which sources were set aside and why, which moved, and which are new."""
        out: list[str] = []
        aside = section["set_aside"].values()
        for each in sorted(aside, key=lambda each: each["documents"], reverse=True):
            gone = number(each["documents"], "document")
            where = f"{gone} of {number(each['panes'], 'pane')} in quarantine/*-aside.parquet"
            out.append(f"set aside: {each['reason']}; {where}")
        for each in section["moved"][:MOVED]:
            one = Moved(**each)
            ends = f"{100 * one.low:+.1f} to {100 * one.high:+.1f}"
            out.append(f"moved, not set aside: {one.said} ({ends} points)")
        panes = section["panes"]
        if (fresh := section["fresh"]) and panes["not_judged"] < sum(panes.values()):
            more = f" and {len(fresh) - NAMED} more" if len(fresh) > NAMED else ""
            out.append(f"not judged yet, new or too small: {', '.join([*fresh][:NAMED])}{more}")
        return out

    def moved(self, totals: MeasureTotals | None) -> list[Moved]:
        """Sources that moved by a plain interval and were not set aside, the surest first."""
        found = [] if totals is None else self._own(totals).moved
        sums = {} if totals is None else totals.sums
        known = {*sums.get("aside", ()), *sums.get(DECIDED, ())}
        return [each for each in found if each.source not in known]

    def table(self, section: Mapping[str, Any], attributes: Mapping[str, Any]) -> Table | None:
        """The sources that were off in the last pane, and all others, beside what they were."""
        sources = [*section["off"].items(), ("all others", section["attributes"])]
        rows = [
            (source, name, row["group"], percent(was), percent(now), shift, said(each["state"]))
            for source, own in sources
            for name, each in own.items()
            if source != ALL and name in attributes
            for shift in [estimate(each["shift"], each["low"], each["high"])]
            for shares in [(attributes[name]["groups"], each["expected"], each["observed"])]
            for row, was, now in zip(*shares, strict=True)
        ]
        columns = ("source", "attribute", "group", "was", "is", "shift", "verdict")
        return Table("Sources beside what they were, at the last pane", columns, rows)

    def figure(self, record: Shift, attribute: str) -> float | None:
        """The shift of an attribute, over all judged sources."""
        found = record.attributes.get(attribute)
        return None if found is None else found.shift

    def families(self, totals: MeasureTotals | None) -> Iterator[Family]:
        """Yield the shift by attribute, the sources that are off, and those that are learnt."""
        last = None if totals is None else self._own(totals)
        values = {
            (attribute, figure): getattr(each, figure)
            for attribute, each in (last.attributes if last else {}).items()
            for figure in ("shift", "low", "high", "ratio")
        }
        about = "Shift of all judged sources from what they were, and mentions by expected ones."
        yield Family("shift", about, ["attribute", "figure"], values)
        off = {(state,): len(last.off_in(state)) if last else None for state in ("warn", "block")}
        yield Family("shifted_sources", "Sources of the last pane that are off.", ["state"], off)
        fresh = None if last is None else len(last.learning)
        about = "Sources of the last pane that are not judged yet."
        yield Family("learning_sources", about, (), {(): fresh})

    def thresholds(self, config: Config) -> dict[str, float | None]:
        """The limits of the shift."""
        return {"warn": config.gate.shift.warn, "block": block_from(config)}

    def look(self, config: Config, on_note: Callable[[str], None]) -> None:
        """Read the reference, so that a wrong one is an error before a run begins.

        The file knows the field of its sources. An attribute that it does not have is named.
        """
        if (path := config.reference.file) is not None:
            reference = given(config, config.word_lists())
            config.reference.by = reference.by
            if lacking := ", ".join(sorted({*config.attributes} - {*reference.groups})):
                on_note(f"{path} has no {lacking}: that shift is not judged; make it again")

    def digests(self, config: Config) -> dict[str, Any]:
        """The digest of the reference."""
        path = config.reference.file
        return {} if path is None else {"reference": sha256(Path(path).read_bytes()).hexdigest()}


@dataclass
class Memory:
    """What is remembered of the panes before.

    Attributes:
        known: What was learnt of each source.
        fresh: Sources that are not judged yet, with their documents.
        aside: Sources that were set aside: their documents, panes, and the last reason.
    """

    known: dict[str, Known] = field(default_factory=dict[str, Known])
    buckets: list[Bucket] = field(default_factory=list[Bucket])
    fresh: dict[str, int] = field(default_factory=dict[str, int])
    aside: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def note(self, record: Shift) -> None:
        """Note the next pane's sources that are new, or were set aside."""
        judged = record.strata.keys() - record.learning.keys()
        self.fresh = {name: each for name, each in self.fresh.items() if name not in judged}
        for name, documents in record.learning.items():
            self.fresh[name] = self.fresh.get(name, 0) + documents
        self.aside = dict(self.aside)
        for name in record.aside:
            before = self.aside.get(name, {"documents": 0, "panes": 0})
            reasons = [each.reason for each in record.off[name].values() if each.state == "block"]
            self.aside[name] = {
                "documents": before["documents"] + record.strata[name][0],
                "panes": before["panes"] + 1,
                "reason": "; ".join(reasons),
            }

    @classmethod
    def of(cls, totals: MeasureTotals | None) -> Memory:
        """That of sums; nothing before the first pane."""
        sums = {} if totals is None else totals.sums
        return cls(**{name: each for name, each in sums.items() if name != DECIDED})


def given(config: Config, lists: Sequence[WordList]) -> Reference:
    """The reference of a configuration; an empty one where none is given."""
    own = config.reference
    if own.file is None:
        return Reference()
    reference = read(own.file)
    if own.by not in (None, reference.by):
        raise ShiftReferenceError(
            f"{own.file}: its sources are by {reference.by or 'file'},"
            f" reference.by says {own.by}; leave it out, or make the reference again"
        )
    for words in lists:
        groups = reference.groups.get(words.attribute)
        if groups is not None and groups != list(words.groups):
            raise ShiftReferenceError(
                f"{own.file}: the groups of {words.attribute} are {', '.join(groups)}, those of"
                f" the word list {', '.join(words.groups)}; make the reference again"
            )
    return reference


def wandering(reference: Reference) -> list[str]:
    """Sentences on sources that wander so far that no shift below BLIND is seen, worst first.

    Both mentions and documents can block, so the one counts that wanders less.
    """
    worst_first: list[tuple[float, str]] = []
    for attribute in reference.groups:
        least: dict[str, float] = {}
        for unit in UNITS:
            known = judged_by(reference.strata, {}, attribute, unit)
            of = () if known is None else known.wanders[known.is_judged]
            for name, by in zip(known.judged if known else (), of, strict=True):
                least[name] = min(float(by), least.get(name, 1.0))
        for name, by in least.items():
            blind = BLOCK + statistics.ONCE * by
            if blind < BLIND:
                continue
            own = reference.strata[name][attribute]
            length = number(round(own.documents / own.chunks), "document")
            text = (
                f"{name}: {attribute} wanders by ± {by:.2f} between stretches of about {length}:"
                f" a shift below {blind:.2f} is not seen; name a finer field with --by"
            )
            worst_first.append((-by, text))
    return [text for _, text in sorted(worst_first)]


def _judge(
    found: Shift,
    config: Config,
    words: WordList,
    known: Mapping[str, Known],
    others: Mapping[str, Known],
    buckets: Sequence[Bucket],
) -> set[str]:
    """Judge an attribute by a reference and what was learnt of other sources.

    Returns:
        The sources of the pane that are judged.
    """
    panels: dict[Unit, Panel] = {}
    for unit in UNITS:
        here = judged_by(known, others, words.attribute, unit)
        if here is not None and not found.strata.keys().isdisjoint(here.strata):
            panel = Panel.of(buckets, words.attribute, unit, here)
            panels |= {} if panel is None else {unit: panel}
    judge_panels(found, config, words, panels)
    return {name for panel in panels.values() for name in panel.known.judged} & found.strata.keys()


def judge_panels(
    found: Shift, config: Config, words: WordList, panels: Mapping[Unit, Panel]
) -> None:
    """Judge an attribute by its panels, and note what is off."""
    name, left = words.attribute, set[str]()
    limits: list[tuple[State, float | None]] = [
        ("block", block_from(config)),
        ("warn", config.gate.shift.warn),
    ]
    least = min((limit for _, limit in limits if limit is not None), default=2.0)
    fall = config.gate.shift.mentions
    off = {of: statistics.is_off(each.each, least, fall) for of, each in panels.items()}
    # Of one state, the first that is noted stays: shares say more than how many mentions there are
    looks: list[tuple[Unit, Panel, Any]] = [(of, each, _share_over) for of, each in panels.items()]
    if "mentions" in panels:
        looks.append(("mentions", panels["mentions"], _number_over))
    for unit, panel, over_of in looks:
        for column in np.flatnonzero(off[unit].any(axis=0)).tolist():
            source, one = panel.known.strata[column], panel.each.at(slice(None), column)
            over = over_of(one, unit, words, limits, config)
            if over is None:
                continue
            left.add(source)  # of an earlier pane too: its shift is not that of the others
            if source in found.strata:
                _note(found, source, f"{source}: {name}", name, over)
    for unit, panel, over_of in looks:
        if left.issuperset(panel.known.judged):
            continue
        every = panel.together(left)
        over = over_of(every, unit, words, limits, config)
        if over is not None:
            _note(found, ALL, name, name, over)
        if unit == "mentions":
            window = every.at(statistics.shown(every))
            if over is None and name not in found.attributes and window.mentions:
                over = _shifted(window, unit, "open", config)
            if over is not None:
                found.attributes[name] = over


def _note(found: Shift, source: str, of: str, attribute: str, over: Shifted) -> None:
    """Note what is off of a source, unless the same or worse is noted."""
    own = found.off.setdefault(source, {})
    over.reason = f"{of}: {over.reason}"
    if attribute not in own or worst([own[attribute].state, over.state]) != own[attribute].state:
        own[attribute] = over


def _share_over(
    found: Windows,
    unit: Unit,
    words: WordList,
    limits: Sequence[tuple[State, float | None]],
    config: Config,
) -> Shifted | None:
    """The worst of what windows show of shares that are off; None: nothing is."""
    for state, limit in limits:
        if limit is None or (at := statistics.first_over(found, limit)) is None:
            continue
        window = found.at(at)
        over = _shifted(window, unit, state, config)
        at = int(np.argmax(np.abs(window.excess)))
        interval = "" if over.low is None else f" ({over.low:.2f} to {over.high:.2f})"
        leads, of = (" leads", " of documents") if unit == "documents" else ("", "")
        over.reason = (
            f"{words.groups[at]}{leads} {over.observed[at]:.0%}{of} where it was"
            f" {over.expected[at]:.0%}: shift {over.shift:.2f}{interval}, {state} from {limit:g}"
        )
        return over
    return None


def _number_over(
    found: Windows,
    unit: Unit,
    words: WordList,
    limits: Sequence[tuple[State, float | None]],
    config: Config,
) -> Shifted | None:
    """The same of the number of mentions, and of documents that have one."""
    fall = config.gate.shift.mentions
    state: State | None = next((state for state, limit in limits if limit is not None), None)
    at = statistics.first_off(found, fall)
    chosen = statistics.first_naming(found, fall) if at is None else at
    if state is None or chosen is None:
        return None
    window = found.at(chosen)
    over = _shifted(window, unit, state, config)
    each = number(int(window.documents), "document")
    over.reason = (
        f"{window.naming:,.0f} of {each} name a group where {window.due_naming:,.0f} were"
        f" expected, {state} from {1 / (1 - fall):.2f} times"
        if at is None
        else f"{window.mentions:,.0f} mentions in {each} where {window.due:,.0f} were expected:"
        f" {window.ratio:.2f} times, {state} from {1 - fall:.2f} down and {1 / (1 - fall):.2f} up"
    )
    return over


def _shifted(window: Windows, unit: Unit, state: State, config: Config) -> Shifted:
    """A window as the ledger keeps it."""
    interval = window.interval(config.gate.confidence) if window.mentions else None
    most = max(float(window.mentions), 1.0)

    def rounded(values: Any) -> list[float]:
        return [round(float(each), DIGITS) for each in values]

    return Shifted(
        state=state,
        of=unit,
        panes=int(window.panes),
        mentions=round(float(window.mentions)),
        documents=int(window.documents),
        observed=rounded(window.observed / most),
        expected=rounded(window.expected / most),
        shift=round(float(window.shift), DIGITS),
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        ratio=round(float(window.ratio), DIGITS),
    )


def _verdict(found: Shift) -> Verdict:
    """The verdict on all that is off."""
    off = [each for own in found.off.values() for each in own.values()]
    if not found.attributes and not off:
        return Verdict(state="not_judged", reason="no source of the pane is known yet")
    state = worst([each.state for each in off])
    return Verdict(state=state, reason="; ".join(e.reason for e in off if e.state == state))
