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

from evenflow.transforms.bias_score import importance
from evenflow.transforms.bias_score.direction import Direction
from evenflow.transforms.bias_score.vectors import Vectors
from evenflow.transforms.text.words import blanked, split_runs

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
WordSums = dict[str, dict[str, dict[str, int]]]

UNIT = 1 << 20  # cosines are whole numbers of 1 / UNIT
TRACKED = 4096  # words whose part in the scores is added up
FINE = 1e-6  # unit of these sums
UNKNOWN = 0  # the row of words without a vector that are not in L either


@dataclass(frozen=True)
class WordPart:
    """What a word adds to the score of its sentence.

    Attributes:
        word: The word.
        importance: Its share of the sentence, I_w.
        leanings: max(cos(w, g_m), 0) of the M groups; zeros for a word in L; None if it has no
            vector.
        named: Whether it is in L.
    """

    word: str
    importance: float
    leanings: tuple[float, ...] | None
    named: bool


@dataclass(frozen=True)
class Scores:
    """The scores of n sentences.

    Attributes:
        groups: Score of each of M groups, (n, M).
        absolute: Absolute score, (n,).
        known: Whether any word of the sentence has a vector or is in L, (n,). Where none has, the
            sentence has no score, and 0 stands in the other fields.
    """

    groups: Floats
    absolute: Floats
    known: npt.NDArray[np.bool_]


class Read(NamedTuple):
    """The words of n sentences.

    Attributes:
        rows: The row of each word.
        ends: Where the words of each sentence begin, and where the last ones end, (n + 1,).
    """

    rows: Ints
    ends: Ints


