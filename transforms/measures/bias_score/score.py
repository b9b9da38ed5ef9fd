"""The bias score of sentences (Dolci et al. 2023, equations 1 to 3).

    BiasScore_m(s) = sum over the words w of s that are not in L of max(cos(w, g_m), 0) · I_w

g_m is the axis of group m, I_w the word's importance (shares that sum to 1 over all words of the
sentence), L the words that name a group. Of two groups the axes are opposite, so that the first
group's score is the paper's BiasScore_F, the second's is BiasScore_M without its sign, and their
sum is Abs-BiasScore. Of more groups the absolute score takes the length of a word's projection on
the subspace in place of |cos|.

All sums are of whole numbers, so a score depends on nothing but its sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenflow.transforms.measures.bias_score import importance
from evenflow.transforms.measures.bias_score.direction import Direction
from evenflow.transforms.measures.bias_score.vectors import Vectors
from evenflow.transforms.text.words import blanked, split_runs

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
WordSums = dict[str, dict[str, dict[str, int]]]

UNIT = 1 << 20  # cosines are whole numbers of 1 / UNIT
FINE = 1e-6  # unit of the sums of single words
OTHER, NAMED = -1, -2  # places of words that have none
TRACKED = 4096  # words whose part in the scores is added up
UNKNOWN = 0  # the row of words without a vector that are not in L either


@dataclass(frozen=True)
class WordPart:
    """What a word adds to the score of its sentence.

    `leanings`: max(cos(w, g_m), 0) of the M groups; zeros for a word in L; None if it has no
    vector.
    """

    word: str
    importance: float
    leanings: tuple[float, ...] | None
    named: bool
    absolute: float


@dataclass(frozen=True)
class Scores:
    """The scores of n sentences.

    `groups`: Score of each of M groups, (n, M). `absolute`: Absolute score, (n,). `known`: Whether
    any word of the sentence has a vector or is in L, (n,). Where none has, the sentence has no
    score, and 0 stands in the other fields.
    """

    groups: Floats
    absolute: Floats
    known: npt.NDArray[np.bool_]


class Read(NamedTuple):
    """The N words of n sentences.

    `values`: What a score adds up, (N, M + 3): the leanings to M groups and to the subspace, in 1 /
    UNIT, times the weight; the weight; 1 for a known word. `places`: Where the word is in the sums
    of single words, (N,); OTHER: it is not tracked; NAMED: it is in L.
    """

    values: Ints
    places: Ints
    ends: Ints


class BiasScorer:
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
        self.groups = direction.groups
        self._in_list, self._given = frozenset(named), frozenset(names)
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
        # By place the group that a tracked word leans to, and the word in lower case
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

    def names_group(self, word: str) -> bool:
        """Whether a word is in L."""
        lower = word.lower()
        return lower in self._in_list or (lower in self._given and word[0].isupper())

    def score(self, text: str, starts: Sequence[int]) -> Scores:
        """Score the sentences of a text."""
        return self.of(totals(self.read(text, starts)))

    def whole(self, text: str) -> Scores:
        """Score a text as a whole, (1,) scores: its words add up to the same however it is cut."""
        return self.score(text, [0])

    def words(self, read: Read, sums: Ints) -> WordSums:
        """Add up what single words add to the absolute scores of sentences.

        Only words count that the scorer tracks, whatever it reads. So sums are bounded, and the
        same however they are cut.

        `sums`: What `totals` gives for them, (n, M + 3).
        """
        at = np.flatnonzero(read.places >= 0)
        whole = np.maximum(sums[np.searchsorted(read.ends, at, "right") - 1, -2], 1)
        added = read.values[at, -3] / UNIT / whole
        places, size = read.places[at], len(self._tracked)
        counts = np.bincount(places, minlength=size)
        parts = np.bincount(places, np.rint(added / FINE), minlength=size)
        out: WordSums = {}
        for place in np.flatnonzero(parts).tolist():
            group, word = self._tracked[place]
            each = out.setdefault(group, {}).setdefault(word, {"n": 0, "a": 0})
            each["n"] += int(counts[place])
            each["a"] += int(parts[place])
        return out

    def of(self, sums: Ints) -> Scores:
        """The scores of n stretches of text from their totals (n, M + 3)."""
        scores = sums[:, :-2] / np.maximum(sums[:, -2:-1] * UNIT, 1)
        return Scores(scores[:, :-1], scores[:, -1], sums[:, -1] > 0)

    def parts(self, sentence: str) -> list[WordPart]:
        """Take a score apart, word by word (as in the paper's Table 2)."""
        read = self.read(sentence, [0])
        weights = read.values[:, -2]
        leanings = read.values[:, :-2] / np.maximum(weights[:, None] * UNIT, 1)
        shares = weights / max(weights.sum(), 1)
        return [
            WordPart(
                word,
                float(share),
                tuple(leaning[:-1].tolist()) if known else None,
                bool(place == NAMED),
                float(leaning[-1]),
            )
            for word, share, leaning, known, place in zip(
                split_runs(sentence), shares, leanings, read.values[:, -1], read.places, strict=True
            )
        ]


def totals(read: Read) -> Ints:
    """Add up what scores are computed from.

    Returns:
        Sums over the words of each sentence, (n, M + 3). Those of several sentences add up.
    """
    running = np.zeros((len(read.values) + 1, read.values.shape[1]), np.int64)
    np.cumsum(read.values, axis=0, out=running[1:])
    return np.diff(running[read.ends], axis=0)


def pulls(rows: Floats, direction: Direction) -> Ints:
    """What n unit vectors (n, D) lean to: M groups and the subspace, (n, M + 1), in 1 / UNIT."""
    towards = np.maximum(rows @ direction.axes.T, 0)
    whole = np.sqrt(((rows @ direction.basis.T) ** 2).sum(axis=1, keepdims=True))
    return np.rint(np.concatenate([towards, whole], axis=1) * UNIT).astype(np.int64)


class _Rows(dict[str, int]):
    """Rows of words. A word that is not there has the row of its lower case, or UNKNOWN."""

    def __missing__(self, word: str) -> int:
        return self.get(word.lower(), UNKNOWN)
