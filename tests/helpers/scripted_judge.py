"""A judge of exchanges for tests: what a function says of the marked windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from evenflow.transforms.models import encoder, static
from evenflow.transforms.stereotypes import detect

Says = Callable[[str], float]


class Judge:
    """Gives each exchange the probability that a function says of its windows, joined, and keeps
    what it was asked.

    It is a first stage too, by `first`.
    """

    def __init__(self, says: Says = lambda shown: 1.0, reason: str = ""):
        self.says, self.reason = says, reason
        self.asked: list[tuple[str, str]] = []  # attribute, windows

    def exchanges(
        self, attribute: str, windows: Sequence[Sequence[str]]
    ) -> list[tuple[float, str]]:
        shown = [" ".join(each) for each in windows]
        self.asked += [(attribute, each) for each in shown]
        return [(said, self.reason if said < 0.5 else "") for said in map(self.says, shown)]


class First(Judge):
    """The same as a first stage."""

    def exchanges(self, attribute: str, windows: Sequence[Sequence[str]]) -> list[float]:  # type: ignore[override]
        return [probability for probability, _ in super().exchanges(attribute, windows)]


class NoStereotypes:
    """Detects none."""

    def detect(self, sentences: Sequence[str], labels: object) -> list[float | None]:
        return [0.0 for _ in sentences]


def shipped(patch: pytest.MonkeyPatch, judge: Judge, first: First) -> None:
    """Put them in the place of the shipped models, in this process."""
    patch.setattr(encoder.Encoder, "shipped", lambda: judge)
    patch.setattr(static.FirstStage, "shipped", lambda: first)
    patch.setattr(detect, "shipped", NoStereotypes)
