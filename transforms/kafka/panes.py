"""Cuts the records of a partition into panes: by spans of effective time, and by bytes.

The module has no clock and uses neither Kafka nor Beam. A record's effective time is the greatest
of its own timestamp, that of the record before it in the partition, and the partition's watermark.
So a partition's time never runs backwards, a pane is one contiguous range of its offsets, and no
record is ever late. The same records make the same panes, however they arrive in batches.
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
    """A pane; panes are in the order of these tuples.

    Attributes:
        span: Start of its span of time, in milliseconds since 1970 (UTC).
        part: Number of the part within the span, from 0.
    """

    span: int
    part: int


END = PaneId(1 << 62, 0)  # after all panes


class Point(NamedTuple):
    """Where a partition stands: all that cutting must remember from one batch to the next.

    Attributes:
        time: Effective time of the last record, or the watermark where that is later, in
            milliseconds since 1970.
        filled: Bytes of the partition's records in that pane.
    """

    time: int
    pane: PaneId
    filled: int


class Start(NamedTuple):
    """Where a partition's reading begins.

    Attributes:
        point: The point that cutting goes on from (see PaneCutter.after).
    """

    offset: int
    point: Point


class PaneSlice(NamedTuple):
    """Records of a batch that are in one pane.

    `first`: Effective time of the first record, in milliseconds since 1970. `after`: The point
    after the last record.
    """

    pane: PaneId
    begin: int
    end: int
    first: int
    after: Point


@dataclass(frozen=True)
class PaneCutter:
    """Cuts records by spans of time, and each span into parts by bytes of a partition.

    A record larger than `part_bytes` makes a part of its own.

    Attributes:
        span_ms: Length of a span in milliseconds; spans are aligned to 1970.
        part_bytes: The most bytes of a part.

    Raises:
        ValueError: A size is below 1.
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
        """Find the start of the span that a time falls into.

        Returns:
            The start, in milliseconds since 1970.
        """
        return time - time % self.span_ms

    def start(self, time: int = 0) -> Point:
        """Make the point of a partition of which nothing was read.

        Args:
            time: The earliest time of its records, in milliseconds since 1970.
        """
        return Point(time, PaneId(self.span(time), 0), 0)

    def after(self, pane: PaneId, time: int = 0) -> Point:
        """Make the point at which a partition goes on after a committed pane.

        No later record falls into that pane or an earlier one.

        Args:
            time: Effective time of the partition's last record, from the ledger, in milliseconds
                since 1970.
        """
        if self.span(time) > pane.span:
            return self.start(time)
        return Point(max(time, pane.span), PaneId(pane.span, pane.part + 1), 0)

    def advance(self, point: Point, time: int) -> Point:
        """Move the point of a partition that has been quiet until a time.

        Returns:
            The new point, never earlier than the old one.
        """
        if time <= point.time:
            return point
        span = self.span(time)
        return self.start(time) if span > point.pane.span else point._replace(time=time)

    def cut(
        self, point: Point, times: Sequence[int] | Ints, sizes: Sequence[int] | Ints, now: int
    ) -> list[PaneSlice]:
        """Cut a batch of n records that follows a point.

        `times`: The records' own timestamps (n,), in milliseconds since 1970; -1 for none. `sizes`:
        The records' bytes (n,), at least 1 each. `now`: The clock, in milliseconds since 1970.
        Timestamps more than FUTURE_MS ahead of it count as none.
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
