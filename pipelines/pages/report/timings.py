"""Throughput from gate/timings.jsonl, or from the files in gate/timings/ of an object store.

Wall-clock times are kept out of the ledger. Only the page shows them.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evenflow.transforms.storage.storage import Place, Storage, at

TAIL = 1 << 20  # bytes of the file that the report reads: some five thousand panes
LATEST = 80  # files of an object store that are read: as many panes


@dataclass(frozen=True)
class Timing:
    """The time that a pane took.

    Attributes:
        pane: The pane's number.
        seconds: From the commit before to its own.
        input_bytes: Bytes of its records.
        documents: Its documents.
        stages: Seconds by stage, summed over workers.
    """

    pane: int
    seconds: float
    input_bytes: int
    documents: int
    stages: dict[str, float]


@dataclass(frozen=True)
class Stage:
    """The time of a stage over all panes.

    Attributes:
        name: The stage.
        seconds: Its seconds.
        share: Its share of the time (0..1).
    """

    name: str
    seconds: float
    share: float


@dataclass(frozen=True)
class Throughput:
    """The speed of a run.

    Attributes:
        panes: The timed panes, in order.
        seconds: Their seconds.
        input_bytes: Their bytes.
        documents: Their documents.
        stages: The stages, the longest first; their shares sum to 1.
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
        """Return the share of a stage (0..1); None where it was not timed."""
        return next((each.share for each in self.stages if each.name == stage), None)


def read_timings(root: Place, panes: int, tail: int = TAIL) -> dict[int, Timing]:
    """Read the timings of a run; of a long run those of the last panes.

    The last line of a pane wins. A line that a kill cut off is left out.

    Args:
        root: The output.
        panes: Number of panes in the ledger; timings of later ones are left out.
        tail: Bytes at the end of the file that are read.

    Returns:
        Timings by pane, ascending; empty without a file.

    Raises:
        OSError: The file exists but cannot be read.
    """
    found: dict[int, Timing] = {}
    for line in _last_lines(at(root), tail):
        timing = _parsed(line)
        if timing is not None and 0 <= timing.pane < panes:
            found[timing.pane] = timing
    return dict(sorted(found.items()))


def _last_lines(storage: Storage, tail: int) -> list[bytes]:
    """The last lines that were written."""
    if storage.local is None:
        names = [f"gate/timings/{name}" for name in storage.names("gate/timings")[-LATEST:]]
        return b"".join(each or b"" for each in storage.read_all(names)).split(b"\n")
    try:
        with storage.open("gate/timings.jsonl") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - tail, 0))
            return file.read().split(b"\n")
    except FileNotFoundError:
        return []


def _parsed(line: bytes) -> Timing | None:
    """The timing in a line; None where the line has none."""
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
    """The value, if it is a finite number above 0; else 0."""
    return (
        float(value)
        if isinstance(value, int | float) and math.isfinite(value) and value > 0
        else 0.0
    )


def throughput(timings: Iterable[Timing]) -> Throughput | None:
    """Compute the speed over all timed panes.

    Time that no stage accounts for is the stage `other`. With several workers the sum of the stages
    may exceed the wall clock; shares are then of that sum.

    Args:
        timings: The timings, in the order of the panes.

    Returns:
        The speed; None without a timing.
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
    """Compute a moving rate over panes.

    Panes that are read together share their reading time, so the rate of a single pane would jump.

    Args:
        timings: Timings by pane.
        panes: The panes.
        window: The most timed panes, up to each pane, that a rate is averaged over.

    Returns:
        Of each pane MB and documents a second; None where the pane was not timed.
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
