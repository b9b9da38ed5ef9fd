"""The search for maximal uncovered patterns (MUPs) by their counts.

Two ways lead to them. Where the lattice fits into an array (`DENSE` patterns), each attribute's
values are summed in turn, which gives the count of every pattern: the bottom-up way of Asudeh et
al. (2019, PatternCombiner) with one array operation an attribute. Otherwise the search goes down
from the root and counts only the patterns whose parents are all covered (their PatternBreaker),
all patterns of the same attributes in one pass over the records' combinations. DeepDiver's depth
first search was slower than both.

Both ways are updated when records are added: patterns that the new records match are counted on,
and only patterns whose state changed, or a parent's state, are looked at again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evenflow.transforms.measures.coverage.patterns import Counts, Flags, Ints, Lattice, distinct
from evenflow.transforms.measures.coverage.table import Table


class Cube:
    """The counts of all patterns in one array; each is at the index that is its code."""

    def __init__(self, table: Table):
        self._lattice = table.lattice
        self._counts = np.zeros(self._lattice.patterns, table.counts.dtype)
        self._counts[table.codes] = table.counts
        for axis in range(len(table.attributes)):
            view = self._along(self._counts, axis)
            view[:, -1] += view[:, :-1].sum(axis=1)

    def _along(self, cells: Any, axis: int) -> Any:
        """The cells with an attribute's digit as the second of three axes."""
        stride, base = self._lattice.strides[axis].item(), self._lattice.sizes[axis].item() + 1
        return cells.reshape(-1, base, stride)

    def of(self, codes: Ints) -> Counts:
        """Count the records that match patterns, (n,)."""
        return self._counts[codes]

    def mups(self, limit: int) -> Ints:
        """Find the MUPs of a limit; ascending."""
        low = self._counts < limit
        found = low.copy()
        for axis in range(len(self._lattice.sizes)):
            self._along(found, axis)[:, :-1] &= ~self._along(low, axis)[:, -1:]
        return np.flatnonzero(found)

    def add(self, more: Table, merged: Table, mups: Ints, before: int, limit: int) -> Ints:
        """Add the records `more`; returns the MUPs after it."""
        codes, counts = self._lattice.generalise(more.codes, more.counts)
        if before == limit:
            low = self._counts[codes] < before
            self._counts[codes] += counts
            changed = codes[low != (self._counts[codes] < limit)]
        else:
            low = self._counts < before
            self._counts[codes] += counts
            changed = np.flatnonzero(low != (self._counts < limit))
        for each in (changed, *self._lattice.children(changed)):
            low = self._counts[each] < limit
            now = each[
                _maximal(each, low, lambda codes: self._counts[codes] < limit, self._lattice)
            ]
            mups = np.sort(np.concatenate([np.setdiff1d(mups, each, assume_unique=True), now]))
        return mups


class Known:
    """The counts of the covered patterns and the MUPs, where the whole lattice is too large."""

    def __init__(self, table: Table, limit: int):
        self._table, self._lattice = table, table.lattice
        self._codes = np.array([self._lattice.root])
        self._counts = np.array([table.counts.sum()])
        self._search(self._codes[self._counts >= limit], limit)

    def of(self, codes: Ints) -> Counts:
        """Count the records that match patterns, (n,)."""
        places, known = self._places(codes)
        out = np.zeros(len(codes), self._counts.dtype)
        out[known] = self._counts[places[known]]
        out[~known] = self._count(codes[~known])
        return out

    def mups(self, limit: int) -> Ints:
        """Find the MUPs of the limit that the counts were searched with, or a higher; ascending."""
        low = self._counts < limit
        return self._codes[
            _maximal(self._codes, low, lambda codes: self._low(codes, limit), self._lattice)
        ]

    def add(self, more: Table, merged: Table, mups: Ints, before: int, limit: int) -> Ints:
        """Add the records `more`; returns the MUPs after it."""
        self._table = merged
        codes, counts = self._lattice.generalise(more.codes, more.counts)
        places, known = self._places(codes)
        covered = self._counts >= before
        self._counts[places[known]] += counts[known]
        self._search(self._codes[~covered & (self._counts >= limit)], limit)
        found = self.mups(limit)
        kept = (self._counts >= limit) | np.isin(self._codes, found)  # the rest is of no use
        self._codes, self._counts = self._codes[kept], self._counts[kept]
        return found

    def _search(self, risen: Ints, limit: int) -> None:
        """Count what lies below patterns that became covered, down to what is not covered."""
        while len(risen):
            found = []
            for each in self._lattice.children(risen):
                each = each[~self._places(each)[1]]
                every = np.ones(len(each), bool)
                for has, above in self._lattice.parents(each):
                    every[has] &= ~self._low(above, limit)
                found.append(each[every])
            codes = distinct(np.concatenate(found))
            counts = self._count(codes)
            risen = codes[counts >= limit]
            order = np.argsort(codes := np.concatenate([self._codes, codes]))
            self._codes = codes[order]
            self._counts = np.concatenate([self._counts, counts])[order]

    def _places(self, codes: Ints) -> tuple[Ints, Flags]:
        """Where known patterns stand, and which of some patterns are known."""
        places = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        return places, self._codes[places] == codes

    def _low(self, codes: Ints, limit: int) -> Flags:
        """Whether patterns are uncovered; what is not known is."""
        places, known = self._places(codes)
        return ~known | (self._counts[places] < limit)

    def _count(self, codes: Ints) -> Counts:
        """Count the records that match patterns: one pass for all with the same attributes."""
        out = np.zeros(len(codes), self._counts.dtype)
        given = self._lattice.decode(codes) != self._lattice.sizes
        masks, owners = np.unique(given, axis=0, return_inverse=True)
        rows = self._lattice.decode(self._table.codes)
        for number, mask in enumerate(masks):
            own = np.flatnonzero(owners == number)
            # X everywhere else makes the record's code that of the pattern it matches
            matched = codes[own]
            known = (rows[:, mask] != self._lattice.sizes[mask]).all(axis=1)
            seen = self._lattice.encode(np.where(mask, rows[known], self._lattice.sizes))
            places = np.minimum(np.searchsorted(matched, seen), len(matched) - 1)
            hits = matched[places] == seen
            sums = np.zeros(len(own), self._counts.dtype)
            np.add.at(sums, places[hits], self._table.counts[known][hits])
            out[own] = sums
        return out


def _maximal(codes: Ints, low: Flags, is_low: Callable[[Ints], Flags], lattice: Lattice) -> Flags:
    """Which patterns are uncovered while no parent is, (n,)."""
    out = low.copy()
    for has, above in lattice.parents(codes):
        out[has] &= ~is_low(above)
    return out
