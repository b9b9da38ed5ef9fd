"""Cuts the records of a partition into panes: by spans of effective time, and by bytes. Pure: no
clock, no Kafka, no Beam.

A record's effective time is the greatest of its own timestamp, that of the record before it in the
partition, and the partition's watermark. So a partition's time never runs backwards, a pane is one
contiguous range of its offsets, and no record is ever late. However the sequence arrives in
batches, the same records make the same panes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# A timestamp this much ahead of the clock is a defect and counts as none: brokers of Kafka 4 refuse
# such records by default (message.timestamp.after.max.ms), and one of them would hold every later
# record in a pane that never ends.
FUTURE_MS = 3_600_000

Ints = npt.NDArray[np.int64]


class PaneId(NamedTuple):
    """A pane: the start of its span of time, in milliseconds since 1970 (UTC), and its part, from
    0, within that span.

    Panes are in the order of these tuples.
    """

    span: int
    part: int


class Point(NamedTuple):
    """Where a partition stands: all that cutting has to remember from one batch to the next.

    time: effective time of the last record, or the watermark where that is later; milliseconds
    since 1970. pane: that of the last record; filled: bytes of the partition's records in it.
    """

    time: int
    pane: PaneId
    filled: int


class PaneSlice(NamedTuple):
    """Records begin..end (end excluded) of a batch, all of one pane.

    first: effective time of the first, in ms. after: the point after the last.
    """

    pane: PaneId
    begin: int
    end: int
    first: int
    after: Point


@dataclass(frozen=True)
class PaneCutter:
    """Cuts by spans of span_ms milliseconds, aligned to 1970, and into parts of at most part_bytes
    bytes of a partition.

    A record larger than part_bytes makes a part of its own. Raises ValueError for a size below 1.
    """

    span_ms: int = 60_000
    part_bytes: int = 1 << 40

    def __post_init__(self) -> None:
        for name in ("span_ms", "part_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(
                    f"{name} is {getattr(self, name)}; a whole number from 1 was expected"
                )

    def span(self, time: int) -> int:
        """The start of the span that a time falls into; both in milliseconds since 1970."""
        return time - time % self.span_ms

    def start(self, time: int = 0) -> Point:
        """The point of a partition of which nothing was read, no earlier than a time."""
        return Point(time, PaneId(self.span(time), 0), 0)

    def after(self, pane: PaneId, time: int = 0) -> Point:
        """The point at which a partition goes on after a pane that is committed: no record may fall
        into that or before.

        time: effective time of the partition's last record, from the ledger; ms.
        """
        if self.span(time) > pane.span:
            return self.start(time)
        return Point(max(time, pane.span), PaneId(pane.span, pane.part + 1), 0)

    def advance(self, point: Point, time: int) -> Point:
        """The point after a partition has been quiet until a time; never earlier than it was."""
        if time <= point.time:
            return point
        span = self.span(time)
        return self.start(time) if span > point.pane.span else point._replace(time=time)

    def cut(
        self, point: Point, times: Sequence[int] | Ints, sizes: Sequence[int] | Ints, now: int
    ) -> list[PaneSlice]:
        """Cut a batch of n records that follows a point: its pieces in order, none for no records.

        times: (n,) the records' own timestamps, ms; -1 for none. sizes: (n,) bytes, at least 1
        each. now: the clock, in ms; timestamps more than FUTURE_MS ahead of it count as none.
        """
        own = np.asarray(times, np.int64)
        if not len(own):
            return []
        own = np.where(own > now + FUTURE_MS, 0, own)
        effective = np.maximum.accumulate(np.maximum(own, point.time))
        spans = effective - effective % self.span_ms
        ends = np.cumsum(np.asarray(sizes, np.int64))
        edges = [0, *(np.flatnonzero(np.diff(spans)) + 1).tolist(), len(own)]
        pieces: list[PaneSlice] = []
        pane, filled = point.pane, point.filled
        for begin, end in pairwise(edges):
            if int(spans[begin]) > pane.span:
                pane, filled = PaneId(int(spans[begin]), 0), 0
            while begin < end:
                before = int(ends[begin - 1]) if begin else 0
                until = min(
                    int(np.searchsorted(ends, before + self.part_bytes - filled, "right")), end
                )
                if until <= begin:
                    if filled:
                        pane, filled = PaneId(pane.span, pane.part + 1), 0
                        continue
                    until = begin + 1
                filled += int(ends[until - 1]) - before
                after = Point(int(effective[until - 1]), pane, filled)
                pieces.append(PaneSlice(pane, begin, until, int(effective[begin]), after))
                begin = until
        return pieces
