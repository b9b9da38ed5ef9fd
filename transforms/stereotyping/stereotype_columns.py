"""Hashed features of sentences, family by family: a linear function of them is summed over words before it is over sentences.

A family has at most one feature a word («the word itself», «the word and the one before it»), so what a word's features weigh
together is one number a word, and a sentence's sum is one over its words. Nothing of the length of all features is built.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Family = tuple[Ints | None, Ints]


@dataclass(frozen=True)
class Columns:
    """Features of n sentences with t words.

    count: n. owner: (t,) the sentence of each word, ascending. families: of each the words (f,) that have its feature, in order
    and none twice (None: all have it), and the features' columns (f,) in a table of weights.
    """

    count: int
    owner: Ints
    families: tuple[Family, ...]

    def sizes(self) -> Ints:
        """How many features each sentence has, (n,)."""
        whole = sum(places is None for places, _ in self.families)
        parts = [places for places, _ in self.families if places is not None]
        some = np.bincount(self.owner[np.concatenate(parts)], minlength=self.count) if parts else 0
        return whole * np.bincount(self.owner, minlength=self.count) + some

    def means(self, weights: npt.NDArray[np.float32]) -> Floats:
        """Sums (n,) of the weights of each sentence's features, over the root of their number."""
        total = np.zeros(len(self.owner))
        for places, columns in self.families:
            if places is None:
                total += weights.take(columns)
            else:
                total[places] += weights.take(columns)
        return np.bincount(self.owner, total, self.count) / np.sqrt(np.maximum(self.sizes(), 1))

    def listed(self) -> tuple[Ints, Ints]:
        """All columns (f,), family by family, and the sentence (f,) of each."""
        if not self.families:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        owners = [self.owner if places is None else self.owner[places] for places, _ in self.families]
        return np.concatenate([columns for _, columns in self.families]), np.concatenate(owners)
