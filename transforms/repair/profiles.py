"""Profiles of documents: documents with the same profile get the same weight.

A profile is what a weight may depend on: the mentions of each group, the values of the fields that
must stay, and the length. Numbers are rounded to steps of a power of 2, as finely as MOST profiles
allow. Sums over a profile's documents are exact, so rounding costs none of the totals. It only
takes some of the freedom to weigh alike documents differently.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]
AnyInts = npt.NDArray[np.integer]

MOST = 2048  # profiles: a calibration of as many takes some hundredths of a second
STEPS = (8, 4, 2, 1, 0.5, 0.25, 0)  # of numbers by doubling; 0: named or not
MANY = 100_000  # documents from which on numbers are rounded to a step by doubling at once
ROOM = 2**62  # of a packed key
TABLE = 2**16  # numbers below this are looked up in a table


def profiles(numbers: Sequence[AnyInts], values: Sequence[AnyInts], most: int = MOST) -> Ints:
    """Number the profiles of documents.

    `numbers`: Numbers of each document, not negative, N arrays (D,): mentions and length.

    `values`: Values of each document as numbers from 0, V arrays (D,). Returns the profile of each
    document, (D,), from 0 to K - 1. The order of the profiles depends on what is in them, not on
    the order of the documents.
    """
    many = len(numbers[0]) >= MANY
    found = None if many else _numbered([*values, *numbers])
    for steps in STEPS:
        if found is not None and (not len(found) or found.max() < most):
            break
        if not many or steps <= 1:
            found = _numbered([*values, *(_rounded(each, steps) for each in numbers)])
    assert found is not None
    return found


def _rounded(numbers: AnyInts, steps: float) -> Ints:
    """Numbers in steps by doubling; 0 alone is 0."""
    if not steps:
        return (numbers > 0).astype(np.int64)
    highest = int(numbers.max(initial=0))
    every = np.arange(int(np.ceil(np.log2(highest + 2) * steps)))
    # The least number of each step, so that no logarithm of a number is taken
    least = np.unique(np.ceil(2 ** (every / steps)))
    if highest < TABLE:
        return np.searchsorted(least, np.arange(highest + 1), "right")[numbers]
    return np.searchsorted(least, numbers, "right")


def _numbered(columns: Sequence[AnyInts]) -> Ints:
    """Number the different rows of columns (D,), from 0."""
    key = np.zeros(len(columns[0]), np.int64)
    bound = 1
    for each in columns:
        base = int(each.max(initial=0)) + 1
        if bound * base > ROOM:
            key = _ranks(key)
            bound = int(key.max(initial=0)) + 1
        key *= base
        key += each
        bound *= base
    return _ranks(key)


def _ranks(key: Ints) -> Ints:
    """The place of each key among the different ones in order; by hashing, not by sorting all."""
    encoded = pa.array(key).dictionary_encode()
    order = np.argsort(encoded.dictionary.to_numpy())
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks[encoded.indices.to_numpy()]
