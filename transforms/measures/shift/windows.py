"""How far back a verdict looks: sums of the last panes, in buckets that double.

Small losses show in long windows, great ones in short ones. There are two buckets of a size at
most; of three the older two become one of twice the size (Datar, Gionis, Indyk and Motwani, SIAM
Journal on Computing 31, 2002). So some twenty buckets reach back over a thousand panes.
"""

from __future__ import annotations

from evenflow.schemas.ledger import Entry
from evenflow.transforms.measures.shift.strata import Strata, added

REACH = 512  # panes of the largest bucket


class Bucket(Entry):
    """Some consecutive panes."""

    panes: int
    strata: Strata


def with_pane(buckets: list[Bucket], pane: Strata) -> list[Bucket]:
    """The buckets, oldest first, with a further pane."""
    made = Bucket.model_construct  # to look through 256 strata takes longer than to add them
    out = [*buckets, made(panes=1, strata=pane)]
    at = len(out) - 1
    while at >= 2 and out[at - 2].panes == out[at - 1].panes == out[at].panes:
        joined = added(out[at - 2].strata, out[at - 1].strata)
        out[at - 2 : at] = [made(panes=2 * out[at - 2].panes, strata=joined)]
        at -= 2
    return [each for each in out if each.panes <= REACH]
