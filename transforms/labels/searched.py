"""Documents that were searched for labels together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenflow.transforms.labels.finder import BETWEEN, Found

Ints = npt.NDArray[np.int64]


class Searched(NamedTuple):
    """Documents of a block that were searched together, as one joined text.

    Attributes:
        first: The number of the first of them in the block.
        texts: Their texts, D of them.
        begins: Where each begins in the joined text, (D,), in characters.
        every: What was found of each word list in the joined text.
        starts: Where sentences begin in the joined text, ascending.
        languages: Their languages, (D,); None: they do not matter.
    """

    first: int
    texts: Sequence[str]
    begins: Ints
    every: list[Found]
    starts: Ints
    languages: Sequence[str] | None = None

    def owners(self, places: Ints) -> Ints:
        """The document of each place in the joined text."""
        return np.searchsorted(self.begins, places, "right") - 1

    def counts(self, number: int, groups: int) -> Ints:
        """Mentions by document and group, (D, M).

        Args:
            number: Number of the word list.
            groups: M, the number of its groups.
        """
        found, size = self.every[number], len(self.texts)
        flat = self.owners(found.starts) * groups + found.groups
        return np.bincount(flat, minlength=size * groups).reshape(size, groups)

    def chosen(self, kept: npt.NDArray[np.bool_]) -> Searched:
        """Some of the documents, as if they alone had been searched together, from number 0.

        Args:
            kept: Which of them, (D,).
        """
        texts = [text for text, keep in zip(self.texts, kept.tolist(), strict=True) if keep]
        lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + len(BETWEEN)
        begins = np.cumsum(lengths) - lengths
        moved = np.zeros(len(kept), np.int64)
        moved[kept] = self.begins[kept] - begins

        def of(places: Ints) -> tuple[npt.NDArray[np.bool_], Ints]:
            owners = self.owners(places)
            return kept[owners], moved[owners]

        every: list[Found] = []
        for found in self.every:
            own, by = of(found.starts)
            starts, ends, labels, groups = (
                each[own]
                for each in (found.starts - by, found.ends - by, found.labels, found.groups)
            )
            every.append(Found(starts, ends, labels, groups))
        own, by = of(self.starts)
        return Searched(0, texts, begins, every, (self.starts - by)[own])
