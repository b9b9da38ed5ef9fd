"""Finds which neutral words of a corpus lean to which group, beside its other figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenflow.schemas.documents import Figures
from evenflow.transforms.measures.associations.counting import NAME, AssociationCounter, WordSums
from evenflow.transforms.measures.associations.leanings import described, leanings
from evenflow.wordlists.loader import WordList


class Associations:
    """The associations of a corpus, block by block.

    Attributes:
        counters: What counts them (`measure.measure`).
    """

    def __init__(self, lists: Sequence[WordList]):
        self.counters = {NAME: AssociationCounter(lists)}
        self._groups = {each.attribute: list(each.groups) for each in lists}
        self._sums = {name: WordSums() for name in self._groups}

    def take(self, figures: Figures) -> None:
        """Take what was counted of them out of the figures of a block."""
        for name, rows in figures.measures.pop(NAME, {}).items():
            self._sums[name].add(rows)

    def finish(self, result: dict[str, Any]) -> None:
        """Add them to what was measured (`summaries.measured`)."""
        for name, groups in self._groups.items():
            own, missed = self._sums[name].rows, self._sums[name].missed
            found = described(leanings(own, len(groups)), groups, missed)
            result["attributes"][name]["associations"] = found
