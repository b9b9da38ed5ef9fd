"""The direction of an attribute in a space of word vectors: who leans to which group.

Two groups have a direction (Dolci et al. 2023, section 3.2, after Bolukbasi et al. 2016); M groups
have a subspace of M - 1 dimensions (Manzini et al. 2019). Both are principal components of how the
words of a pair, one of each group, differ from their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.schemas.errors import UsageError
from evenflow.transforms.measures.bias_score.vectors import Vectors
from evenflow.wordlists.loader import WordList

Floats = npt.NDArray[np.float64]

# The ten pairs of the paper, section 3.2, female before male
PAPER_PAIRS = (
    ("woman", "man"),
    ("girl", "boy"),
    ("she", "he"),
    ("mother", "father"),
    ("daughter", "son"),
    ("gal", "guy"),
    ("female", "male"),
    ("her", "his"),
    ("herself", "himself"),
    ("Mary", "John"),
)


# Least share of a pair's mean variance that the groups must differ by in their means
LEAST = 1e-9


class DirectionError(UsageError):
    """The groups have no direction in these vectors; the message says why."""


@dataclass(frozen=True)
class Direction:
    """Where the groups of an attribute lie.

    `axes`: A unit vector towards each group, (M, D). Of two groups they are opposite.
    """

    groups: tuple[str, ...]
    axes: Floats
    basis: Floats
    explained: float
    used: int
    given: int

    def agreement(self, other: Direction) -> float:
        """Compare it with the direction from other pairs.

        Returns the mean cosine of the angles between the subspaces, 0 to 1; of two groups, the
        cosine between the directions.
        """
        return float(np.linalg.svd(self.basis @ other.basis.T, compute_uv=False).mean())


def list_pairs(words: WordList) -> list[tuple[str, ...]]:
    """The pairs of a word list: its labels with their counterparts, one of each group."""
    out = []
    for label, group in words.labels.items():
        others = words.counterparts.get(label, ())
        by_group = {words.labels[each]: each for each in reversed(others)} | {group: label}
        if not group and len(by_group) == len(words.groups):
            out.append(tuple(by_group[number] for number in range(len(words.groups))))
    return out


def usual_pairs(words: WordList) -> list[tuple[str, ...]]:
    """The pairs that a direction is found from unless others are given.

    Returns the paper's pairs where the groups are female and male; else the list's own.
    """
    if set(words.groups) != {"female", "male"}:
        return list_pairs(words)
    return [pair if words.groups[0] == "female" else pair[::-1] for pair in PAPER_PAIRS]


def find(
    vectors: Vectors, words: WordList, pairs: Sequence[tuple[str, ...]] | None = None
) -> Direction:
    """Find the direction of an attribute.

    `pairs`: Tuples of M words, one of each group; None: `usual_pairs`. Without any pairs, the M
    means of the groups' labels stand for a single pair.
    """
    if pairs is None:
        pairs = usual_pairs(words)
    have = vectors.known(word for pair in pairs for word in pair)
    known = [pair for pair in pairs if all(word in have for word in pair)]
    if pairs and known:
        flat = vectors.unit([word for pair in known for word in pair])
        each = flat.reshape(len(known), len(words.groups), -1)
        each = each - each.mean(axis=1, keepdims=True)
        middle, differences = each.mean(axis=0), each.reshape(-1, vectors.size)
        principal = differences
    elif pairs:
        raise DirectionError(
            f"{vectors.name}: none of the {len(pairs)} pairs of {words.attribute}"
            f" ({', '.join(pairs[0])}; …) has all its vectors; are they of another language?"
        )
    else:
        rows = _labels(vectors, words)
        means = np.stack([each.mean(axis=0) for each in rows])
        middle = principal = means - means.mean(axis=0)
        differences = np.concatenate(rows) - means.mean(axis=0)
    basis = np.linalg.svd(principal, full_matrices=False)[2][: len(words.groups) - 1]
    towards = middle @ basis.T @ basis
    lengths = np.sqrt((towards**2).sum(axis=1, keepdims=True))
    whole = (differences**2).sum()
    if not whole or not (lengths**2 > LEAST * whole / len(differences)).all():
        raise DirectionError(f"{vectors.name}: the words of {words.attribute} differ in nothing")
    inside = float(((differences @ basis.T) ** 2).sum() / whole)
    return Direction(words.groups, towards / lengths, basis, inside, len(known), len(pairs))


def described(found: Direction, vectors: Vectors, words: WordList, digest: str) -> dict[str, Any]:
    """How well vectors tell groups apart, as data.

    Args:
        words: The attribute's word list.

    Returns:
        The pairs, the share of variance that it explains, and the same of all pairs of the list.
    """
    shown: dict[str, Any] = {
        "attribute": words.attribute,
        "groups": list(found.groups),
        "vectors": digest,
        "pairs": found.given,
        "pairs_used": found.used,
        "explained": round(found.explained, 4),
    }
    pairs = list_pairs(words)
    if pairs and pairs != usual_pairs(words):
        longer = find(vectors, words, pairs)
        shown["list_pairs"], shown["list_pairs_used"] = longer.given, longer.used
        shown["list_explained"] = round(longer.explained, 4)
        shown["agreement"] = round(found.agreement(longer), 4)
    return shown


def _labels(vectors: Vectors, words: WordList) -> list[Floats]:
    """The vectors of each group's labels. Raises DirectionError."""
    have = vectors.known(words.labels)
    rows = [
        vectors.unit([each for each, own in words.labels.items() if own == group and each in have])
        for group in range(len(words.groups))
    ]
    for group, each in zip(words.groups, rows, strict=True):
        if not len(each):
            raise DirectionError(f"{vectors.name}: no label of {words.attribute} {group} in it")
    return rows
