"""Word vectors that learn each arm, and how biased they are.

A seed draws half of the documents. Vectors of each arm are learnt from it. Vectors of the other
half, as it came, say how much each neutral word leans to a group there. Two figures are taken:

- `kept`: the part of these leanings that the arm's vectors have too, over all frequent neutral
  words.
- `career`: WEAT's d of career and family (Caliskan et al. 2017), signed; 0 is best. Beside it
  stands the floor: d of as many random words.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from evenflow.pipelines.lab.effect.arms import ARMS, HIGH, Documents, Floats
from evenflow.pipelines.lab.effect.texts import Ints, Texts
from evenflow.transforms.lab.bias_score.corpus_vectors import Pairs, vectors
from evenflow.transforms.lab.bias_score.seat import effect_size

FLOOR = 1_000  # random sets of words
ROUNDED = 7  # digits of a figure
FIGURES = {
    "kept": "part of the other half's leanings that is kept",
    "career": "WEAT d of career and family",
}
CAREER = (
    *("executive", "management", "professional", "corporation"),
    *("salary", "office", "business", "career"),
)
FAMILY = (
    *("home", "parents", "children", "family"),
    *("cousins", "marriage", "wedding", "relatives"),
)


class Cell(NamedTuple):
    """An arm with a seed; random arms are drawn twice in the pilot."""

    seed: int
    arm: str
    draw: int = 0


class Half:
    """A seed's half of the corpus, whose arms are measured by the other half."""

    def __init__(self, texts: Texts, seed: int):
        self.seed, self._texts = seed, texts
        order = np.random.default_rng(seed).permutation(len(texts.weights))
        own, other = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
        self._pairs = cache(lambda name: self._of(name, own))
        self._held = self._leanings(
            vectors(self._of("original", other).counts(np.ones(len(other))))
        )
        neutral = np.zeros(len(texts.places))
        neutral[texts.neutral] = self._held[texts.neutral] - self._held[texts.neutral].mean()
        scores = texts.scores[own]
        self._documents = Documents(
            texts.weights[own],
            (scores > np.quantile(scores, HIGH)).astype(float),
            self._pairs("original").evidence(texts.signs, neutral),
        )

    def _of(self, name: str, documents: Ints) -> Pairs:
        """The pairs of words of some documents after a change."""
        every = self._texts.numbers[name]
        return Pairs([every[at] for at in documents], len(self._texts.places))

    def figures(self, cell: Cell) -> dict[str, float]:
        """Learn and measure the vectors of an arm."""
        random = np.random.default_rng([cell.seed, list(ARMS).index(cell.arm), cell.draw])
        taken = ARMS[cell.arm].read(self._documents, random)
        found = self._leanings(
            vectors(*(self._pairs(name).counts(own) for name, own in taken.items()))
        )
        places, neutral = self._texts.places, self._texts.neutral
        kept = float(np.cov(found[neutral], self._held[neutral])[0, 1])
        sets = [found[[places[word] for word in own if word in places]] for own in (CAREER, FAMILY)]
        measured: dict[str, Any] = {"kept": kept, "career": effect_size(*sets)}
        if cell.arm == "original":
            sizes = np.cumsum([len(own) for own in sets])
            drawn = [random.choice(found[neutral], sizes[-1], replace=False) for _ in range(FLOOR)]
            measured["floor"] = np.quantile(
                [effect_size(each[: sizes[0]], each[sizes[0] :]) for each in drawn], 0.975
            )
        return {name: round(float(value), ROUNDED) for name, value in measured.items()}

    def _leanings(self, made: Floats) -> Floats:
        """How much more each word goes with the second group, (V,): a difference of cosines."""
        signs = self._texts.signs
        return made @ (made[signs > 0].mean(axis=0) - made[signs < 0].mean(axis=0))
