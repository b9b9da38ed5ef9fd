"""Spans of time, and the effective times of a partition's records.

The effective time of a record is the greatest of its own timestamp and those of the records before
it in its partition. So a partition's time never runs backwards, a pane is one contiguous range of
its offsets, and no record is ever late.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import NamedTuple

# A timestamp this much ahead of the clock is a defect and counts as none: brokers of Kafka 4 refuse
# such records by default (message.timestamp.after.max.ms), and one of them would hold every later
# record in a pane that never ends.
FUTURE_MS = 3_600_000


class PaneId(NamedTuple):
    """A pane; panes are in the order of these tuples.

    Attributes:
        span: Start of its span of time, in milliseconds since 1970 (UTC).
        part: Number of the part within the span, from 0.
    """

    span: int
    part: int


class OffsetRange(NamedTuple):
    """Offsets of a partition that are in a pane.

    Attributes:
        next: The offset after the last one.
    """

    partition: int
    first: int
    next: int


def effective(times: Iterable[int], before: int, until: int) -> list[int]:
    """Compute the effective times of records that follow each other.

    Args:
        times: The records' own timestamps (n,), in milliseconds since 1970; -1 for none.
        before: The effective time before the first.
        until: The end of their span. Timestamps from there on count as none.

    Returns:
        Effective times (n,).
    """
    own = (each if each < until else before for each in times)
    return list(accumulate(own, max, initial=before))[1:]
