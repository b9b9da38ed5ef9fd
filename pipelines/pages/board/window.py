"""Which panes a page shows: the last ones, a range of panes, or a range of time."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from evenflow.gates.ledger import spans
from evenflow.gates.ledger.files import LedgerError
from evenflow.gates.ledger.spans import Span
from evenflow.pipelines.pages.board.follow import Gate

LAST = 120  # panes that are shown if nothing is asked for
SINGLE = 1024  # panes up to which each is drawn alone; more are merged by hours
MOST_GROUPS = 500  # hours up to which they are not merged by days
ROWS = 50  # panes of the table
KEYS = ("last", "from", "to", "since", "until")


@dataclass(frozen=True)
class Window:
    """The panes that a page shows."""

    first: int
    last: int
    panes: list[Span]
    rows: list[Span]
    live: bool
    problem: str


class WindowError(ValueError):
    """A range that cannot be shown; the message says why."""


def window(gate: Gate, query: Mapping[str, str]) -> Window:
    """Find the panes that a page shows; hold the gate's lock.

    `query`: `last` (a number of panes, or all), `from` and `to` (panes, both included), or `since`
    and `until` (ISO 8601 in UTC). It comes from outside.
    """
    assert gate.history is not None
    count, problem = len(gate.history), ""
    live = not any(query.get(key, "").strip() for key in ("from", "to", "since", "until"))
    try:
        try:
            first, last = _range(gate, query, count)
        except WindowError as error:
            first, last, live, problem = count - LAST, count - 1, True, str(error)
        return _read(gate, max(first, 0), min(last, count - 1), live, problem)
    except (LedgerError, OSError) as error:
        first, problem = count - len(gate.recent), f"earlier panes cannot be read: {error}"
        return Window(first, count - 1, gate.recent, gate.recent, True, problem)


def _read(gate: Gate, first: int, last: int, live: bool, problem: str) -> Window:
    """Read the panes of a range. Raises LedgerError and OSError."""
    assert gate.history is not None
    if last < first:
        return Window(first, last, [], [], live, problem)
    if last - first < SINGLE:
        panes = gate.single(first, last)
    else:
        panes = [each for each in gate.history.spans() if first <= each.last and each.first <= last]
        panes = panes if len(panes) <= MOST_GROUPS else spans.grouped(panes, spans.DAY)
        first, last = panes[0].first, panes[-1].last
    rows = gate.single(max(first, last - ROWS + 1), last)
    return Window(first, last, panes, rows, live, problem)


def _range(gate: Gate, query: Mapping[str, str], count: int) -> tuple[int, int]:
    """First and last pane that are asked for. Raises WindowError."""
    given = {key: value.strip() for key in KEYS if (value := query.get(key, "")).strip()}
    if "since" in given or "until" in given:
        since, until = (_moment(given[key]) if key in given else None for key in ("since", "until"))
        return _times(gate, since, until)
    if "from" in given or "to" in given:
        first = _number(given.get("from", "0"))
        last = _number(given["to"]) if "to" in given else count - 1
        if last < first:
            raise WindowError(f"pane {last} comes before pane {first}")
        if first >= count:
            raise WindowError(f"there is no pane {first} yet")
        return first, last
    wanted = given.get("last", str(LAST))
    return (0 if wanted == "all" else count - max(_number(wanted), 1)), count - 1


def number_of(text: str) -> int | None:
    """A number in a query; None if it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 13 else None


def _number(text: str) -> int:
    """A pane's number. Raises WindowError."""
    if (found := number_of(text)) is None:
        raise WindowError(f"{text[:40]!r} is no number of a pane")
    return found


def _moment(text: str) -> int:
    """A time as ms since 1970. Raises WindowError."""
    try:
        found = datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise WindowError(f"{text[:40]!r} is no time, such as 2026-01-31T18:00") from error
    utc = found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
    return round(utc.timestamp() * 1000)


def _times(gate: Gate, since: int | None, until: int | None) -> tuple[int, int]:
    """First and last pane that begin within a range of time. Raises WindowError."""
    assert gate.history is not None
    hours = [each for each in gate.history.spans() if each.time is not None]
    if not hours:
        raise WindowError("the panes have no time: they come from files")
    low, high = (end if given is None else given for given, end in ((since, -inf), (until, inf)))
    # The last hour that begins before may hold a pane that begins later
    start = max(sum((each.time or 0) <= low for each in hours) - 1, 0)
    near = [each for each in hours[start:] if (each.time or 0) <= high]
    ends = {each.first: each.last for each in (*near[:1], *near[-1:])}
    alone = [one for first, last in ends.items() for one in gate.single(first, last)]
    found = [one for one in (*alone, *near[1:-1]) if low <= (one.time or 0) <= high]
    if not found:
        raise WindowError("no pane begins in this time")
    return min(one.first for one in found), max(one.last for one in found)
