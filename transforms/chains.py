"""Chains of items that are the same person, or people of the same group in one story: they change together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from evenflow.transforms.sets import Item


@dataclass
class Chain:
    """Items of one group that are the same person, or may be: they change together.

    weight, reason: the confidence that the person may change, and why it is less than 1, if so.
    """

    items: list[Item] = field(default_factory=list)
    weight: float = 1.0
    reason: str = ""
    unnamed: bool = False  # whether it goes back to somebody without a name («any doctor»)

    def lower(self, weight: float, reason: str) -> None:
        """Take the confidence down to a weight."""
        if weight < self.weight:
            self.weight, self.reason = weight, reason

    def take(self, other: Chain) -> None:
        """Make another chain's items this one's: they are the same person."""
        if other is self:
            return
        self.items += other.items
        self.lower(other.weight, other.reason)
        other.items = self.items
        other.weight, other.reason = self.weight, self.reason


def of_one_story(items: Sequence[Item]) -> list[Chain]:
    """Chains for lists without pronouns: the same group in neighbouring sentences is the same people."""
    chains: list[Chain] = []
    last: dict[str, tuple[Chain, int]] = {}
    for item in items:
        chain, place = last.get(item.group, (None, 0))
        if chain is None or item.sentence - place > (2 if item.mention is None else 1):
            chain = Chain()
            chains.append(chain)
        chain.items.append(item)
        last[item.group] = chain, item.sentence
    return chains
