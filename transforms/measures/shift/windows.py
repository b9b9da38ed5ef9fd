"""How far back a verdict looks: sums of the last panes, in buckets that double.

Small losses show in long windows, great ones in short ones. There are two buckets of a size at
most; of three the older two become one of twice the size (Datar, Gionis, Indyk and Motwani, SIAM
Journal on Computing 31, 2002). So some twenty buckets reach back over a thousand panes.
"""

from __future__ import annotations

from functools import lru_cache

from evenflow.schemas.ledger import Entry
from evenflow.transforms.measures.shift.strata import Strata, added

REACH = 512  # panes of the largest bucket


class Bucket(Entry):
    """Some consecutive panes."""

    panes: int
    strata: Strata

    def __hash__(self) -> int:
        return id(self)  # what is made of an object is kept for it; equal ones are rare


def with_pane(buckets: list[Bucket], pane: Strata) -> list[Bucket]:
    """The buckets, oldest first, with a further pane."""
    # To look through 256 strata takes longer than to add them
    out = [*buckets, Bucket.model_construct(panes=1, strata=pane)]
    at = len(out) - 1
    while at >= 2 and out[at - 2].panes == out[at - 1].panes == out[at].panes:
        out[at - 2 : at] = [_joined(out[at - 2], out[at - 1])]
        at -= 2
    return [each for each in out if each.panes <= REACH]


@lru_cache(maxsize=8)  # a pane is added once when it is judged, and once when it is committed
def _joined(a: Bucket, b: Bucket) -> Bucket:
    """Two buckets as one."""
    return Bucket.model_construct(panes=a.panes + b.panes, strata=added(a.strata, b.strata))


@lru_cache(maxsize=24)  # from pane to pane only the newest buckets change
def total(buckets: tuple[Bucket, ...]) -> Strata:
    """The sums of buckets, oldest first."""
    return added(total(buckets[:-1]), buckets[-1].strata) if buckets else {}