class BiasScorer:
    """Scores sentences.

    Args:
        vectors: Word vectors with V words.
        direction: The direction of M groups in them.
        named: Words that name a group (L), in lower case; they lean to nothing.
        names: Given names, in lower case: as `named` where they begin with a capital.
        weights: By word in lower case its weight, and the weight of other words (see
            `importance`); None: the shipped ones.

    Attributes:
        groups: The groups' names.

    Raises:
        VectorsError: A vector has a number that is not finite.
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
        own, other = weights or importance.shipped_weights()
        in_list, are_names = frozenset(named), frozenset(names)
        parts = [(_pulls(each, direction), each.any(axis=1)) for each in vectors.blocks()]
        pulls = np.concatenate([each for each, _ in parts])
        sized = np.concatenate([each for _, each in parts]).tolist()
        # A vector of zeros is none
        rows = {word: at + 1 for word, at in vectors.words.items() if sized[at]}
        more = sorted(in_list | {name.capitalize() for name in are_names})
        new = [word for word in more if word not in rows]
        rows |= {word: at for at, word in enumerate(new, len(pulls) + 1)}
        self._row = _Rows(rows).__getitem__
        self._named = np.zeros(len(pulls) + len(new) + 1, bool)
        self._weights = np.full(len(self._named), other)
        for word, row in rows.items():
            lower = word.lower()
            self._weights[row] = own.get(lower, other)
            self._named[row] = lower in in_list or (lower in are_names and word[0].isupper())
        self._leanings = np.zeros((len(self._named), pulls.shape[1]), np.int64)
        self._leanings[1 : len(pulls) + 1] = pulls
        self._leanings[self._named] = 0
        # Of a word with weight log2(1 / share of the sentences)
        frequency = np.exp2(-self._weights / importance.UNIT)
        expected = self._leanings[:, -1] * self._weights * frequency
        chosen = np.argsort(-expected, kind="stable")[:TRACKED]
        self._tracked = np.full(len(self._named), -1)
        self._tracked[chosen] = np.arange(len(chosen))
        word_of = {row: word.lower() for word, row in rows.items() if self._tracked[row] >= 0}
        sides = np.argmax(self._leanings[chosen, :-1], axis=1).tolist()
        self._names = [
            (self.groups[side], word_of.get(row, ""))
            for row, side in zip(chosen.tolist(), sides, strict=True)
        ]
        known = np.arange(len(self._named)) != UNKNOWN
        # What a score adds up: weighted leanings, weights, known words
        self._summed = np.column_stack(
            [self._leanings * self._weights[:, None], self._weights, known]
        )

    def score(self, text: str, starts: Sequence[int]) -> Scores:
        """Score the sentences of a text.

        Args:
            text: The text.
            starts: Where its n sentences begin, ascending; the last one ends with the text.

        Returns:
            Their scores.
        """
        return self.of(self.totals(self.read(text, starts)))

    def read(self, text: str, starts: Sequence[int]) -> Read:
        """Look up the words of a text's n sentences; `starts` is as for `score`."""
        row, whole = self._row, blanked(text)
        rows: list[int] = []
        ends = [0]
        for start, end in pairwise([*starts, len(text)]):
            rows += map(row, whole[start:end].split())
            ends.append(len(rows))
        return Read(np.array(rows, np.int64), np.array(ends, np.int64))

    def totals(self, read: Read) -> Ints:
        """Add up what scores are computed from.

        Args:
            read: The words of n sentences.

        Returns:
            Sums over the words of each sentence, (n, M + 3). Those of several sentences add up.
        """
        running = np.zeros((len(read.rows) + 1, self._summed.shape[1]), np.int64)
        np.cumsum(self._summed[read.rows], axis=0, out=running[1:])
        return np.diff(running[read.ends], axis=0)

    def words(self, read: Read, totals: Ints) -> WordSums:
        """Add up what single words add to the absolute scores of sentences.

        Only TRACKED words count: those that are expected to add most, by their frequency in the
        texts that ship (see `importance`). So sums are bounded, and the same however they are cut.

        Args:
            read: The words of n sentences.
            totals: What `totals` gives for them, (n, M + 3).

        Returns:
            By group that the word leans to and by word in lower case: n (how often it stands there)
            and a (what it adds, in FINE).
        """
        at = np.flatnonzero(self._tracked[read.rows] >= 0)
        own = read.rows[at]
        whole = totals[np.searchsorted(read.ends, at, "right") - 1, -2]
        added = self._leanings[own, -1] / UNIT * self._weights[own] / whole
        places, size = self._tracked[own], len(self._names)
        counts = np.bincount(places, minlength=size)
        sums = np.bincount(places, np.rint(added / FINE), minlength=size)
        out: WordSums = {}
        for place in np.flatnonzero(sums).tolist():
            group, word = self._names[place]
            each = out.setdefault(group, {}).setdefault(word, {"n": 0, "a": 0})
            each["n"] += int(counts[place])
            each["a"] += int(sums[place])
        return out

    def of(self, sums: Ints) -> Scores:
        """The scores of n stretches of text from their totals (n, M + 3)."""
        scores = sums[:, :-2] / np.maximum(sums[:, -2:-1] * UNIT, 1)
        return Scores(scores[:, :-1], scores[:, -1], sums[:, -1] > 0)

    def parts(self, sentence: str, shares: Sequence[float] | None = None) -> list[WordPart]:
        """Take a score apart, word by word (as in the paper's Table 2).

        Args:
            sentence: A sentence.
            shares: The importance of its n words by an encoder, (n,); None: by rarity, as `score`.

        Returns:
            Its n words in order. A group's score is the sum of importance times leaning.
        """
        words = split_runs(sentence)
        rows = np.array([self._row(word) for word in words], np.int64)
        given = self._weights[rows] if shares is None else np.array(shares)
        return [
            WordPart(
                word,
                float(share),
                None if row == UNKNOWN else tuple((self._leanings[row, :-1] / UNIT).tolist()),
                bool(self._named[row]),
            )
            for word, row, share in zip(words, rows, given / max(given.sum(), 1e-12), strict=True)
        ]


class _Rows(dict[str, int]):
    """Rows of words. A word that is not there has the row of its lower case, or UNKNOWN."""

    def __missing__(self, word: str) -> int:
        return self.get(word.lower(), UNKNOWN)


def _pulls(rows: Floats, direction: Direction) -> Ints:
    """What n unit vectors (n, D) lean to: M groups and the subspace, (n, M + 1), in 1 / UNIT."""
    towards = np.maximum(rows @ direction.axes.T, 0)
    whole = np.sqrt(((rows @ direction.basis.T) ** 2).sum(axis=1, keepdims=True))
    return np.rint(np.concatenate([towards, whole], axis=1) * UNIT).astype(np.int64)
