"""A judge of exchanges for tests: what a function says of the marked windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest

from evenflow.transforms.measures.stereotypes import detect
from evenflow.transforms.models import static
from evenflow.transforms.substitution import reading
from evenflow.transforms.substitution.judges import Asked, Judged
from evenflow.transforms.substitution.sets import Set
from evenflow.transforms.substitution.windows import show_windows

Says = Callable[[str], float]


class Judge:
    """Gives each exchange the probability that a function says of its windows.

    It keeps what it was asked. `together` says which sets are joined.
    """

    def __init__(
        self,
        says: Says = lambda shown: 1.0,
        reason: str = "",
        together: Callable[[Sequence[Set], int], tuple[int, ...]] = lambda sets, number: (number,),
    ):
        self.says, self.reason, self.together = says, reason, together
        self.asked: list[tuple[str, str]] = []  # attribute, windows

    def exchanges(self, documents: Iterable[Asked]) -> Iterator[list[Judged]]:
        return (self.document(*each) for each in documents)

    def document(
        self, text: str, sets: Sequence[Set], asked: Sequence[tuple[int, str]]
    ) -> list[Judged]:
        out: list[Judged] = []
        for number, target in asked:
            shown = " ".join(show_windows(text, sets[number], target))
            self.asked.append((sets[number].attribute, shown))
            said = self.says(shown)
            joined = self.together(sets, number)
            out.append(Judged(said, self.reason if said < 0.5 else "", joined))
        return out


class First:
    """A first stage, by the same kind of function."""

    def __init__(self, says: Says = lambda shown: 1.0):
        self.says = says
        self.asked: list[tuple[str, str]] = []  # attribute, windows

    def exchanges(self, attribute: str, windows: Sequence[Sequence[str]]) -> list[float]:
        shown = [" ".join(each) for each in windows]
        self.asked += [(attribute, each) for each in shown]
        return list(map(self.says, shown))


class NoStereotypes:
    """Detects none."""

    def detect(self, sentences: Sequence[str], labels: object) -> list[float | None]:
        return [0.0 for _ in sentences]


def shipped(patch: pytest.MonkeyPatch, judge: Judge, first: First) -> None:
    """Put them in the place of the shipped models, in this process."""
    made = reading.judge_of

    def judge_of(*of: Any, **more: Any) -> Any:
        found = made(*of, **more)
        return judge if isinstance(found, reading.DocumentJudge) else found

    patch.setattr(reading, "judge_of", judge_of)
    patch.setattr(static.FirstStage, "shipped", lambda: first)
    patch.setattr(detect, "shipped", NoStereotypes)
