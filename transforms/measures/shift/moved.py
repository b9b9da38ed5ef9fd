"""What moved between a reference and a run, by a plain interval: one look at the end.

The judge looks at each pane and at every way back from it, so it needs far more certainty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from evenflow.schemas.ledger import Sums
from evenflow.transforms.measures.shift.reference import (
    LEAST_DOCUMENTS,
    Floats,
    Known,
    residuals,
)
from evenflow.transforms.measures.shift.strata import unpacked

LEVEL = 0.05  # that any source is said to have moved where none did; shared by all looked at


class Moved(NamedTuple):
    """A group's share of a source's mentions, then and now, and the difference's interval."""

    source: str
    attribute: str
    group: str
    was: float
    now: float
    low: float
    high: float


def moved(
    then: Mapping[str, Known], now: Mapping[str, Known], groups: Mapping[str, Sequence[str]]
) -> list[Moved]:
    """Find sources whose shares moved.

    Shares are ratios of sums over documents, which are clusters; the variance is linearised.
    Quantiles are Student's, on the documents that name a group on the side with fewer, and at
    LEVEL over all shares looked at (Bonferroni). How a source wanders by itself is not in it.

    Args:
        then: What sources were, by name.
        now: What they are.
        groups: Groups by attribute, in the order of the sums.

    Returns:
        By source and attribute the group that moved most surely, the surest first.
    """
    pairs = [
        (source, attribute, unpacked(known.sums), unpacked(now[source][attribute].sums))
        for source in sorted(then.keys() & now.keys())
        for attribute, known in then[source].items()
        if attribute in groups and attribute in now[source]
    ]
    large = [each for each in pairs if min(one.documents for one in each[2:]) >= LEAST_DOCUMENTS]
    looked = sum(max(len(groups[attribute]) - 1, 1) for _, attribute, *_ in large)
    every = (max(_of_groups(*each, groups[each[1]], looked), key=_surely) for each in large)
    return sorted((each for each in every if _surely(each) > 0), key=_surely, reverse=True)


def _surely(found: Moved) -> float:
    """How far a share moved at least; below 0, it may not have."""
    return max(found.low, -found.high)


def _of_groups(
    source: str, attribute: str, then: Sums, now: Sums, groups: Sequence[str], looked: int
) -> Iterator[Moved]:
    """The shares of an attribute's groups."""
    tail = 1 - LEVEL / looked / 2
    quantile = float(stdtrit(min(then.documents, now.documents) - 1, tail))
    (was, one), (found, two) = map(_shares, (then, now))
    half = quantile * (one + two) ** 0.5
    rows = zip(groups, was, found, found - was - half, found - was + half, strict=True)
    for group, *figures in rows:
        yield Moved(source, attribute, group, *map(float, figures))


def _shares(sums: Sums) -> tuple[Floats, Floats]:
    """The groups' shares of the mentions (M,), and their variances over documents (M,)."""
    counts, products = np.array(sums.counts, float), np.array(sums.products, float)
    shares = counts / counts.sum()
    squares = np.diagonal(residuals(products[None], shares[None])[0])
    return shares, squares / counts.sum() ** 2 * sums.documents / (sums.documents - 1)
