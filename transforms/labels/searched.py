"""Mentions of documents that were searched together, and by sentence."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenflow.transforms.labels.finder import Found, Mention, uncut
from evenflow.transforms.text.sentences import bounds

Ints = npt.NDArray[np.int64]


class Searched(NamedTuple):
    """Documents of a block that were searched together, as one joined text.

    Attributes:
        first: The number of the first of them in the block.
        texts: Their texts, D of them.
        begins: Where each begins in the joined text, (D,), in characters.
        every: What was found of each word list in the joined text.
        starts: Where sentences begin in the joined text, ascending.
        languages: Their languages, (D,), None of a text that may be English; None: they do not
            matter.
    """

    first: int
    texts: Sequence[str]
    begins: Ints
    every: list[Found]
    starts: Ints
    languages: Sequence[str | None] | None = None

    def owners(self, places: Ints) -> Ints:
        """The document of each place in the joined text."""
        return np.searchsorted(self.begins, places, "right") - 1

    def counts(self, number: int, groups: int) -> Ints:
        """Mentions by document and group, (D, M)."""
        found, size = self.every[number], len(self.texts)
        flat = self.owners(found.starts) * groups + found.groups
        return np.bincount(flat, minlength=size * groups).reshape(size, groups)


def sentence_starts(text: str, found: Sequence[Found]) -> Ints:
    """Find where sentences start; a bound inside a mention does not count.

    Args:
        text: The text, or texts joined by `finder.BETWEEN`.

    Returns:
        Start offsets in characters, (S,), ascending.
    """
    return uncut(bounds(text), found)


def by_sentence(
    sentences: Sequence[tuple[int, int]], mentions: Iterable[Mention]
) -> dict[int, dict[str, list[Mention]]]:
    """Group mentions by the sentence that they start in and by attribute.

    Args:
        sentences: Start and end of each sentence, ascending.

    Returns:
        Sentence number to attribute to mentions, in the order given.
    """
    starts = [start for start, _ in sentences]
    grouped: dict[int, dict[str, list[Mention]]] = {}
    for mention in mentions:
        number = bisect_right(starts, mention.start) - 1
        grouped.setdefault(number, {}).setdefault(mention.attribute, []).append(mention)
    return grouped


def words_per_group(groups: Iterable[str], mentions: Iterable[Mention]) -> dict[str, list[str]]:
    """Collect the labels that name each group.

    Returns:
        Group to labels, in the order of the groups and the mentions.
    """
    words: dict[str, list[str]] = {group: [] for group in groups}
    for mention in mentions:
        words[mention.group].append(mention.label)
    return words
