"""Neighbouring panes as one: what a chart over many panes draws. Spans of spans are spans, so panes
can be grouped by hours and hours by days."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from evenflow.gates.verdict import worst
from evenflow.schemas.ledger import STATES, AttributeEntry, Entry, Folder, PaneEntry, State

HOUR, DAY = 3_600_000, 86_400_000  # milliseconds
HOUR_PANES = 64  # that stand for an hour where panes have no time
REASON = 300  # characters of a reason that are kept


class AttributeSpan(Entry):
    """An attribute over some panes. low, high: of the panes' own DR. rolling, cumulative, accepted:
    of the last pane that has them; rolling_low, rolling_high: the widest. None without mentions.
    state: the gravest verdict, None where there was too little to judge any. mentions: in all."""

    low: float | None
    high: float | None
    rolling: float | None
    rolling_low: float | None
    rolling_high: float | None
    cumulative: float | None
    accepted: float | None
    state: State | None
    mentions: int


class Span(Entry):
    """Panes first..last, both included. time: start of the first one's span of a stream, ms since
    1970.

    states: how many were in each. state: the gravest; causes: what it comes from, attributes or
    «checks», «reading», «asking»; reason: of pane `at`, where it was gravest: by its state, then by
    weight.
    """

    first: int
    last: int
    time: int | None
    states: dict[State, int]
    state: State
    causes: tuple[str, ...]
    folder: Folder
    at: int
    weight: float
    reason: str
    documents: int
    dead: int
    input_bytes: int
    attributes: dict[str, AttributeSpan]

    @property
    def panes(self) -> int:
        """How many."""
        return self.last - self.first + 1


def of(entry: PaneEntry) -> Span:
    """A single pane."""
    found = causes(entry)
    lows = [entry.attributes[name].rolling.low for name in found if name in entry.attributes]
    return Span(
        first=entry.pane,
        last=entry.pane,
        time=entry.stream.span if entry.stream else None,
        states={entry.verdict.state: 1},
        state=entry.verdict.state,
        causes=found,
        folder=entry.folder,
        at=entry.pane,
        weight=max((low for low in lows if low is not None), default=0.0),
        reason=entry.verdict.reason[: REASON + 1],
        documents=entry.documents,
        dead=entry.dead,
        input_bytes=entry.input_bytes,
        attributes={name: _attribute(each) for name, each in entry.attributes.items()},
    )


def causes(entry: PaneEntry) -> tuple[str, ...]:
    """What a pane's verdict comes from: what could be read, the checks, or attributes in its state
    and the asking.
    """
    state = entry.verdict.state
    if entry.reading is not None and entry.reading.state == "block":
        return ("reading",)
    if not entry.checks.success:
        return ("checks",)
    found = [name for name, each in entry.attributes.items() if each.verdict.state == state]
    found += ["asking"] if entry.asking is not None and entry.asking.state == state else []
    return tuple(found) if state != "open" else ()


def _attribute(each: AttributeEntry) -> AttributeSpan:
    return AttributeSpan(
        low=each.pane.dr,
        high=each.pane.dr,
        rolling=each.rolling.dr,
        rolling_low=each.rolling.low,
        rolling_high=each.rolling.high,
        cumulative=each.cumulative.dr,
        accepted=each.accepted.dr if each.accepted else None,
        state=each.verdict.state if each.verdict.judged else None,
        mentions=each.pane.mentions,
    )


def merged(spans: Sequence[Span]) -> Span:
    """Neighbours, at least one, as one."""
    if len(spans) == 1:
        return spans[0]
    worst = max(spans, key=lambda each: (STATES.index(each.state), each.weight))
    names = dict.fromkeys(name for each in spans for name in each.attributes)
    return worst.model_copy(
        update={
            "first": spans[0].first,
            "last": spans[-1].last,
            "time": spans[0].time,
            "states": {
                state: count
                for state in STATES
                if (count := sum(each.states.get(state, 0) for each in spans))
            },
            "documents": sum(each.documents for each in spans),
            "dead": sum(each.dead for each in spans),
            "input_bytes": sum(each.input_bytes for each in spans),
            "attributes": {
                name: _joined([each.attributes[name] for each in spans if name in each.attributes])
                for name in names
            },
        }
    )


def _joined(seen: Sequence[AttributeSpan]) -> AttributeSpan:
    def some(name: str, pick: Callable[[list[float]], float]) -> float | None:
        found = [value for each in seen if (value := getattr(each, name)) is not None]
        return pick(found) if found else None

    judged: list[State] = [each.state for each in seen if each.state is not None]
    return AttributeSpan(
        low=some("low", min),
        high=some("high", max),
        rolling=some("rolling", lambda found: found[-1]),
        rolling_low=some("rolling_low", min),
        rolling_high=some("rolling_high", max),
        cumulative=some("cumulative", lambda found: found[-1]),
        accepted=some("accepted", lambda found: found[-1]),
        state=worst(judged) if judged else None,
        mentions=sum(each.mentions for each in seen),
    )


def grouped(spans: Iterable[Span], span: int) -> list[Span]:
    """Spans by hours or days (span: HOUR, DAY); by as many panes as stand for it where they have no
    time.
    """

    def key(each: Span) -> tuple[bool, int]:
        return (
            (False, each.first // (HOUR_PANES * span // HOUR))
            if each.time is None
            else (True, each.time // span)
        )

    return [merged(list(group)) for _, group in groupby(spans, key)]
