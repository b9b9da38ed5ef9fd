"""Chains of items that are the same person, or people of the same group in one story: they change together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.sets import Item

# Reasons that say of a word that it is nobody of the group that is spoken of around it.
APART = frozenset((sets.SENSE, sets.IDIOM, sets.NAMED, sets.REFERS, sets.NO_COUNTERPART, sets.WORK, sets.ADDRESS))
LEAST = 0.5  # confidence below which a mention is barred by default


@dataclass
class Chain:
    """Items of one group that are the same person, or may be: they change together.

    weight, reason: the confidence that the person may change, and why it is less than 1, if so.
    """

    items: list[Item] = field(default_factory=list)
    weight: float = 1.0
    reason: str = ""
    unnamed: bool = False  # whether it goes back to somebody without a name («any doctor»)

    @property
    def particular(self) -> bool:
        """Whether one of its items is a certain person or thing."""
        return any(item.particular for item in self.items)

    @property
    def least(self) -> float:
        """The weight that the rules leave to the whole."""
        return min([self.weight, *[item.weight for item in self.items]])

    def lower(self, weight: float, reason: str) -> None:
        """Take the confidence down to a weight."""
        if weight < self.weight:
            self.weight, self.reason = weight, reason

    def take(self, other: Chain) -> None:
        """Make another chain's items this one's, in the text's order: they are the same person."""
        if other is self:
            return
        ordered = not self.items or not other.items or self.items[-1].start < other.items[0].start
        self.items += other.items
        if not ordered:
            self.items.sort(key=lambda item: item.start)
        self.lower(other.weight, other.reason)
        other.items = self.items
        other.weight, other.reason = self.weight, self.reason


def bind_equals(chain: Chain, others: Sequence[Chain | None]) -> None:
    """Of those whom a pronoun may mean as well one as the other none changes where one does not."""
    each = [chain, *(other for other in others if other is not None and other is not chain)]
    if chain.weight < LEAST or any(other.items and other.least < LEAST for other in each[1:]):
        for other in each:
            other.lower(0.45, sets.UNSURE)


def of_one_story(items: Sequence[Item]) -> list[Chain]:
    """Chains for lists without pronouns: the same group in neighbouring sentences is the same people.

    A word that is no mention of the group (a name, another sense) stands apart. What is said of a group in general, in a
    sentence that may change, is not held back by a neighbouring sentence that may not: only words for one person or
    place tell one story there.
    """
    said = Counter((item.group, item.sentence, item.word) for item in items)
    chains: list[Chain] = []
    last: dict[str, tuple[Chain, int]] = {}
    barred = {
        (item.group, item.sentence)
        for item in items
        if (item.weight < LEAST and not _stands_apart(item)) or item.reason == sets.COMPARED
    }
    # An adjective that falls away before its noun, and the noun: neither changes without the other.
    tied = {id(each) for pair in pairwise(items) if pair[0].gap and pair[0].gap == pair[1].start for each in pair}
    for item in items:
        if id(item) not in tied and _stands_apart(item) and said[item.group, item.sentence, item.word] == 1:
            chains.append(Chain([item]))
            continue
        chain, place = last.get(item.group, (None, 0))
        reach = 2 if item.mention is None else 1
        here, there = (item.group, item.sentence) in barred, (item.group, place) in barred
        parted = item.sentence != place and here != there and not (chain is not None and chain.particular and item.particular)
        if chain is None or item.sentence - place > reach or parted:
            chain = Chain()
            chains.append(chain)
        chain.items.append(item)
        last[item.group] = chain, item.sentence
    return chains


def _stands_apart(item: Item) -> bool:
    return item.mention is not None and item.weight < LEAST and item.reason in APART
