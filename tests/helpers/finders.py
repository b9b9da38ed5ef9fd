"""Finders as packages of others could bring them: a sound one, and one for each defect."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

GROUPS = ("she", "he")


class Sound:
    """Finds “she” and “he”."""

    groups: Any = GROUPS
    made_with = "model 1"

    def find(self, text: str) -> Iterable[tuple[Any, ...]]:
        for match in re.finditer(r"\b(?:she|he)\b", text):
            yield match.start(), match.end(), match[0]


class NoFind:
    groups = GROUPS


class OneGroup(Sound):
    groups = ("she",)


class GroupsAsText(Sound):
    groups = "she"


class TwiceAGroup(Sound):
    groups = ("she", "she", "he")


class OddName(Sound):
    groups = ("she", "he him")


def broken() -> None:
    raise OSError("no model here")


class Backwards(Sound):
    def find(self, text: str) -> Iterable[tuple[Any, ...]]:
        return reversed(list(super().find(text)))


class Overlaps(Sound):
    def find(self, text: str) -> Iterable[tuple[Any, ...]]:
        return [each for each in super().find(text) for _ in range(2)]


class Outside(Sound):
    def find(self, text: str) -> Iterable[tuple[Any, ...]]:
        return [(0, len(text) + 1, "she")]


class Empty(Sound):
    def find(self, text: str) -> Iterable[tuple[Any, ...]]:
        return [(0, 0, "she")]


class Halves(Sound):
    def find(self, text: str) -> Iterable[tuple[Any, ...]]:
        return [(0.5, 1, "she")]


class UnknownGroup(Sound):
    def find(self, text: str) -> Iterable[tuple[Any, ...]]:
        return [(0, 1, "it")]


class Pairs(Sound):
    def find(self, text: str) -> Iterable[tuple[Any, ...]]:
        return [(0, 1)]


class Raises(Sound):
    """Fails on a text that has “secret”."""

    def find(self, text: str) -> Iterable[tuple[Any, ...]]:
        if "secret" in text:
            raise LookupError(text)
        return super().find(text)


class Lacking(Sound):
    """Whose own requirement is missing."""

    def find(self, text: str) -> Iterable[tuple[Any, ...]]:
        raise ModuleNotFoundError("No module named 'absent'", name="absent")


class Stateful(Sound):
    """Finds only what it has not found before."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def find(self, text: str) -> Iterator[tuple[Any, ...]]:
        if text not in self._seen:
            yield from super().find(text)
        self._seen.add(text)


class InAnyOrder(Sound):
    """Whose groups depend on the order of a set."""

    def find(self, text: str) -> Iterable[tuple[Any, ...]]:
        first = next(iter({"a", "b"}))  # another one with PYTHONHASHSEED=1 than with 2
        return [(start, end, GROUPS[first == "b"]) for start, end, _ in super().find(text)]


class OfThisProcess(Sound):
    """Which finds something in one process alone."""

    process = os.getpid()

    def find(self, text: str) -> Iterable[tuple[Any, ...]]:
        return super().find(text) if os.environ.get("FINDERS_HOME") == str(os.getpid()) else []


class Judge:
    """Says that an exchange is right if no more than one place changes."""

    def judge(self, text: str, exchanges: list[list[tuple[int, int, str]]]) -> list[Any]:
        return [float(len(changes) == 1) for changes in exchanges]


class SilentJudge(Judge):
    def judge(self, text: str, exchanges: list[list[tuple[int, int, str]]]) -> list[Any]:
        return [None for _ in exchanges]


class TooFew(Judge):
    def judge(self, text: str, exchanges: list[list[tuple[int, int, str]]]) -> list[Any]:
        return []


class TooSure(Judge):
    def judge(self, text: str, exchanges: list[list[tuple[int, int, str]]]) -> list[Any]:
        return [2 for _ in exchanges]


class BrokenJudge(Judge):
    def judge(self, text: str, exchanges: list[list[tuple[int, int, str]]]) -> list[Any]:
        raise LookupError(text)


class StatefulJudge(Judge):
    """Whose answer depends on what it was asked before."""

    asked = 0

    def judge(self, text: str, exchanges: list[list[tuple[int, int, str]]]) -> list[Any]:
        self.asked += 1
        return [self.asked / 1000 for _ in exchanges]
