"""Patterns over attributes as numbers.

A pattern gives some attributes a value and leaves the others open (X). Of d attributes with c_i
values each, its code is the number with the digits v_i in the bases c_i + 1, where c_i stands for
X. So the pattern with X everywhere, the root, has the largest code. A parent of a pattern has one
value fewer, a child one more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int64 | np.float64]
Flags = npt.NDArray[np.bool_]

MOST_PATTERNS = 2**62  # codes are 64-bit numbers
# As many children are made at once: it bounds the memory of the arrays
CHILDREN = 1 << 24


class TooManyPatternsError(ValueError):
    """The attributes have so many values that their patterns cannot be numbered."""


class Lattice:
    """The patterns over d attributes.

    `sizes`: Number of values of each attribute, (d,). `strides`: What a step of each attribute's
    digit adds to a code, (d,).
    """

    def __init__(self, sizes: Sequence[int]):
        self.sizes = np.array(sizes, np.int64)
        strides, self.patterns = [], 1
        for size in reversed(sizes):
            strides.append(self.patterns)
            self.patterns *= size + 1
        if self.patterns > MOST_PATTERNS:
            raise TooManyPatternsError(
                f"{len(sizes)} attributes with {', '.join(map(str, sizes))} values make more than"
                f" {MOST_PATTERNS:,} patterns; leave an attribute out, or group its values"
            )
        self.strides = np.array(strides[::-1], np.int64)
        self.root = self.patterns - 1

    def encode(self, digits: npt.NDArray[np.integer]) -> Ints:
        """Codes of patterns from their digits, (n, d); X is the attribute's size."""
        return digits.astype(np.int64) @ self.strides

    def decode(self, codes: Ints) -> Ints:
        """Digits of patterns from their codes, (n,); X is the attribute's size. Returns (n, d)."""
        return codes[:, None] // self.strides % (self.sizes + 1)

    def levels(self, codes: Ints) -> Ints:
        """How many attributes each pattern gives a value, (n,)."""
        return (self.decode(codes) != self.sizes).sum(axis=1)

    def parents(self, codes: Ints) -> Iterator[tuple[Flags, Ints]]:
        """The parents of patterns.

        `codes`: The patterns, (n,).

        Yields for each attribute: which patterns give it a value, (n,), and their parents without
        it.
        """
        for i, (stride, size) in enumerate(zip(self.strides, self.sizes, strict=True)):
            digit = codes // self.strides[i] % (size + 1)
            has = digit != size
            yield has, codes[has] + (size - digit[has]) * stride

    def children(self, codes: Ints) -> Iterator[Ints]:
        """The children of patterns, some at a time; a child of two of them may come twice.

        `codes`: The patterns, (n,).
        """
        step = max(1, CHILDREN // max(int(self.sizes.sum()), 1))
        for first in range(0, len(codes), step):
            some = codes[first : first + step]
            made = [np.zeros(0, np.int64)]
            for stride, size in zip(self.strides, self.sizes, strict=True):
                is_open = some[some // stride % (size + 1) == size]
                made.append((is_open[:, None] - np.arange(1, size + 1) * stride).ravel())
            yield distinct(np.concatenate(made))

    def generalise(self, codes: Ints, counts: Counts) -> tuple[Ints, Counts]:
        """Add up what matches each pattern that any of some records matches.

        `codes`: The records' codes, (n,); X where a value is not known. `counts`: How often each
        occurs, (n,).
        """
        for stride, size in zip(self.strides, self.sizes, strict=True):
            digit = codes // stride % (size + 1)
            has = digit != size
            codes, counts = totals(
                np.concatenate([codes, codes[has] + (size - digit[has]) * stride]),
                np.concatenate([counts, counts[has]]),
            )
        return codes, counts


def distinct(codes: Ints) -> Ints:
    """The different codes, ascending. NumPy's own `unique` takes seconds for a million."""
    ordered = np.sort(codes)
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def totals(codes: Ints, counts: Counts) -> tuple[Ints, Counts]:
    """Add up the counts of equal codes.

    Args:
        codes: Codes, (n,).
        counts: Their counts, (n,).

    Returns:
        The different codes, ascending, (m,), and their sums, (m,), in the type of the counts.
    """
    different, places = np.unique(codes, return_inverse=True)
    sums = np.zeros(len(different), counts.dtype)
    np.add.at(sums, places, counts)
    return different, sums
