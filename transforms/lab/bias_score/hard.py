"""Hard-debiased word vectors: neutral words without the attribute (Bolukbasi et al. 2016)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def neutralised(
    rows: Floats, words: Sequence[str], basis: Floats, named: Collection[str]
) -> Floats:
    """Take the attribute out of the vectors of words that name no group.

    Args:
        rows: The vectors of n words (n, D).
        words: The words.
        basis: Orthonormal vectors of the attribute's subspace (M - 1, D), see `Direction`.
        named: Words that name a group, in lower case; their vectors stay.

    Returns:
        The vectors (n, D), each of length 1; one of which nothing is left is of zeros.
    """
    neutral = np.array([word.lower() not in named for word in words])
    found = rows - np.where(neutral[:, None], rows @ basis.T @ basis, 0.0)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
