"""Records with attributes, as counts of their different combinations of values.

Counts are whole numbers, or multiples of 2^-20 where a record's value is known with a probability.
So sums are exact, and a table is the same for any order and any number of workers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evenflow.transforms.measures.coverage.clusters import Clusters
from evenflow.transforms.measures.coverage.patterns import Counts, Ints, Lattice, totals

Missing = Literal["open", "value", "drop"]
MISSING = "(missing)"  # the value of a missing value, where it counts as one
DENSE = 1 << 26  # patterns that are counted in one array
GRAIN = 2.0**20  # a probability is rounded to a multiple of one over this


@dataclass(frozen=True)
class Table:
    """Counts of records by their combination of values.

    Attributes:
        values: The values of each, (d, c_i).
        codes: The different combinations as codes of the lattice, ascending, (n,). A value that is
            not known is X: the record counts only where the pattern leaves the attribute open.
        counts: How often each occurs, (n,). A record with several values of an attribute is in the
            combination of each, and taken off where X would count it twice.
        squares: Sum over the clusters of records (documents) of their squared number. It is the
            number of records where each stands for itself.
        clusters: Sums over documents by pattern; None: they are not known. They are lost where
            tables are added up or changed.
    """

    attributes: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    codes: Ints
    counts: Counts
    squares: float
    clusters: Clusters | None = None

    @cached_property
    def lattice(self) -> Lattice:
        """The patterns over the attributes."""
        return Lattice([len(each) for each in self.values])

    @property
    def total(self) -> float:
        """Number of records."""
        return self.counts.sum().item()

    @classmethod
    def of(
        cls,
        values: Mapping[str, Sequence[str]],
        records: Mapping[tuple[tuple[str, ...], ...], float],
        squares: float | None = None,
    ) -> Table:
        """Count records.

        Args:
            records: How often each record occurs. A record has, for each attribute, the values that
                hold of it; none where none is known.
            squares: As in the class; None: each record stands for itself.
        """
        lattice = Lattice([len(each) for each in values.values()])
        places = [{value: i for i, value in enumerate(each)} for each in values.values()]
        rows: list[int] = []
        counts: list[float] = []
        for record, count in records.items():
            digits = [
                [place[one] for one in each] for place, each in zip(places, record, strict=True)
            ]
            for row, sign in spread(digits, lattice):
                rows.append(row)
                counts.append(sign * count)
        codes, sums = totals(np.array(rows, np.int64), np.array(counts or [], _kind(counts)))
        total = sum(records.values())
        return cls(
            tuple(values),
            tuple(tuple(each) for each in values.values()),
            codes,
            sums,
            total if squares is None else squares,
        )

    @classmethod
    def of_columns(
        cls,
        columns: Mapping[str, pa.ChunkedArray | pa.Array],
        missing: Missing = "open",
        weights: npt.NDArray[np.float64] | None = None,
    ) -> Table:
        """Count records that are rows.

        `columns`: A column for each attribute, (n,). `weights`: How often each row counts, (n,);
        None: once.
        """
        digits: list[npt.NDArray[np.integer]] = []
        values: list[tuple[str, ...]] = []
        for column in columns.values():
            texts = pa.chunked_array(column) if isinstance(column, pa.Array) else column
            own, digit = _digits(texts, missing)
            values.append(own)
            digits.append(digit)
        lattice = Lattice([len(each) for each in values])
        codes = np.zeros(len(digits[0]) if digits else 0, np.int64)
        known = np.ones(len(codes), bool)
        for digit, stride, size in zip(digits, lattice.strides, lattice.sizes, strict=True):
            codes += digit * stride
            if missing == "drop":
                known &= digit != size
        if weights is not None:
            weights = np.round(np.asarray(weights, float) * GRAIN) / GRAIN
        if not known.all():
            codes, weights = codes[known], None if weights is None else weights[known]
        squares = float(len(codes) if weights is None else (weights**2).sum())
        return cls(tuple(columns), tuple(values), *count(codes, lattice, weights), squares)

    def with_values(self, values: Mapping[str, Sequence[str]]) -> Table:
        """The same counts where attributes may have further values."""
        wanted = tuple(
            own if set(own) >= set(more) else tuple(sorted({*own, *more}))
            for own, more in (
                (own, values.get(name, ()))
                for name, own in zip(self.attributes, self.values, strict=True)
            )
        )
        if wanted == self.values:
            return self
        digits = self.lattice.decode(self.codes)
        for i, (own, all_of_them) in enumerate(zip(self.values, wanted, strict=True)):
            # The last place is X
            places = np.array([*map(all_of_them.index, own), len(all_of_them)])
            digits[:, i] = places[digits[:, i]]
        codes = Lattice([len(each) for each in wanted]).encode(digits)
        order = np.argsort(codes)
        return Table(self.attributes, wanted, codes[order], self.counts[order], self.squares)

    def merge(self, other: Table) -> Table:
        """Add the counts of other records over the same attributes."""
        mine = self.with_values(dict(zip(other.attributes, other.values, strict=True)))
        theirs = other.with_values(dict(zip(mine.attributes, mine.values, strict=True)))
        if mine.values != theirs.values:  # the same values in another order
            mine, theirs = mine._sorted(), theirs._sorted()
        codes, counts = totals(
            np.concatenate([mine.codes, theirs.codes]), np.concatenate([mine.counts, theirs.counts])
        )
        return Table(mine.attributes, mine.values, codes, counts, mine.squares + theirs.squares)

    def split(self, name: str) -> dict[str, Table]:
        """A table for each value of an attribute, without that attribute.

        Returns:
            The tables, by value. Squares are divided by the number of records.
        """
        at = self.attributes.index(name)
        others = [i for i in range(len(self.attributes)) if i != at]
        digits = self.lattice.decode(self.codes)
        lattice = Lattice(self.lattice.sizes[others].tolist())
        parts: dict[str, Table] = {}
        for digit, value in enumerate(self.values[at]):
            own = digits[:, at] == digit
            codes, counts = totals(lattice.encode(digits[own][:, others]), self.counts[own])
            parts[value] = Table(
                tuple(self.attributes[i] for i in others),
                tuple(self.values[i] for i in others),
                codes,
                counts,
                self.squares * counts.sum().item() / (self.total or 1),
            )
        return parts

    def to_json(self) -> dict[str, Any]:
        """The table as JSON."""
        return {
            "values": dict(zip(self.attributes, map(list, self.values), strict=True)),
            "codes": self.codes.tolist(),
            "counts": self.counts.tolist(),
            "squares": self.squares,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Table:
        """The table that `to_json` wrote."""
        return cls(
            tuple(data["values"]),
            tuple(tuple(each) for each in data["values"].values()),
            np.array(data["codes"], np.int64),
            np.array(data["counts"], _kind(data["counts"])),
            data["squares"],
        )

    def _sorted(self) -> Table:
        """The same table with each attribute's values in alphabetical order."""
        swapped = Table(self.attributes, tuple(map(tuple, map(sorted, self.values))), *_NOTHING)
        digits = self.lattice.decode(self.codes)
        for i, (own, sorted_ones) in enumerate(zip(self.values, swapped.values, strict=True)):
            digits[:, i] = np.array([*map(sorted_ones.index, own), len(own)])[digits[:, i]]
        codes = swapped.lattice.encode(digits)
        order = np.argsort(codes)
        return Table(
            self.attributes, swapped.values, codes[order], self.counts[order], self.squares
        )


