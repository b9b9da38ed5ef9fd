"""What a benchmark is: its items, what a model is asked, and which figures follow."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from evenflow.transforms.lab.benchmarks.data import Data

Floats = npt.NDArray[np.float64]
Row = Mapping[str, Any]  # a line of items/SUITE.jsonl
HEADLINE = ""  # the name of a suite's own figure, beside those of its parts


@dataclass(frozen=True)
class Item:
    """One question of a benchmark."""

    id: str
    content: Mapping[str, Any]
    kind: str = ""
    cluster: str = ""

    def size(self) -> int:
        """Characters of its content: items of like length go together."""
        return len(str(self.content))


@dataclass(frozen=True)
class Measure:
    """A figure that is a function of means over items.

    `figure`: Means (B, k) and numbers of items (B,) to figures (B,).
    """

    name: str
    of: Callable[[Row], tuple[float, ...] | None]
    figure: Callable[[Floats, Floats], Floats]
    alike: bool = False
    distance: bool = False
    share: bool = False
    better: str = "higher"
    range: tuple[float | None, float | None] = (0.0, 1.0)


@dataclass(frozen=True)
class About:
    """What a reader of a benchmark's figures must know, and the kinds of model that it asks."""

    name: str
    title: str
    source: str
    data: str
    formula: str
    limits: str
    models: tuple[str, ...]

    def describe(self) -> dict[str, str]:
        """What results say of the benchmark."""
        return {key: each for key, each in vars(self).items() if key not in ("name", "models")}


class Suite(Protocol):
    """A benchmark: a module of this room."""

    ABOUT: About
    read: Callable[[Data], list[Item]]
    prepare: Callable[[Any, Item, int], Any]
    ask: Callable[[Any, Sequence[Any]], list[dict[str, Any]]]
    measures: Callable[[Sequence[str]], list[Measure]]


def value(name: str, kind: str = "") -> Callable[[Row], tuple[float, ...] | None]:
    """One value of the items of a kind, or of all items."""
    return values((name,), kind)


def values(names: Sequence[str], kind: str = "") -> Callable[[Row], tuple[float, ...] | None]:
    """Several values of the items of a kind, or of all items."""

    def of(row: Row) -> tuple[float, ...] | None:
        own = row["values"]
        if (
            own is None
            or (kind and row["kind"] != kind)
            or any(own[name] is None for name in names)
        ):
            return None
        return tuple(float(own[name]) for name in names)

    return of


def mean(means: Floats, _: Floats) -> Floats:
    """The first mean: a share, or an average."""
    return means[:, 0]


def seed_of(*parts: object) -> int:
    """A seed of 32 bits that depends on all parts: each item draws from its own."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, parts)).encode()).digest()[:4], "big")
