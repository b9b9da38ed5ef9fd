"""Compares two word lists: labels, precision and recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenflow.schemas.errors import USAGE, EvenflowError
from evenflow.transforms.lab.word_lists.corpus import Mentions
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList


class CompareError(EvenflowError, ValueError):
    """Lists that cannot be compared; the message says why."""

    status = USAGE


@dataclass(frozen=True)
class Overlap:
    """The labels of a list and of a reference in one group."""

    group: str
    both: tuple[str, ...]
    only_list: tuple[str, ...]
    only_reference: tuple[str, ...]

    @property
    def precision(self) -> float | None:
        """Share of the list's labels that the reference has; None without labels."""
        return _share(len(self.both), len(self.both) + len(self.only_list))

    @property
    def recall(self) -> float | None:
        """Share of the reference's labels that the list has, as in Table 3 of the main paper."""
        return _share(len(self.both), len(self.both) + len(self.only_reference))


def overlaps(words: WordList, reference: WordList) -> list[Overlap]:
    """Compare the labels of two lists, group by group."""
    if set(words.groups) != set(reference.groups):
        raise CompareError(
            f"the lists have other groups: {', '.join(words.groups)}; {', '.join(reference.groups)}"
        )
    out: list[Overlap] = []
    for group in words.groups:
        own, other = _folded(words, group), _folded(reference, group)
        out.append(
            Overlap(
                group,
                tuple(own[each] for each in own if each in other),
                tuple(own[each] for each in own if each not in other),
                tuple(other[each] for each in other if each not in own),
            )
        )
    return out


def shares(found: Mentions) -> Sequence[tuple[str, str, int, float]]:
    """What share of all mentions each label carries."""
    totals, whole = found.totals, max(1, int(found.totals.sum()))
    order = np.lexsort((np.array(found.labels), -totals))
    return [
        (
            found.labels[i],
            found.words.groups[found.groups[i]],
            int(totals[i]),
            float(totals[i]) / whole,
        )
        for i in order
    ]


def _folded(words: WordList, group: str) -> dict[str, str]:
    """The labels of a group by their folded spelling."""
    number = words.groups.index(group)
    return {spelling.fold(label): label for label, own in words.labels.items() if own == number}


def _share(part: int, whole: int) -> float | None:
    """A share; None without a whole."""
    return part / whole if whole else None
