"""What a design of the experiment has: who learns, from what, and which figures are taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from evenflow.pipelines.lab.effect.arms import ARMS, Documents, Floats
from evenflow.pipelines.lab.effect.texts import Texts

ROUNDED = 7  # digits of a figure


class Cell(NamedTuple):
    """An arm with a seed; random arms are drawn twice in the pilot."""

    seed: int
    arm: str
    draw: int = 0


class SeedSample(Protocol):
    """What a seed draws from the corpus."""

    seed: int

    def figures(self, cell: Cell) -> dict[str, float]:
        """Learn an arm, and measure what has learnt it."""
        ...


@dataclass(frozen=True)
class EffectDesign:
    """A design.

    Attributes:
        figures: The figures that arms are compared by, each with its title. `kept` is one of them.
        arms: The arms.
        halves: Whether a seed draws half of the corpus, so that the spread of seeds is the standard
            error of the whole; else seeds draw few documents.
        sample: Makes a seed's sample.
        pilot: Seeds of the pilot, which are none of the run's.
        about: What the result says of the design, and cells depend on.
    """

    figures: Mapping[str, str]
    arms: tuple[str, ...]
    halves: bool
    sample: Callable[[Texts, int], SeedSample]
    pilot: range = range(10_000, 10_005)
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])


def read_of(cell: Cell, documents: Documents) -> tuple[dict[str, Floats], np.random.Generator]:
    """How often an arm reads each text, and what else of the cell is drawn from."""
    random = np.random.default_rng([cell.seed, list(ARMS).index(cell.arm), cell.draw])
    return ARMS[cell.arm].read(documents, random), random


def rounded(figures: Mapping[str, Any]) -> dict[str, float]:
    """Figures as cells.jsonl has them."""
    return {name: round(float(value), ROUNDED) for name, value in figures.items()}
