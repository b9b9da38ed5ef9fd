"""What a benchmark is: its items, what a model is asked, and which figures follow."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.transforms.lab.benchmarks.data import Data

Floats = npt.NDArray[np.float64]
Row = Mapping[str, Any]  # a line of items/SUITE.jsonl
HEADLINE = ""  # the name of a suite's own figure, beside those of its parts


@dataclass(frozen=True)
class Item:
    """One question of a benchmark.

    Attributes:
        id: Its name, which no other item has.
        content: What the model is asked about.
        kind: What it is about, such as gender; `SUITE:KIND` asks these items alone. Of a kind with
            a hyphen, such as intra-gender, its beginning also stands for all kinds that begin so.
        cluster: What it shares with other items, such as a template; empty for nothing.
    """

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

    Attributes:
        name: Its name; empty for the suite's own figure.
        of: The numbers of an item whose means are taken; None where it does not count.
        figure: Means (B, k) and numbers of items (B,) to figures (B,).
        alike: Whether clusters count alike, however many items they have.
        distance: Whether the figure is how far from 0 this is, and the sign is a direction.
        share: Whether the figure is a share of items.
        better: "higher", "lower", or the best value, such as "0.5".
        range: Lowest and highest value; None for no bound.
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
class Suite:
    """A benchmark.

    Attributes:
        name: Its name on the command line.
        title: Its name in the literature.
        source: Where it was published.
        data: Source and licence of the items.
        formula: How the figure is computed.
        limits: What the figure does not show.
        models: The kinds of model that can be asked: causal, masked, encoder, server.
        read: Items of the data.
        prepare: What a model is given for an item. Raises LanguageModelError where that cannot be.
        ask: Values of items, from what was prepared; `texts` beside `values` where the model wrote.
        measures: The figures, given the kinds of the items; the first is the suite's own.
        finish: Completes the lines of all items, where a value depends on the other items.
        more: Further fields of figures by name, from the lines of all items.
    """

    name: str
    title: str
    source: str
    data: str
    formula: str
    limits: str
    models: tuple[str, ...]
    read: Callable[[Data], list[Item]]
    prepare: Callable[[Any, Item, int], Any]
    ask: Callable[[Any, Sequence[Any]], list[dict[str, Any]]]
    measures: Callable[[Sequence[str]], list[Measure]]
    finish: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = lambda rows: rows
    more: Callable[[Sequence[Row]], dict[str, dict[str, Any]]] = lambda _: {}

    def describe(self) -> dict[str, str]:
        """What a reader of its figures must know."""
        return {
            "title": self.title,
            "source": self.source,
            "data": self.data,
            "formula": self.formula,
            "limits": self.limits,
        }


def value(name: str, kind: str = "") -> Callable[[Row], tuple[float, ...] | None]:
    """One value of the items of a kind, or of all items.

    Args:
        name: The value.
        kind: The kind; empty for all.

    Returns:
        A function for `Measure.of`.
    """
    return values((name,), kind)


def values(names: Sequence[str], kind: str = "") -> Callable[[Row], tuple[float, ...] | None]:
    """Several values of the items of a kind, or of all items.

    Args:
        names: The values.
        kind: The kind; empty for all.

    Returns:
        A function for `Measure.of`.
    """

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
