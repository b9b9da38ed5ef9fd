"""Documents that are held out of training, and when their score says to stop."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.pipelines.lab.train.packing import Document

Score = tuple[int, float]  # steps that were done, and the mean loss on what is held out


def split(
    documents: Sequence[Document], held_out: float
) -> tuple[Sequence[Document], Sequence[Document]]:
    """Choose the documents that are held out, by a hash of their ids: the same for every seed.

    Args:
        documents: All documents.
        held_out: Their share where it is below 1, else their number.

    Returns:
        The documents that are trained on, and those that are held out.

    Raises:
        TrainInputError: None is left to train on.
    """
    count = int(held_out) if held_out >= 1 else math.ceil(held_out * len(documents))
    if count and count >= len(documents):
        raise TrainInputError(
            f"held_out: {count} of {len(documents)} documents would be held out; give a smaller one"
        )
    ranked = sorted(range(len(documents)), key=lambda at: _rank(documents[at]))
    held = set(ranked[:count])
    return [each for at, each in enumerate(documents) if at not in held], [
        documents[at] for at in sorted(held)
    ]


def best(scores: Sequence[Score]) -> Score:
    """The lowest loss; of equal ones the first."""
    return min(scores, key=lambda each: (each[1], each[0]))


def over(scores: Sequence[Score], patience: int | None) -> bool:
    """Say whether training stops.

    Args:
        scores: The scores so far.
        patience: Scores without a better one that are waited for; None: it never stops.

    Returns:
        Whether the last so many scores are no better than an earlier one.
    """
    if patience is None or not scores:
        return False
    return len(scores) - 1 - list(scores).index(best(scores)) >= patience


def _rank(document: Document) -> bytes:
    return hashlib.sha256(document.id.encode("utf-8", "surrogatepass")).digest()
