"""Counts neutral words in sentences that name one group of an attribute, and no other.

A neutral word has at least three letters, names no group of the attribute (`bias_score.words`), and
is no word of a closed class of English. Sums add up over documents, which are the clusters of the
interval: several sentences of one document are not independent.
"""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.finder import BETWEEN
from evenflow.transforms.labels.searched import Searched
from evenflow.transforms.measures.bias_score.words import given_names, named
from evenflow.transforms.measures.measure import Columns, Counter
from evenflow.transforms.measures.shift.strata import numbers_of
from evenflow.transforms.text import english
from evenflow.transforms.text.words import split_runs
from evenflow.wordlists.loader import WordList

Ints = npt.NDArray[np.int64]

NAME = "associations"  # among the counters and what they counted
SHORTEST, LONGEST = 3, 40  # letters of a word
VOCABULARY = 50_000  # words of an attribute that are kept; twice as many are in memory at most
SENTENCES = ""  # the row of all sentences of one group, which no word has


class AssociationCounter(Counter):
    """Counts the words of sentences that name one group.

    It gives by attribute and word a row of whole numbers: documents; sentences by group (M,); and
    the sums over documents of their products, the upper triangle of (M, M). Under SENTENCES is the
    row of all sentences.
    """

    needs_sentences = True

    def __init__(self, lists: Sequence[WordList]):
        self._lists = [(each.attribute, len(each.groups), not_neutral(each)) for each in lists]

    def count(
        self, found: Documents, piece: Searched, columns: Columns | None = None
    ) -> dict[str, Any]:
        """Count documents that were searched together, see `Counter.count`."""
        text, starts = BETWEEN.join(piece.texts), piece.starts
        edges, owners = [*starts.tolist(), len(text)], piece.owners(starts).tolist()
        out: dict[str, Any] = {}
        for (attribute, size, left_out), mentions in zip(self._lists, piece.every, strict=True):
            own = np.maximum(np.searchsorted(starts, mentions.starts, "right") - 1, 0)
            flat = np.bincount(own * size + mentions.groups, minlength=len(starts) * size)
            by_group = flat.reshape(-1, size) > 0
            chosen = np.flatnonzero(by_group.sum(axis=1) == 1)
            pairs: Counts[tuple[int, str, int]] = Counts()
            groups = by_group[chosen].argmax(axis=1).tolist()
            for number, group in zip(chosen.tolist(), groups, strict=True):
                words = neutral_words(text[edges[number] : edges[number + 1]]) - left_out
                pairs.update((owners[number], word, group) for word in (SENTENCES, *words))
            out[attribute] = rows(pairs, size)
        return out


def not_neutral(words: WordList) -> frozenset[str]:
    """The words that are not counted for an attribute: of its labels, names, closed classes."""
    parts = {part for label in named(words) for part in split_runs(label)}
    plural = {f"{part}s" for part in parts}  # also “shes”, as people write in forums
    return frozenset(parts | plural | given_names(words) | english.CLOSED.keys())


def neutral_words(text: str) -> set[str]:
    """The words of a text that may be neutral, in lower case."""
    return {
        word
        for word in split_runs(text.lower())
        if SHORTEST <= len(word) <= LONGEST and word.isalpha()
    }


def rows(pairs: Mapping[tuple[int, str, int], int], size: int) -> dict[str, Ints]:
    """The rows of words, from the sentences of each document, word and group."""
    places: dict[tuple[int, str], int] = {}
    keys = [(places.setdefault((owner, word), len(places)), group) for owner, word, group in pairs]
    sentences = np.zeros((len(places), size), np.int64)
    rows, groups = np.array(keys, np.int64).reshape(-1, 2).T
    sentences[rows, groups] = list(pairs.values())
    added = numbers_of(sentences)[:, :-size]  # without the groups that lead
    numbers: dict[str, int] = {}
    own = [numbers.setdefault(word, len(numbers)) for _, word in places]
    sums = np.zeros((len(numbers), added.shape[1]), np.int64)
    np.add.at(sums, own, added)
    return dict(zip(numbers, sums, strict=True))


class WordSums:
    """Sums of an attribute's words in bounded memory (lossy counting; Manku and Motwani 2002).

    Attributes:
        rows: By word its row (see `AssociationCounter`).
        missed: The most documents of a word that may not be counted, because the word was among
            the rarest when there were too many.
    """

    def __init__(self) -> None:
        self.rows: dict[str, Ints] = {}
        self.missed = 0

    def add(self, rows: Mapping[str, Ints], most: int = VOCABULARY) -> None:
        """Add the rows of further documents."""
        for word, row in rows.items():
            known = self.rows.get(word)
            self.rows[word] = row.copy() if known is None else known + row
        if len(self.rows) > 2 * most:
            order = sorted(self.rows, key=lambda word: (-self.rows[word][0], word))
            self.missed += int(self.rows[order[most]][0])
            self.rows = {word: self.rows[word] for word in order[:most]}
