"""The documents of an experiment: as they came, and as each change leaves them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.lab.train.arms import OPEN
from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.pipelines.lab.train.rows import select
from evenflow.schemas.config import load
from evenflow.schemas.documents import WEIGHT, leaning
from evenflow.transforms.lab.masking.interventions import COUNTERFACTUAL, Intervention
from evenflow.transforms.lab.masking.sentences import SentenceFinder
from evenflow.transforms.measures.bias_score.words import given_names, named
from evenflow.transforms.substitution.base_cda import draw
from evenflow.transforms.text.words import split_runs
from evenflow.wordlists.loader import WordList

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ATTRIBUTE = "gender"
ID, TEXT, SCORE = "id", "text", leaning(ATTRIBUTE).name  # columns of a gate's output
GATES: dict[str, dict[str, Any]] = {
    "weighed": {"repair": {"mode": "weight"}, "bias_score": {"mode": "measure"}},
    # The encoder would read for an hour what is exchanged in a minute
    "gc": {"repair": {"mode": "substitute", "method": "gc", "judge": "fast"}},
    "base": {"repair": {"mode": "substitute", "method": "base"}},
}
VOCABULARY = 5_000  # words that get a vector: the most frequent ones
FREQUENT = 50  # times that a word occurs whose leaning is measured


@dataclass(frozen=True)
class Texts:
    """N documents of an attribute of two groups.

    `weights`: The weights that the gate gives, (N,). `scores`: Their bias scores, (N,); 0 without a
    score.
    """

    variants: dict[str, list[str]]
    weights: Floats
    scores: Floats

    @cached_property
    def counts(self) -> Counter[str]:
        """How often the words of the original occur."""
        return Counter(word for text in self.variants["original"] for word in _words(text))

    @cached_property
    def places(self) -> dict[str, int]:
        """The V words that get a vector, with their numbers."""
        frequent = (word for word, _ in self.counts.most_common(VOCABULARY))
        return {word: number for number, word in enumerate(frequent)}

    @cached_property
    def numbers(self) -> dict[str, list[Ints]]:
        """The words of the documents as numbers, by change."""
        places = self.places
        return {
            name: [
                np.array([places[w] for w in _words(text) if w in places], np.int64)
                for text in texts
            ]
            for name, texts in self.variants.items()
        }

    @cached_property
    def signs(self) -> Floats:
        """1 for a frequent label of the second group, -1 for one of the first, else 0, (V,)."""
        found = np.zeros(len(self.places))
        for word, group in word_list().labels.items():
            if self.counts[word] >= FREQUENT and word in self.places:
                found[self.places[word]] = (-1, 1)[group]
        return found

    @cached_property
    def neutral(self) -> Ints:
        """The numbers of frequent words that name no group and no person."""
        words = word_list()
        naming = named(words) | given_names(words)
        chosen = [
            number
            for word, number in self.places.items()
            if word not in naming and self.counts[word] >= FREQUENT
        ]
        return np.array(chosen, np.int64)

    @property
    def digest(self) -> str:
        """A SHA-256 of all that the vectors depend on."""
        own = (self.variants, self.weights.tolist(), self.scores.tolist())
        return hashlib.sha256(repr(own).encode("utf-8", "surrogatepass")).hexdigest()


def read(inputs: Sequence[str], folder: Path) -> Texts:
    """Run the gates on the input, or find what they made, and make the other changes."""
    weighed, *changed = (_gated(list(inputs), folder / name, name) for name in GATES)
    gc, base = (dict(zip(each[ID], each[TEXT], strict=True)) for each in changed)
    original = weighed[TEXT]
    words = word_list()
    finder, change = SentenceFinder(words), Intervention(COUNTERFACTUAL, words)
    every, half = zip(*(_exchanged(text, finder, change) for text in original), strict=True)
    texts = Texts(
        {
            "original": original,
            "exchanged": list(every),
            "half": list(half),
            "relevant": [" ".join(each.text for each in finder.find(text)) for text in original],
            "gc": [gc[identity] for identity in weighed[ID]],
            "base": [base[identity] for identity in weighed[ID]],
        },
        np.array(weighed[WEIGHT.name]),
        np.array([score or 0.0 for score in weighed[SCORE]]),
    )
    if {-1.0, 1.0} - set(texts.signs.tolist()) or not len(texts.neutral):
        raise TrainInputError(
            f"{', '.join(inputs)}: too little text; a label of each group and other words that"
            f" occur {FREQUENT} times were expected"
        )
    return texts


@cache
def word_list() -> WordList:
    """The word list of the attribute."""
    return load(None, None, [ATTRIBUTE]).word_list(ATTRIBUTE)


def _gated(inputs: list[str], output: Path, name: str) -> dict[str, list[Any]]:
    """The columns of a gate's output that are used. Raises as `read`."""
    Run(inputs, output, load(None, {**GATES[name], **OPEN}, [ATTRIBUTE])).go()
    shards = [output / folder / each.name for folder, each in select(output).shards]
    tables = [pq.read_table(path) for path in shards]
    columns = [ID, TEXT, *([WEIGHT.name, SCORE] if name == "weighed" else [])]
    return pa.concat_tables(tables).select(columns).to_pydict()


def _exchanged(text: str, finder: SentenceFinder, change: Intervention) -> tuple[str, str]:
    """A text in which every sentence that names a group, and half of them, name the other one."""
    every: list[str] = []
    half: list[str] = []
    at = 0
    for each in finder.find(text):
        before, changed = text[at : each.start], change(each).text
        every += [before, changed]
        half += [before, each.text if draw(each.text, each.start, 2) else changed]
        at = each.start + len(each.text)
    return "".join([*every, text[at:]]), "".join([*half, text[at:]])


def _words(text: str) -> list[str]:
    """The words of a text as they are counted."""
    return split_runs(text.lower())
