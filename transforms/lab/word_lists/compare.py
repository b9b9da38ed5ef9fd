"""Compares two word lists: labels, precision and recall, and DR on the same documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenflow.schemas.errors import USAGE, EvenflowError
from evenflow.transforms.lab.word_lists.corpus import Mentions
from evenflow.transforms.measures.representation import dr
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList

DRAWS, SEED = 1000, 1  # of the bootstrap: its bounds then vary in the third digit


class CompareError(EvenflowError, ValueError):
    """Lists that cannot be compared; the message says why."""

    status = USAGE


@dataclass(frozen=True)
class Overlap:
    """The labels of a list and of a reference in one group.

    Attributes:
        group: The group.
        both: Labels in both.
        only_list: Labels in the list alone.
        only_reference: Labels in the reference alone.
    """

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
    """Compare the labels of two lists, group by group.

    Args:
        words: The list.
        reference: A list with the same groups, in any order.

    Returns:
        The overlap in each group of the list.

    Raises:
        CompareError: The lists have other groups.
    """
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


def difference(first: Mentions, second: Mentions) -> tuple[float, float, float] | None:
    """How much DR under one list is above DR under another, on the same documents.

    The interval is the percentile bootstrap's that draws documents, the same ones for both lists.

    Args:
        first: The mentions of a list.
        second: Those of the other, in the same documents.

    Returns:
        The difference and the bounds of its 95 % interval; None if a list has no mention.
    """
    counts = [first.by_group(), second.by_group()]
    scores = [dr.demographic_representation(each.sum(axis=0).tolist()) for each in counts]
    if scores[0] is None or scores[1] is None:
        return None
    named = counts[0].any(axis=1) | counts[1].any(axis=1)
    both = np.concatenate(counts, axis=1)[named]
    random = np.random.default_rng(SEED)
    edge = counts[0].shape[1]
    drawn = []
    for _ in range(DRAWS):
        # A document's number of draws is all but Poisson of mean 1
        total = random.poisson(1, len(both)) @ both
        one, other = (
            dr.demographic_representation(part.tolist()) for part in (total[:edge], total[edge:])
        )
        if one is not None and other is not None:
            drawn.append(one - other)
    if not drawn:
        return None
    low, high = np.quantile(drawn, (0.025, 0.975))
    return scores[0] - scores[1], float(low), float(high)


def shares(found: Mentions) -> Sequence[tuple[str, str, int, float]]:
    """What share of all mentions each label carries.

    Args:
        found: The mentions of a list.

    Returns:
        Label, group, mentions and share of all mentions, the most frequent first.
    """
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
