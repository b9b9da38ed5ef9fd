"""Linear heads of the first stage, on the vectors that ship."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

from evenflow.transforms.models import static

HELD = 0.003  # the heads' regularisation: inverse strength, chosen on sources left out

Floats = npt.NDArray[np.floating[Any]]


class Design:
    """Makes the rows for the linear heads.

    `vectors`: Their vectors, (n, D).
    """

    def __init__(self, words: Sequence[str], vectors: Floats):
        self._at = {word: number for number, word in enumerate(words)}
        self._vectors = vectors

    def exchange(self, window: str) -> Floats:
        """Make the row of a marked window."""
        each, more = static.find_places(window)
        changes = max(1, (len(each) - 1) // (static.PLACES - 1))
        means = [self.mean(words) for words in each]
        rest = [
            np.sum(means[place :: static.PLACES - 1], axis=0) / changes
            if len(means) > place
            else self.mean([])
            for place in range(1, static.PLACES)
        ]
        return np.concatenate([means[0], *rest, more])

    def mean(self, words: Sequence[str]) -> Floats:
        """Average the vectors of words."""
        at = [
            found
            for word in words
            if (found := self._at.get(word, self._at.get(word.lower()))) is not None
        ]
        return self._vectors[at].mean(0) if at else np.zeros(self._vectors.shape[1])


def head(rows: Floats, right: npt.ArrayLike) -> Floats:
    """Train a linear head.

    `rows`: n rows, (n, k). `right`: What it should say of each, (n,).
    """
    scale = rows.std(0) + 1e-6
    model: Any = LogisticRegression(C=HELD, max_iter=300).fit(rows / scale, np.asarray(right))
    return np.concatenate([model.coef_[0] / scale, model.intercept_])
