"""What moved between a reference and all panes so far, by a plain interval.

The judge looks at each pane and at every way back from it, so it needs far more certainty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evenflow.transforms.measures.shift.reference import (
    LEAST_DOCUMENTS,
    Floats,
    Known,
    residuals,
)
from evenflow.transforms.measures.shift.strata import Packed, Strata, symmetric

LEVEL = 0.05  # that any source is said to have moved where none did; shared by all looked at
MOST = 16  # that are kept, so that a pane's entry stays small
DIGITS = 4


class Moved(NamedTuple):
    """A group's share of a source's mentions, then and now, and the difference's interval."""

    source: str
    attribute: str
    group: str
    was: float
    now: float
    low: float
    high: float

    @property
    def said(self) -> str:
        """The source, its group and the shares, in words."""
        return f"{self.source}: {self.group} {self.was:.0%} → {self.now:.0%}"


def moved(
    then: Mapping[str, Known], now: Strata, groups: Mapping[str, Sequence[str]], least: float
) -> list[Moved]:
    """Find sources whose shares moved.

    Shares are ratios of sums over documents, which are clusters; the variance is linearised.
    Quantiles are Student's, on the documents that name a group on the side with fewer, and at
    LEVEL over all shares looked at (Bonferroni). How a source wanders by itself is not in it.

    Args:
        then: What sources were, by name.
        now: What they are.
        groups: Groups by attribute, in the order of the sums.
        least: How far a share moved at least.

    Returns:
        By source the group that moved most surely; the surest first, MOST of them.
    """
    sides: dict[str, list[tuple[str, Packed, Packed]]] = {}
    for attribute in groups:
        both: list[tuple[str, Packed, Packed]] = [
            (source, list(then[source][attribute].sums), list(now[source][1][attribute]))
            for source in sorted(then.keys() & now.keys())
            if attribute in then[source] and attribute in now[source][1]
        ]
        large = [each for each in both if min(each[1][0], each[2][0]) >= LEAST_DOCUMENTS]
        sides |= {attribute: large} if large else {}
    looked = sum(max(len(groups[each]) - 1, 1) * len(own) for each, own in sides.items())
    tail = 1 - LEVEL / max(looked, 1) / 2
    every = (one for each, own in sides.items() for one in _of(each, groups[each], own, tail))
    found = sorted((one for one in every if _surely(one) >= least), key=_surely)
    surest = {one.source: one for one in found}
    return sorted(surest.values(), key=_surely, reverse=True)[:MOST]


def _surely(found: Moved) -> float:
    """How far a share moved at least; below 0, it may not have."""
    return max(found.low, -found.high)


def _of(
    attribute: str,
    groups: Sequence[str],
    own: Sequence[tuple[str, Packed, Packed]],
    tail: float,
) -> Iterator[Moved]:
    """The group of each source that moved most surely."""
    from scipy.special import stdtrit  # most runs need none of scipy, which loads slowly

    names, *packed = zip(*own, strict=True)
    (n, was, one), (m, now, two) = (_shares(each, len(groups)) for each in packed)
    quantile = stdtrit(np.minimum(n, m) - 1, tail)[:, None]
    half = quantile * np.sqrt(one + two)
    low, high = now - was - half, now - was + half
    at = np.maximum(low, -high).argmax(axis=1)
    for row, group in enumerate(map(int, at)):
        figures = (round(float(each[row, group]), DIGITS) for each in (was, now, low, high))
        yield Moved(names[row], attribute, groups[group], *figures)


def _shares(packed: Sequence[Packed], groups: int) -> tuple[Floats, Floats, Floats]:
    """Documents (S,), the groups' shares of the mentions (S, M), and their variances over them."""
    size = 1 + groups + groups * (groups + 1) // 2  # older references have no more
    numbers = np.array([[*map(float, each[:size])] for each in packed])
    documents, counts = numbers[:, 0], numbers[:, 1 : 1 + groups]
    products = symmetric(numbers[:, 1 + groups :], groups)
    total = counts.sum(axis=1, keepdims=True)
    shares = counts / total
    squares = np.diagonal(residuals(products, shares), axis1=1, axis2=2)
    return documents, shares, squares / total**2 * (documents / (documents - 1))[:, None]
