"""Maximal uncovered patterns (MUPs): too rare, while each of their parents is frequent enough.

`searches` finds them by the counts alone. What an interval of its own says of a pattern, where the
documents tell (`clusters`), is added to that.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evenflow.schemas.threshold import Threshold
from evenflow.transforms.measures.coverage.clusters import DesignEffects, below, few_values
from evenflow.transforms.measures.coverage.patterns import Counts, Flags, Ints, distinct
from evenflow.transforms.measures.coverage.searches import Cube, Known
from evenflow.transforms.measures.coverage.table import DENSE, Table
from evenflow.transforms.measures.coverage.threshold import interval, limit

MOST_BOUNDS = 1 << 20  # patterns of the same attributes whose own intervals are looked at


class Coverage:
    """The coverage of all patterns of a table, and its maximal uncovered patterns.

    Args:
        confidence: Level of the interval whose upper bound is compared; None: the share itself is.

    Attributes:
        limit: A pattern with a smaller count is uncovered.
    """

    def __init__(self, table: Table, threshold: Threshold, confidence: float | None = None):
        self.threshold, self._confidence = threshold, confidence
        self._begin(table)

    def _begin(self, table: Table) -> None:
        """Search from nothing."""
        self.table = table
        self.limit = self._limit(table)
        self._called: Ints | None = None
        self._design: DesignEffects | None = None
        dense = table.lattice.patterns <= DENSE
        self._counted = Cube(table) if dense else Known(table, self.limit)
        self._mups = self._counted.mups(self.limit)
        if table.clusters is not None and self.has_bound and table.total:
            counts = self.count(table.clusters.codes)
            self._design = DesignEffects(table.clusters, counts, table.total, table.squares)
            self._called = self._below_own_bound()

    @property
    def has_bound(self) -> bool:
        """Whether an upper bound is compared with the threshold, and not the count itself."""
        return self.threshold.share is not None and self._confidence is not None

    @property
    def by_pattern(self) -> bool:
        """Whether each pattern has an interval of its own, so that not the count alone decides."""
        return self._design is not None

    def squares(self, codes: Ints) -> npt.NDArray[np.float64]:
        """What the intervals of patterns take for the clusters' squares (`interval`), (n,)."""
        if self._design is None:
            return np.full(len(codes), float(self.table.squares))
        return self._design.squares(codes, self.table.lattice.levels(codes))

    def _below_own_bound(self) -> Ints:
        """The patterns of few values whose own interval is below the threshold."""
        share, found = float(self.threshold.share or 0), [np.zeros(0, np.int64)]
        for codes in few_values(self.table.lattice, MOST_BOUNDS):
            given = self.count(codes), self.table.total, self.squares(codes)
            found.append(codes[interval(*given, self._confidence or 0)[1] < share])
        return np.sort(np.concatenate(found))

    def _limit(self, table: Table) -> int:
        return limit(self.threshold, table.total, table.squares, self._confidence)

    def mups(self, depth: int | None = None) -> Ints:
        """The maximal uncovered patterns.

        Args:
            depth: Most attributes that a pattern may give a value; None: all.

        Returns:
            Their codes, ascending, (m,).
        """
        codes, lattice = self._mups, self.table.lattice
        if self._called is not None:  # with those that Kish's interval, which is wider, leaves out
            codes = distinct(np.concatenate([codes, self._called]))
            codes = codes[~below(codes, lattice, self._called)]
        return codes if depth is None else codes[lattice.levels(codes) <= depth]

    def unsure(self, depth: int | None = None) -> Ints:
        """The maximal patterns whose share is below the threshold, but not their upper bound.

        Returns their codes, ascending, (m,); none if no bound is compared.
        """
        if not self.has_bound or not self.table.total:
            return np.zeros(0, np.int64)
        below_share = self._counted.mups(self.threshold.needed(self.table.total))
        codes = np.setdiff1d(below_share, self.mups(), assume_unique=True)
        return codes if depth is None else codes[self.table.lattice.levels(codes) <= depth]

    def count(self, codes: Ints) -> Counts:
        """Count the records that match patterns: those of `mups`, their ancestors, or others."""
        return self._counted.of(codes)

    def is_covered(self, codes: Ints) -> Flags:
        """Whether patterns are covered, (n,)."""
        return self.count(codes) >= self.limit

    def add(self, table: Table) -> None:
        """Add records; the MUPs are updated, not searched anew, unless there are new values.

        Args:
            table: Further records over the same attributes.
        """
        merged = self.table.merge(table)
        if (
            self.by_pattern
            or merged.values != self.table.values
            or merged.counts.dtype != self.table.counts.dtype
        ):
            self._begin(merged)
            return
        more = (
            table
            if table.values == merged.values
            else table.with_values(dict(zip(merged.attributes, merged.values, strict=True)))
        )
        if more.values != merged.values:  # the same values in another order
            self._begin(merged)
            return
        before, self.limit, self.table = self.limit, self._limit(merged), merged
        self._mups = self._counted.add(more, merged, self._mups, before, self.limit)