_NOTHING = (np.zeros(0, np.int64), np.zeros(0, np.int64), 0.0)


def spread(digits: Sequence[Sequence[int]], lattice: Lattice) -> list[tuple[int, int]]:
    """Turn a record with several values of an attribute into counts that patterns add up.

    A pattern must count the record once if it has all the pattern's values. So each value counts
    once, and X, which adds up an attribute's values, is given back what they exceed one by.
    """
    ways = [
        [(one, 1) for one in each] + ([(size, 1 - len(each))] if len(each) != 1 else [])
        for each, size in zip(digits, lattice.sizes.tolist(), strict=True)
    ]
    strides = lattice.strides.tolist()
    out: list[tuple[int, int]] = []
    for way in product(*ways):
        sign = 1
        for _, each in way:
            sign *= each
        out.append((sum(s * v for s, (v, _) in zip(strides, way, strict=True)), sign))
    return out


def count(
    codes: Ints, lattice: Lattice, weights: npt.NDArray[np.float64] | None = None
) -> tuple[Ints, Counts]:
    """Count equal codes: the different ones, ascending, (m,), and how often each occurs, (m,)."""
    if lattice.patterns <= DENSE and lattice.patterns < 64 * len(codes):
        every = np.bincount(codes, weights)
        found = np.flatnonzero(every)
        return found, every[found]
    return totals(codes, np.ones(len(codes), np.int64) if weights is None else weights)


def _digits(
    column: pa.ChunkedArray, missing: Missing
) -> tuple[tuple[str, ...], npt.NDArray[np.integer]]:
    """The different values of a column, sorted, and each row's number among them; X if missing."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not pa.types.is_string(column.type):
        column = pc.cast(column, pa.string())
    if missing == "value":
        column = pc.fill_null(column, MISSING)
    encoded = column.combine_chunks().dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    places = np.empty(len(names) + 1, np.int64)
    places[order] = np.arange(len(names))
    places[-1] = len(names)
    indices = pc.fill_null(encoded.indices, len(names)).to_numpy(zero_copy_only=False)
    return tuple(names[i] for i in order), places[indices]


def _kind(counts: Sequence[float]) -> type[np.int64] | type[np.float64]:
    """The type that holds counts exactly."""
    return np.int64 if all(isinstance(each, int) for each in counts) else np.float64
