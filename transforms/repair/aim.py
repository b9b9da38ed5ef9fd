"""Says how far what stands next to mentions leans to their group in a pane (`repair.aim_share`).

A word leans by how many standard errors of a binomial it stands next to a group's mentions more
often than words do on average.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from sys import intern
from typing import TypeVar

from evenflow.transforms.measures.associations.counting import SHORTEST, not_neutral
from evenflow.transforms.substitution.sets import Set
from evenflow.transforms.text.words import split_runs
from evenflow.wordlists.loader import WordList

WINDOW, AROUND = 6, 120  # words next to a mention, and characters in which they are looked for
Place = TypeVar("Place", bound=Hashable)


def leanings(sets: Iterable[tuple[Place, Set, str]], words: WordList) -> dict[Place, float]:
    """How far the words next to each set lean to its group, for each of its mentions.

    `sets`: With the texts of their documents.
    """
    left_out = not_neutral(words)
    near: dict[Place, tuple[Set, list[str]]] = {}
    counts = {group: Counter[str]() for group in words.groups}
    for at, own, text in sets:
        beside = list[str]()
        for each in own.mentions:
            beside += split_runs(text[max(0, each.start - AROUND) : each.start].lower())[-WINDOW:]
            beside += split_runs(text[each.end : each.end + AROUND].lower())[:WINDOW]
        kept = [intern(word) for word in beside if len(word) >= SHORTEST and word not in left_out]
        near[at] = own, kept
        counts[own.source].update(kept)
    every = sum(counts.values(), Counter[str]())
    parts = {group: own.total() / max(every.total(), 1) for group, own in counts.items()}

    def score(group: str, word: str) -> float:
        wanted = every[word] * parts[group]
        return (counts[group][word] - wanted) / math.sqrt(wanted * (1 - parts[group]) or 1)

    return {
        at: math.fsum(score(own.source, word) for word in found) / len(own.mentions)
        for at, (own, found) in near.items()
    }
