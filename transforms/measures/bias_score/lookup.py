"""The bias score with one vector a word: its leanings are looked up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from evenflow.transforms.measures.bias_score import importance
from evenflow.transforms.measures.bias_score.direction import Direction
from evenflow.transforms.measures.bias_score.score import NAMED, OTHER, BiasScorer, Read, pulls
from evenflow.transforms.measures.bias_score.vectors import Vectors
from evenflow.transforms.text.words import blanked

TRACKED = 4096  # words whose part in the scores is added up
UNKNOWN = 0  # the row of words without a vector that are not in L either


class LookupScorer(BiasScorer):
    """Scores sentences with static vectors.

    The part in the scores is added up of TRACKED words: those that are expected to add most, by
    their frequency in the texts that ship (see `importance`).

    `weights`: By word in lower case its weight, and the weight of other words (see `importance`);
    None: the shipped ones.
    """

    def __init__(
        self,
        vectors: Vectors,
        direction: Direction,
        named: Iterable[str] = (),
        names: Iterable[str] = (),
        weights: tuple[Mapping[str, int], int] | None = None,
    ):
        super().__init__(direction, named, names)
        own, other = weights or importance.shipped_weights()
        parts = [(pulls(each, direction), each.any(axis=1)) for each in vectors.blocks()]
        found = np.concatenate([each for each, _ in parts])
        sized = np.concatenate([each for _, each in parts]).tolist()
        # A vector of zeros is none
        rows = {word: at + 1 for word, at in vectors.words.items() if sized[at]}
        more = sorted(self._in_list | {name.capitalize() for name in self._given})
        new = [word for word in more if word not in rows]
        rows |= {word: at for at, word in enumerate(new, len(found) + 1)}
        self._row = _Rows(rows).__getitem__
        is_named = np.zeros(len(found) + len(new) + 1, bool)
        weight = np.full(len(is_named), other)
        for word, row in rows.items():
            weight[row] = own.get(word.lower(), other)
            is_named[row] = self.names_group(word)
        leanings = np.zeros((len(is_named), found.shape[1]), np.int64)
        leanings[1 : len(found) + 1] = found
        leanings[is_named] = 0
        # Of a word with weight log2(1 / share of the sentences)
        frequency = np.exp2(-weight / importance.UNIT)
        expected = leanings[:, -1] * weight * frequency
        chosen = np.argsort(-expected, kind="stable")[:TRACKED]
        self._places = np.full(len(is_named), OTHER)
        self._places[chosen] = np.arange(len(chosen))
        word_of = {row: word.lower() for word, row in rows.items() if self._places[row] >= 0}
        sides = np.argmax(leanings[chosen, :-1], axis=1).tolist()
        self._tracked = [
            (self.groups[side], word_of.get(row, ""))
            for row, side in zip(chosen.tolist(), sides, strict=True)
        ]
        known = np.arange(len(is_named)) != UNKNOWN
        self._places[is_named] = NAMED
        self._values = np.column_stack([leanings * weight[:, None], weight, known])

    def read(self, text: str, starts: Sequence[int]) -> Read:
        """Look up the words of a text's n sentences; `starts` is as for `score`."""
        row, whole = self._row, blanked(text)
        rows: list[int] = []
        ends = [0]
        for start, end in pairwise([*starts, len(text)]):
            rows += map(row, whole[start:end].split())
            ends.append(len(rows))
        own = np.array(rows, np.int64)
        return Read(self._values[own], self._places[own], np.array(ends, np.int64))


class _Rows(dict[str, int]):
    """Rows of words. A word that is not there has the row of its lower case, or UNKNOWN."""

    def __missing__(self, word: str) -> int:
        return self.get(word.lower(), UNKNOWN)
