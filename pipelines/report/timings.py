"""Throughput from gate/timings.jsonl: wall-clock times, kept apart from the ledger and only for the
page.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TAIL = 1 << 20  # bytes of the file that are read: some five thousand panes


@dataclass(frozen=True)
class Timing:
    """A pane's time. seconds: from the commit before to its own. stages: seconds a stage, summed
    over workers.
    """

    pane: int
    seconds: float
    input_bytes: int
    documents: int
    stages: dict[str, float]


@dataclass(frozen=True)
class Stage:
    """Seconds of a stage over all panes and its share of the time (0..1)."""

    name: str
    seconds: float
    share: float


@dataclass(frozen=True)
class Throughput:
    """The run's speed. panes: those timed, in order. seconds: in all. stages: the longest first,
    their shares sum to 1.
    """

    panes: tuple[Timing, ...]
    seconds: float
    input_bytes: int
    documents: int
    stages: tuple[Stage, ...]

    @property
    def bytes_a_second(self) -> float:
        """Input bytes a second."""
        return self.input_bytes / self.seconds

    @property
    def documents_a_second(self) -> float:
        """Documents a second."""
        return self.documents / self.seconds

    def share(self, stage: str) -> float | None:
        """A stage's share of the time, None where it was not timed."""
        return next((each.share for each in self.stages if each.name == stage), None)


def read_timings(root: Path, panes: int) -> dict[int, Timing]:
    """Timings of panes below `panes` by number, of a long run those of the last ones.

    The last line of a pane wins, a line that a kill tore is left out.

    Raises OSError where the file is there but cannot be read.
    """
    try:
        with (root / "gate" / "timings.jsonl").open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - TAIL, 0))
            data = file.read()
    except FileNotFoundError:
        return {}
    found: dict[int, Timing] = {}
    for line in data.split(b"\n"):
        timing = _parsed(line)
        if timing is not None and 0 <= timing.pane < panes:
            found[timing.pane] = timing
    return dict(sorted(found.items()))


def _parsed(line: bytes) -> Timing | None:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    pane, size, documents, stages = (
        row.get(key) for key in ("pane", "input_bytes", "documents", "stages")
    )
    seconds = _positive(row.get("seconds"))
    if (
        not (isinstance(pane, int) and isinstance(size, int) and isinstance(documents, int))
        or not seconds
    ):
        return None
    spent = stages.items() if isinstance(stages, dict) else ()
    return Timing(
        pane,
        seconds,
        max(size, 0),
        max(documents, 0),
        {key: _positive(value) for key, value in spent},
    )


def _positive(value: Any) -> float:
    """A finite number above 0, or 0."""
    return (
        float(value)
        if isinstance(value, int | float) and math.isfinite(value) and value > 0
        else 0.0
    )


def throughput(timings: Iterable[Timing]) -> Throughput | None:
    """The speed over all timed panes; None without one.

    What no stage accounts for is the stage `other`. With several workers the stages' sum exceeds
    the wall clock; their shares are then of that sum.
    """
    panes = tuple(timings)
    if not panes:
        return None
    wall = sum(each.seconds for each in panes)
    spent: dict[str, float] = {}
    for each in panes:
        for stage, seconds in each.stages.items():
            spent[stage] = spent.get(stage, 0.0) + seconds
    rest = wall - sum(spent.values())
    if rest > 0:
        spent["other"] = spent.get("other", 0.0) + rest
    total = sum(spent.values())
    stages = sorted(
        (Stage(name, seconds, seconds / total) for name, seconds in spent.items()),
        key=lambda one: -one.seconds,
    )
    return Throughput(
        panes,
        wall,
        sum(each.input_bytes for each in panes),
        sum(each.documents for each in panes),
        tuple(stages),
    )


def rates(
    timings: dict[int, Timing], panes: Iterable[int], window: int
) -> list[tuple[float, float] | None]:
    """MB and documents a second at each pane, over up to `window` timed panes up to it; None where
    a pane was not timed.

    Panes that are read together share their reading time: a single pane's seconds alone would jump.
    """
    out: list[tuple[float, float] | None] = []
    recent: list[Timing] = []
    for number in panes:
        timing = timings.get(number)
        if timing is None:
            out.append(None)
            continue
        recent = [*recent, timing][-window:]
        seconds = sum(each.seconds for each in recent)
        size, documents = (
            sum(each.input_bytes for each in recent),
            sum(each.documents for each in recent),
        )
        out.append((size / 1e6 / seconds, documents / seconds))
    return out
