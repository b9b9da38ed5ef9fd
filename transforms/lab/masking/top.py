"""The K highest scores of a stream; equal scores come by the digest of what was scored."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from typing import Any


class Top:
    """Keeps the K items of a stream with the highest scores, in memory of K items.

    The same items in any order leave the same K. Of items with one digest, one is kept.
    """

    def __init__(self, most: int):
        self._most = most
        self._kept: list[tuple[float, str, Any]] = []
        self._known: set[str] = set()

    def add(self, score: float, digest: str, item: Any) -> None:
        """Keep an item if it is among the K highest so far."""
        if not self.wants(score, digest):
            return
        if len(self._kept) == self._most:
            self._known.discard(self._kept.pop()[1])
        insort(self._kept, (-score, digest, item), key=lambda each: each[:2])
        self._known.add(digest)

    def wants(self, score: float, digest: str) -> bool:
        """Whether `add` would keep such an item."""
        if digest in self._known:
            return False
        return len(self._kept) < self._most or (-score, digest) < self._kept[-1][:2]

    def best(self) -> Iterator[tuple[float, str, Any]]:
        """The score, digest and item of each that is kept, the highest score first."""
        for negative, digest, item in self._kept:
            yield -negative, digest, item
