"""Word vectors learnt from weighted documents: positive mutual information, and its SVD.

Levy, Goldberg and Dagan 2015, with contexts smoothed by 0.75 and the root of the singular values.
They take a second for half a million words, so an experiment can have many arms and seeds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import svds

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

WINDOW = 6  # words to either side that are a word's context
SIZE = 50  # numbers of a vector: halves of a text agree more than with 100 or 300
SMOOTHING = 0.75


class Pairs:
    """Which words stand near which in n documents, sorted once and counted for many weights."""

    def __init__(self, documents: Sequence[Ints], size: int):
        words = np.concatenate([np.zeros(0, np.int64), *documents])
        owner = np.repeat(np.arange(len(documents)), [len(each) for each in documents])
        found: list[Ints] = []
        for offset in range(1, WINDOW + 1):
            same = owner[:-offset] == owner[offset:]
            first, second = words[:-offset][same], words[offset:][same]
            key = np.minimum(first, second) * size + np.maximum(first, second)
            found.append(key * len(documents) + owner[:-offset][same])
        key, self._owner = np.divmod(np.sort(np.concatenate(found)), max(len(documents), 1))
        self._starts = np.flatnonzero(np.diff(key, prepend=-1))
        self._rows, self._columns = np.divmod(key[self._starts], size)
        self._size, self._documents = size, len(documents)

    def counts(self, weights: Floats) -> sparse.csr_array:
        """How often words stand near each other, (V, V), with weights of the documents (n,)."""
        if not len(self._starts):
            return sparse.csr_array((self._size, self._size))
        found = np.add.reduceat(weights[self._owner], self._starts)
        shape = (self._size, self._size)
        half = sparse.csr_array((found, (self._rows, self._columns)), shape=shape)
        return half + half.T

    def evidence(self, signs: Floats, leanings: Floats) -> Floats:
        """How much each document says that words go with the groups that they lean to, (n,).

        `signs`: 1 or -1 for a word that names a group, else 0 (V,). `leanings`: How much a word
        leans to the group of 1 (V,).
        """
        rows, columns = self._rows, self._columns
        each = signs[rows] * leanings[columns] + signs[columns] * leanings[rows]
        times = np.diff(self._starts, append=len(self._owner))
        return np.bincount(self._owner, np.repeat(each, times), self._documents).astype(float)


def vectors(*counts: sparse.csr_array) -> Floats:
    """Vectors of words, each of length 1, or of zeros where nothing stands near a word.

    `counts`: What stands near what in texts that are read together (V, V), see `Pairs.counts`.

    Returns the vectors (V, SIZE); the same for the same counts.
    """
    found = sum(counts[1:], counts[0]).tocoo()
    rows, columns = found.coords
    size = len(counts[0].indptr) - 1
    totals = np.bincount(rows, found.data, size)
    smoothed = totals**SMOOTHING
    expected = totals[rows] * (smoothed / smoothed.sum())[columns]
    above = found.data > expected
    information = np.log(found.data[above] / expected[above])
    table = sparse.csr_array((information, (rows[above], columns[above])), shape=(size, size))
    first, values, _ = svds(table, k=min(SIZE, size - 1), v0=np.ones(size))
    made = first * np.sqrt(values)
    return made / np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-12)
