"""Word vectors and word lists made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evenflow.transforms.measures.bias_score.vectors import Vectors
from evenflow.wordlists.loader import WordList


def made(words: Mapping[str, Sequence[float]]) -> Vectors:
    """Vectors by word."""
    rows = np.array(list(words.values()), np.float32)
    return Vectors("made", list(words), rows.shape[1], "digest", lambda a, b: rows[a:b])


def attribute(groups: Mapping[str, Sequence[str]], pairs: Sequence[Sequence[str]] = ()) -> WordList:
    """A word list with the labels of each group, and pairs of them."""
    labels = {label: n for n, each in enumerate(groups.values()) for label in each}
    counterparts = {
        label: tuple(each for each in pair if each != label) for pair in pairs for label in pair
    }
    return WordList("made", tuple(groups), labels, frozenset(), counterparts, "", "", "")
