"""Decides which of the proposed sets of documents may change: the gate's draw and `explain` ask it.

first probability -> the judge, for a set and a target -> the bar -> the sets of one person
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Generic, TypeVar

from evenflow.transforms.substitution import reading, sets
from evenflow.transforms.substitution.judges import Asked, Bar, ExchangeJudge, Judged
from evenflow.transforms.substitution.sets import Set

Spot = TypeVar("Spot", bound=Hashable)
Exchange = tuple[int, str]  # the place of a set among its document's sets, and its target


class Decisions(Generic[Spot]):
    """What is decided about the sets of one attribute, as the judge is asked about them.

    Sets of one person change together, with the first of them that was asked about.

    Args:
        min_probability: The least probability of being right that an exchange needs.
        judge: Gives this probability; None: the sets' own.
        bar: Bars exchanges, whatever the judge says; None: none.
        doubted: The reason of a set with a lower probability.

    Attributes:
        judged: Number of exchanges that the judge was asked about.
        refused: Why a set of a document may not change after all, by the document and the set's
            place in it.
        excluded: Number of sets that were refused, by reason.
    """

    def __init__(
        self,
        min_probability: float,
        judge: ExchangeJudge | None,
        bar: Bar | None = None,
        doubted: str = sets.DOUBTED,
    ):
        self.judged = 0
        self.refused: dict[tuple[Spot, int], str] = {}
        self.excluded: Counter[str] = Counter()
        self._min_probability, self._judge, self._bar = min_probability, judge, bar
        self._doubted = doubted
        self._least = reading.least(judge, min_probability)
        # By set: the one with which it changes, the judge's probability, those that change with it
        self._leads: dict[tuple[Spot, int], int] = {}
        self._chances: dict[tuple[Spot, int], float] = {}
        self._joined: dict[tuple[Spot, int], tuple[int, ...]] = {}

    def reason(self, spot: Spot, place: int, proposed: Set) -> str:
        """Say why a set may not change.

        Args:
            place: Its place among the document's sets of the attribute.

        Returns:
            The reason; empty if the set may change.
        """
        if not proposed.edits or not proposed.confidence:
            return proposed.reason or sets.NO_COUNTERPART
        if proposed.confidence < self._least:
            return proposed.reason or self._doubted
        return self.refused.get((spot, place), "")

    def decided(self, spot: Spot, place: int, proposed: Set) -> Set:
        """The set with the judge's probability if it was judged, 0 if it was barred."""
        return replace(proposed, confidence=self._chances.get((spot, place), proposed.confidence))

    def follows(self, spot: Spot, place: int) -> bool:
        """Whether a set changes with another one that was asked about before."""
        return self._leads.get((spot, place), place) != place

    def joined(self, spot: Spot, place: int) -> tuple[int, ...]:
        """The places of the sets that change with an accepted set, its own among them."""
        return self._joined.get((spot, place), (place,))

    def ask(
        self,
        wanted: Mapping[Spot, Sequence[Exchange]],
        show: Callable[[Spot, Sequence[Exchange]], Asked],
    ) -> None:
        """Have exchanges judged.

        Args:
            show: Gives exchanges of a document as a judge is shown them.
        """
        cases = {
            spot: [each for each in exchanges if not self.follows(spot, each[0])]
            for spot, exchanges in wanted.items()
        }
        shown = (show(spot, exchanges) for spot, exchanges in cases.items())
        answers = repeat(()) if self._judge is None else self._judge.exchanges(shown)
        for (spot, exchanges), heard in zip(cases.items(), answers, strict=self._judge is not None):
            for (place, _), answer in zip(exchanges, heard, strict=False):
                if not self.follows(spot, place):
                    self._hear(spot, place, answer)
            self.judged += len(heard)
            if self._bar is not None:
                self._ask_bar(self._bar, spot, exchanges, show)

    def _hear(self, spot: Spot, place: int, answer: Judged) -> None:
        """Keep the judge's answer about a set: a refusal, or the sets that change with it."""
        if answer.probability < self._min_probability:
            self._refuse(spot, place, answer.probability, answer.reason or self._doubted)
        elif any(
            self._leads.get((spot, each), place) != place
            or self.refused.get((spot, each), sets.HALF) != sets.HALF
            for each in answer.joined
            if each != place
        ):
            self._refuse(spot, place, answer.probability, sets.HALF)
        else:
            self._joined[spot, place] = answer.joined
            for each in answer.joined:
                self._leads[spot, each] = place
                self._chances[spot, each] = answer.probability
                if self.refused.pop((spot, each), ""):
                    self.excluded[sets.HALF] -= 1

    def _ask_bar(
        self,
        bar: Bar,
        spot: Spot,
        exchanges: Sequence[Exchange],
        show: Callable[[Spot, Sequence[Exchange]], Asked],
    ) -> None:
        """Refuse what is barred of the accepted exchanges of a document."""
        for place, _ in exchanges:
            if (spot, place) in self.refused or self.follows(spot, place):
                continue
            document = show(spot, exchanges)
            if any(
                bar.bars(document.text, document.sets[each]) for each in self.joined(spot, place)
            ):
                self._refuse(spot, place, 0.0, sets.STEREOTYPE)

    def _refuse(self, spot: Spot, place: int, probability: float, reason: str) -> None:
        """Refuse a set."""
        self._chances[spot, place] = probability
        self.refused[spot, place] = reason
        self.excluded[reason] += 1
