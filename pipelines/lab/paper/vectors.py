"""Word vectors that learn each arm, and how biased they are.

A seed draws half of the documents. Vectors of each arm are learnt from it. Vectors of the other
half, as it came, say how much each neutral word leans to a group there. Two figures are taken:

- `kept`: the part of these leanings that the arm's vectors have too, over all frequent neutral
  words.
- `career`: WEAT's d of career and family (Caliskan et al. 2017), signed; 0 is best.

Before the run a pilot with other seeds draws every random arm twice. The two should differ by
chance alone; so their spread says which effect the run will be able to show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from evenflow.gates.ledger.files import canonical
from evenflow.pipelines.lab.paper import power
from evenflow.pipelines.lab.paper.cells import MEASURED, Cell
from evenflow.pipelines.lab.paper.comparison import Estimate
from evenflow.pipelines.lab.paper.settings import PILOT, Paper, Text
from evenflow.pipelines.lab.paper.texts import Floats, Ints, Texts
from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.transforms.lab.bias_score.corpus_vectors import Pairs, vectors
from evenflow.transforms.lab.bias_score.seat import effect_size
from evenflow.transforms.measures.bias_score.words import given_names, named
from evenflow.transforms.storage.directory import Directory
from evenflow.transforms.text.words import split_runs
from evenflow.wordlists.loader import WordList

VOCABULARY = 5_000  # words that get a vector: the most frequent ones
FREQUENT = 50  # times that a word occurs whose leaning is measured
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
LIMITS = (
    "The intervals are over documents: the spread of halves is the standard error of the whole"
    " (delete-half jackknife). They say nothing of other words and corpora.",
    "Word vectors are a small model: nothing follows for language models.",
)


class Vocabulary:
    """The most frequent words of texts, as numbers: those of two groups, and neutral ones.

    Attributes:
        places: The number of each word.
        signs: -1 or 1 for a frequent word of the first or the second group, else 0, (V,).
        neutral: The numbers of frequent words that name no group.
    """

    def __init__(self, texts: Iterable[str], words: WordList):
        counts = Counter(word for text in texts for word in _split(text))
        self.places = {word: at for at, (word, _) in enumerate(counts.most_common(VOCABULARY))}
        frequent = {word for word in self.places if counts[word] >= FREQUENT}
        self.signs = np.zeros(len(self.places))
        for word in frequent & words.labels.keys():
            self.signs[self.places[word]] = (-1, 1)[words.labels[word]]
        neutral = frequent - named(words) - given_names(words)
        chosen = [at for word, at in self.places.items() if word in neutral]
        self.neutral: Ints = np.array(chosen, np.int64)

    def numbers(self, text: str) -> Ints:
        """The words of a text that are in the vocabulary."""
        return np.array([self.places[at] for at in _split(text) if at in self.places], np.int64)

    def leanings(self, made: Floats) -> Floats:
        """How much more each word goes with the second group, (V,): a difference of cosines.

        `made`: Vectors of the words (V, size).
        """
        return made @ (made[self.signs > 0].mean(axis=0) - made[self.signs < 0].mean(axis=0))


class Vectors:
    """Learns word vectors of each cell."""

    def __init__(self, paper: Paper, texts: Texts):
        self._paper, self._texts = paper, texts
        words = texts.words[0]
        if len(words.groups) != 2:
            raise TrainInputError(
                f"{words.attribute}: word vectors compare two groups; name a model"
            )
        own = Vocabulary(texts.text(paper.arms[paper.baseline], "original"), words)
        self._vocabulary, self._places, self._neutral = own, own.places, own.neutral
        if {-1.0, 1.0} - set(own.signs.tolist()) or len(own.neutral) < 2:
            raise TrainInputError(
                f"{', '.join(paper.input)}: too little text; a label of each group and other words"
                f" that occur {FREQUENT} times were expected"
            )
        self._numbers: dict[str, list[Ints]] = {}
        self._seed = -1

    def cells(self, at: Callable[..., Cell]) -> tuple[list[Cell], list[Cell]]:
        """The cells of the pilot, then those of the run, seed by seed."""
        arms = self._paper.arms
        random = [name for name, arm in arms.items() if arm.drawn or arm.select == "random"]
        controls = dict.fromkeys(self._paper.control(name) for name in random)
        pilot = [
            at(name, seed, draw)
            for seed in PILOT
            for name in dict.fromkeys((*controls, *random))
            for draw in range(1 + (name in random))
        ]
        return pilot if random else [], [at(name, s) for s in self._paper.seeds for name in arms]

    def check(self, cells: Sequence[Cell]) -> None:
        """Nothing can be wrong with cells that is not seen at once."""

    def go(self, cell: Cell, on_step: Callable[[Any], None] = lambda step: None) -> None:
        """Learn and measure the vectors of a cell."""
        Directory(cell.folder).write(MEASURED, canonical(self.measured(cell)))

    def measured(self, cell: Cell) -> dict[str, float]:
        """The figures of a cell's vectors."""
        if self._seed != cell.seed:
            self._open(cell.seed)
        taken = self._texts.taken(cell.arm, cell.seed, cell.draw, self._own, self._evidence)
        counted = (self._pairs(cell.arm, name).counts(own) for name, own in taken.items())
        found, neutral = self._vocabulary.leanings(vectors(*counted)), self._neutral
        kept = float(np.cov(found[neutral], self._held[neutral])[0, 1])
        sets = [
            found[[self._places[word] for word in own if word in self._places]]
            for own in (CAREER, FAMILY)
        ]
        measured = {"kept": kept, "career": effect_size(*sets) if all(map(len, sets)) else 0.0}
        if cell.arm == self._paper.baseline and measured["career"]:
            random, first = np.random.default_rng(cell.seed), len(sets[0])
            drawn = (
                random.permutation(found[neutral])[: sum(map(len, sets))] for _ in range(FLOOR)
            )
            each = [effect_size(own[:first], own[first:]) for own in drawn]
            measured["floor"] = float(np.quantile(each, 0.975))
        return {name: round(float(value), ROUNDED) for name, value in measured.items()}

    def _open(self, seed: int) -> None:
        """Draw a seed's half of the documents, whose arms are measured by the other half."""
        order = np.random.default_rng(seed).permutation(len(self._texts.ids))
        self._seed, self._own = seed, np.sort(order[: len(order) // 2])
        other, base = np.sort(order[len(order) // 2 :]), self._paper.baseline
        self._counted: dict[str, Pairs] = {}
        whole = Pairs(self._words(base, "original", other), len(self._places))
        self._held = self._vocabulary.leanings(vectors(whole.counts(np.ones(len(other)))))
        neutral = np.zeros(len(self._places))
        neutral[self._neutral] = self._held[self._neutral] - self._held[self._neutral].mean()
        self._evidence = self._pairs(base, "original").evidence(self._vocabulary.signs, neutral)

    def _pairs(self, arm: str, name: Text) -> Pairs:
        """The pairs of words of the half after a change, counted once."""
        key = self._texts.key(self._paper.arms[arm], name)
        if key not in self._counted:
            self._counted[key] = Pairs(self._words(arm, name, self._own), len(self._places))
        return self._counted[key]

    def _words(self, arm: str, name: Text, documents: Ints) -> list[Ints]:
        """The words of some documents after a change, as numbers."""
        own = self._paper.arms[arm]
        key = self._texts.key(own, name)
        if key not in self._numbers:
            self._numbers[key] = list(map(self._vocabulary.numbers, self._texts.text(own, name)))
        return [self._numbers[key][at] for at in documents]

    def expected(self, cells: Sequence[Cell]) -> list[str]:
        """Say what a pilot expects of the run: which effects it will show."""
        arms, seeds, said = self._paper.arms, len(self._paper.seeds), list[str]()
        for name in dict.fromkeys(cell.arm for cell in cells):
            title = arms[name].title or name
            one = self._series(cells, name)
            if any(cell.draw for cell in cells if cell.arm == name):
                other = self._series(cells, name, 1)
                least = power.smallest(seeds)
                errors = {key: power.error(one[key] - other[key]) for key in one}
                sizes = ", ".join(f"{key} {least * each:.3f}" for key, each in errors.items())
                said.append(f"beside {title}, effects from here on will show: {sizes}")
            if not arms[name].drawn and name != self._paper.control(name):
                base = self._series(cells, self._paper.control(name))
                differences = {key: one[key] - base[key] for key in one}
                chances = ", ".join(
                    f"{key} {power.power(float(own.mean()), power.error(own), seeds):.2f}"
                    for key, own in differences.items()
                )
                said.append(f"{title} will show with power: {chances}")
        return said

    def _series(self, cells: Sequence[Cell], arm: str, draw: int = 0) -> dict[str, Floats]:
        """An arm's figures over seeds; what is kept is a part of what the baseline keeps."""
        own = [cell for cell in cells if cell.arm == arm and cell.draw == draw]
        base = [cell for cell in cells if cell.arm == self._paper.baseline and not cell.draw]
        found = {name: np.array([cell.figures[name] for cell in own]) for name in FIGURES}
        return {**found, "kept": found["kept"] / np.array([cell.figures["kept"] for cell in base])}

    def compared(self, cells: Sequence[Cell]) -> tuple[dict[str, dict[str, Any]], tuple[str, ...]]:
        """Compare each arm with its control; and what may not be concluded."""
        arms = self._paper.arms
        every = {name: self._series(cells, name) for name in arms}
        table: dict[str, dict[str, Any]] = {}
        for key, title in FIGURES.items():
            table[key] = {
                "wanted": "0",
                "n": len(self._texts.ids),
                "title": title,
                "source": "vectors of the corpus",
                "limits": LIMITS[0],
                "estimates": {name: _estimate(own[key]) for name, own in every.items()},
                "differences": {
                    name: _estimate(own[key] - every[self._paper.control(name)][key])
                    for name, own in every.items()
                    if self._paper.control(name) != name
                },
            }
        floors = [cell.figures["floor"] for cell in cells if "floor" in cell.figures]
        floor = [f"97.5 % of random words have a WEAT d below {np.mean(floors):.2f}."]
        return table, (*LIMITS, *(floor if floors else ()))


def _estimate(values: Floats) -> Estimate:
    """An effect over halves of a corpus."""
    return Estimate(*power.effect(values), tuple(values.round(5).tolist()))


def _split(text: str) -> list[str]:
    """The words of a text as they are counted."""
    return split_runs(text.lower())
