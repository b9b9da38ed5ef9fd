"""Summaries of neighbouring panes, for charts over many panes.

Spans of spans are spans, so panes can be grouped by hours and hours by days.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Annotated, Any

from pydantic import BeforeValidator

from evenflow.schemas.ledger import (
    BAD,
    STATES,
    AttributeEntry,
    Entry,
    Folder,
    PaneEntry,
    State,
    Verdict,
)
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.verdict import worst

HOUR, DAY = 3_600_000, 86_400_000  # milliseconds
HOUR_PANES = 64  # panes that count as an hour if panes have no time
REASON = 300  # characters of a reason that charts show


def _older(state: Any) -> Any:
    """The state in a segment that was written when “not judged” was no state."""
    return state or "not_judged"


class AttributeSpan(Entry):
    """An attribute over some panes. A score is None if nothing was mentioned.

    Attributes:
        low: Least DR of a single pane.
        high: Greatest DR of a single pane.
        rolling: Rolling DR of the last pane that has one.
        rolling_low: Least lower bound of the rolling DR.
        rolling_high: Greatest upper bound of the rolling DR.
        cumulative: Cumulative DR of the last pane that has one.
        accepted: DR of accepted/ after the last pane that has one.
    """

    low: float | None = None
    high: float | None = None
    rolling: float | None = None
    rolling_low: float | None = None
    rolling_high: float | None = None
    cumulative: float | None = None
    accepted: float | None = None
    state: Annotated[State, BeforeValidator(_older)]
    mentions: int = 0


class Span(Entry):
    """Neighbouring panes.

    Attributes:
        time: Start of the first pane's span of a stream, ms since 1970; None for files.
        causes: What the worst state comes from: attributes, “checks”, “reading” or “asking”.
        at: Number of the worst pane: by its state, then by weight.
        weight: Greatest lower bound of rolling DR among the worst pane's causes.
        reason: Reason of the worst pane's verdict, cut short.
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
        """Number of panes."""
        return self.last - self.first + 1


def from_entry(entry: PaneEntry) -> Span:
    """Summarise a single pane."""
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


def verdicts(entry: PaneEntry) -> list[tuple[str, Verdict]]:
    """List what the verdict on a pane that was read and checked comes from, by name."""
    weights = entry.weights.verdict if entry.weights is not None else None
    found = [
        *((name, each.verdict) for name, each in entry.attributes.items()),
        ("asking", entry.asking),
        *((title, each.verdict) for title, each in registry.titled(entry.measures).items()),
        ("benchmark", entry.benchmark),
        ("weights", weights),
    ]
    return [(name, each) for name, each in found if each is not None]


def causes(entry: PaneEntry) -> tuple[str, ...]:
    """Find what a pane's verdict comes from.

    Returns:
        “reading”, “checks”, or the names of `verdicts` in the pane's state; nothing for a pane that
        is open or was not judged.
    """
    state = entry.verdict.state
    if entry.reading is not None and entry.reading.state == "block":
        return ("reading",)
    if not entry.checks.success:
        return ("checks",)
    found = tuple(name for name, each in verdicts(entry) if each.state == state)
    return found if state in BAD else ()


def _attribute(each: AttributeEntry) -> AttributeSpan:
    """An attribute of a single pane."""
    return AttributeSpan(
        low=each.pane.dr,
        high=each.pane.dr,
        rolling=each.rolling.dr,
        rolling_low=each.rolling.low,
        rolling_high=each.rolling.high,
        cumulative=each.cumulative.dr,
        accepted=each.accepted.dr if each.accepted else None,
        state=each.verdict.state,
        mentions=each.pane.mentions,
    )


def merged(spans: Sequence[Span]) -> Span:
    """Merge neighbouring spans, at least one, into one."""
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
    """An attribute's spans as one."""

    def some(name: str, pick: Callable[[list[float]], float]) -> float | None:
        found = [value for each in seen if (value := getattr(each, name)) is not None]
        return pick(found) if found else None

    def last(found: list[float]) -> float:
        return found[-1]

    return AttributeSpan(
        low=some("low", min),
        high=some("high", max),
        rolling=some("rolling", last),
        rolling_low=some("rolling_low", min),
        rolling_high=some("rolling_high", max),
        cumulative=some("cumulative", last),
        accepted=some("accepted", last),
        state=worst(each.state for each in seen),
        mentions=sum(each.mentions for each in seen),
    )


def grouped(spans: Iterable[Span], span: int) -> list[Span]:
    """Group spans by hours or days.

    Args:
        spans: Neighbouring spans, in order.
        span: HOUR or DAY. Without times, a number of panes counts as that (see HOUR_PANES).
    """

    def key(each: Span) -> tuple[bool, int]:
        return (
            (False, each.first // (HOUR_PANES * span // HOUR))
            if each.time is None
            else (True, each.time // span)
        )

    return [merged(list(group)) for _, group in groupby(spans, key)]
