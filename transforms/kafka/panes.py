"""Spans of time, and the effective times of a partition's records.

The effective time of a record is the greatest of its own timestamp and those of the records before
it in its partition. So a partition's time never runs backwards, a pane is one contiguous range of
its offsets, and no record is ever late.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

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


def effective(times: Sequence[int], before: int, now: int) -> npt.NDArray[np.int64]:
    """Compute the effective times of records that follow each other.

    Args:
        times: The records' own timestamps (n,), in milliseconds since 1970; -1 for none.
        before: The effective time before the first.
        now: The clock. Timestamps more than FUTURE_MS ahead of it count as none.

    Returns:
        Effective times (n,).
    """
    own = np.asarray(times, np.int64)
    own = np.where(own > now + FUTURE_MS, 0, own)
    return np.maximum.accumulate(np.maximum(own, before))
