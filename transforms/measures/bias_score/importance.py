"""How much each word counts in its sentence: shares that sum to 1 (Dolci et al. 2023, 3.4).

The gate counts by rarity, which needs no encoder. Whoever has an encoder takes the share that its
pooling gives each word.
"""

from __future__ import annotations

from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evenflow.transforms.text.shipped import data

Floats = npt.NDArray[np.float64]

COUNTS_PATH = Path(__file__).with_name("sentence_counts.npz")
LEAST = 1e-12  # of a sum that is divided by
UNIT = 1 << 12  # weights are whole numbers of 1 / UNIT, so that sums do not depend on their order


@cache
def shipped_weights() -> tuple[dict[str, int], int]:
    """Weights by rarity: log2 of how many sentences there are for one with the word."""
    with np.load(BytesIO(data(COUNTS_PATH)), allow_pickle=False) as counts:
        words = counts["words"].tobytes().decode().split("\n")
        weights = rarity(counts["sentences"], int(counts["total"]))
        other = int(rarity(np.zeros(1), int(counts["total"]))[0])
    return dict(zip(words, weights.tolist(), strict=True)), other


def rarity(sentences: npt.NDArray[np.integer] | Floats, total: int) -> npt.NDArray[np.int64]:
    """Compute inverse document frequencies, with sentences as documents.

    `sentences`: In how many sentences each of n words stands, (n,).

    Returns log2((total + 1) / (sentences + 1)), in 1 / UNIT, rounded and at least 1, (n,).
    """
    bits = np.log2((total + 1) / (np.asarray(sentences, float) + 1))
    return np.maximum(np.rint(bits * UNIT), 1).astype(np.int64)


def max_pool_shares(states: Floats) -> Floats:
    """Compute the shares of an encoder that takes the greatest number of each dimension.

    `states`: What the encoder makes of each of T words (or pieces), (T, D). Returns the share of
    the dimensions that each of them wins, (T,); the first wins a tie.
    """
    wins = np.bincount(np.argmax(states, axis=0), minlength=len(states))
    return wins / states.shape[1]


def mean_pool_shares(states: Floats) -> Floats:
    """Compute the shares of an encoder that averages its words.

    The gradient of the mean's length by a word's state is the mean's direction, the same for all
    words. So gradient times input is the state's length in that direction.

    `states`: What the encoder makes of each of T words (or pieces), (T, D). Returns the absolute
    part of each in the sum of these lengths, (T,); equal shares if all are 0.
    """
    parts = np.abs(states @ states.mean(axis=0))
    whole = parts.sum()
    return parts / whole if whole > 0 else np.full(len(states), 1 / len(states))


def by_word(shares: Floats, owners: npt.NDArray[np.int64], words: int) -> Floats:
    """Add up the shares of pieces by word.

    `shares`: Shares of T pieces, (T,). `owners`: The number of each piece's word, (T,); -1: a piece
    of none, such as a mark at the sentence's start.
    """
    own = owners >= 0
    total = np.bincount(owners[own], shares[own], minlength=words)
    return total / max(float(total.sum()), LEAST)
