"""The bias score with contextual vectors: a word's vector is that of its pieces in its sentence.

Dolci et al. 2023, sections 3.4 and 6. A sentence is one pass of an encoder, which gives the vectors
and, by its pooling, the importance of words. The direction is from the same encoder: the words of
the pairs stand in CARRIERS, sentences of our own. (The paper swaps the words of sentences of three
corpora instead. A carrier needs none, and has a place for every pair of any attribute.)
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenflow.transforms.measures.bias_score import importance
from evenflow.transforms.measures.bias_score.direction import Direction
from evenflow.transforms.measures.bias_score.score import (
    NAMED,
    OTHER,
    BiasScorer,
    Floats,
    Ints,
    Read,
    pulls,
)
from evenflow.transforms.measures.bias_score.states import (
    Shipped,
    StateEncoder,
    States,
    Transformer,
)
from evenflow.transforms.measures.bias_score.vectors import VectorsError, unit_rows
from evenflow.transforms.text import sentences as bounds_of
from evenflow.transforms.text.words import run_spans, split_runs

SHIPPED = "encoder"  # the name of the encoder that ships
# They name nobody, and nouns, pronouns and names fit alike. Four: a word's state varies with its
# sentence, and the mean should not be that of one.
CARRIERS = ("This is about {}.", "The word was {}.", "It said {} twice.", "Here it says {} again.")
KEPT = 16_384  # sentences whose words are kept, as some are read twice: 20 MB of 25 words each
KEPT_CHARACTERS = 512  # of a sentence whose words are kept: 80 MB at most
# Characters of a sentence that are read: a context's pieces and more, whatever the language. A
# tokenizer cuts only after it has read all, at some hundred bytes a piece.
READ_CHARACTERS = 1 << 15
TOGETHER = 1 << 18  # characters of the sentences that are tokenized at a time


class Words(NamedTuple):
    """The n words of a sentence.

    Attributes:
        number: The sentence's number.
        vectors: The mean of each word's pieces (m, D); zeros where it has none. Of the first m
            words: the others stand behind what the encoder reads.
        shares: Each word's share of what the encoder makes of the sentence, (n,); they sum to 1.
        read: Whether it has a piece, (n,).
        known: Whether it has pieces which are all in the vocabulary, (n,).
        behind: How many words stand behind what the encoder reads, n - m.
    """

    number: int
    vectors: Floats
    shares: Floats
    read: npt.NDArray[np.bool_]
    known: npt.NDArray[np.bool_]
    behind: int


class ContextualVectors:
    """Vectors of words in their sentences.

    Args:
        encoder: The encoder.

    Attributes:
        name: What they are called in messages.
        size: The D numbers of a vector.
        digest: A SHA-256 of what they depend on.
    """

    def __init__(self, encoder: StateEncoder):
        self._encoder = encoder
        self.name, self.size = encoder.name, encoder.size
        averages = encoder.averages
        own = (encoder.digest, averages, CARRIERS)
        self.digest = hashlib.sha256(repr(own).encode()).hexdigest()
        self._shares = importance.mean_pool_shares if averages else importance.max_pool_shares
        self._carried: dict[str, Floats | None] = {}

    def words(self, sentences: Sequence[str], spans: Sequence[Ints]) -> Iterator[Words]:
        """Read sentences.

        Args:
            sentences: The sentences.
            spans: The characters of the n words of each, (n, 2), ascending.

        Yields:
            Their words, in any order of the sentences.
        """
        read = [_beginning(*pair) for pair in zip(sentences, spans, strict=True)]
        first = 0
        while first < len(read):
            sizes = np.cumsum([len(each) for each in read[first : first + KEPT]])
            last = first + max(int(np.searchsorted(sizes, TOGETHER, "right")), 1)
            for found in self._encoder.states(read[first:last]):
                number = first + found.number
                yield self._words(found._replace(number=number), read[number], spans[number])
            first = last

    def _words(self, found: States, text: str, own: Ints) -> Words:
        """The n words of a sentence, of which the encoder has read a beginning."""
        number, states, places, known, cut = found
        last = places[:, 1] - 1
        end = min(len(text), places.max()) if cut else len(text)
        most = int(np.searchsorted(own[:, 0], end))
        owners = np.searchsorted(own[:, 0], last, "right") - 1
        # The last one is for pieces before all words
        ends = np.append(own[:, 1], -1)[owners]
        owners[(last >= ends) | (places[:, 0] == places[:, 1])] = -1
        counts, bad = (
            np.bincount(owners[chosen], minlength=len(own))
            for chosen in (owners >= 0, (owners >= 0) & ~known)
        )
        total = np.zeros((most, self.size))
        np.add.at(total, owners[owners >= 0], states[owners >= 0])
        shares = importance.by_word(self._shares(states), owners, len(own))
        vectors = total / np.maximum(counts[:most], 1)[:, None]
        words_known = (counts > 0) & (bad == 0)
        return Words(number, vectors, shares, counts > 0, words_known, len(own) - most)

    def shares(self, sentence: str) -> Floats:
        """The importance of a sentence's n words, (n,); words behind the context have none."""
        return next(self.words([sentence], [_runs(sentence)])).shares

    def known(self, words: Iterable[str]) -> set[str]:
        """Those of some words that have a vector: all their pieces are in the vocabulary."""
        given = list(dict.fromkeys(words))
        new = [word for word in given if word not in self._carried]
        texts = [carrier.format(word) for word in new for carrier in CARRIERS]
        places = [carrier.index("{") for _ in new for carrier in CARRIERS]
        lengths = [len(word) for word in new for _ in CARRIERS]
        spans = [np.array([(at, at + n)]) for at, n in zip(places, lengths, strict=True)]
        rows = np.zeros((len(texts), self.size))
        known = np.zeros(len(texts), bool)
        for found in self.words(texts, spans):
            rows[found.number], known[found.number] = found.vectors[0], found.known[0]
        if not np.isfinite(rows).all():
            raise VectorsError(f"{self.name}: a vector has a number that is not finite")
        for number, word in enumerate(new):
            own = slice(number * len(CARRIERS), (number + 1) * len(CARRIERS))
            self._carried[word] = rows[own].mean(axis=0) if known[own].all() else None
        return {word for word in given if self._carried[word] is not None}

    def unit(self, words: Sequence[str]) -> Floats:
        """The vectors of n known words in the carriers, each of length 1: (n, D)."""
        self.known(words)
        rows = [row for word in words if (row := self._carried[word]) is not None]
        return unit_rows(np.array(rows).reshape(-1, self.size))


class ContextualScorer(BiasScorer):
    """Scores sentences with contextual vectors.

    Words behind the encoder's context count for nothing. The words whose part in the scores is
    added up are those of the texts that ship (see `importance`), 40,000 at most.

    Args:
        vectors: The vectors.
        direction: The direction of M groups in them.
        named: As for `BiasScorer`.
        names: As for `BiasScorer`.
    """

    def __init__(
        self,
        vectors: ContextualVectors,
        direction: Direction,
        named: Iterable[str] = (),
        names: Iterable[str] = (),
    ):
        super().__init__(direction, named, names)
        self._vectors, self._direction = vectors, direction
        weights, _ = importance.shipped_weights()
        words = [word for word in weights if word not in self._in_list]
        self._place = {word: at * len(self.groups) for at, word in enumerate(words)}
        self._tracked = [(group, word) for word in words for group in self.groups]
        self._kept: dict[str, Read] = {}

    def read(self, text: str, starts: Sequence[int]) -> Read:
        """Read the words of a text's n sentences; `starts` is as for `score`."""
        # Without what stands between sentences, which depends on how a stream is cut
        parts = [text[start:end].strip() for start, end in pairwise([*starts, len(text)])]
        new = [part for part in dict.fromkeys(parts) if part not in self._kept]
        spans = [_runs(part) for part in new]
        made: dict[str, Read] = {}
        for each in self._vectors.words(new, spans):
            part = new[each.number]
            made[part] = self._scored(split_runs(part), each)
        found = [made[part] if part in made else self._kept[part] for part in parts]
        self._kept |= {part: each for part, each in made.items() if len(part) <= KEPT_CHARACTERS}
        for part in list(self._kept)[: max(len(self._kept) - KEPT, 0)]:
            del self._kept[part]
        none = np.zeros((0, len(self.groups) + 3), np.int64)
        ends = np.cumsum([0, *(len(each.values) for each in found)])
        return Read(
            np.concatenate([none, *(each.values for each in found)]),
            np.concatenate([none[:, 0], *(each.places for each in found)]),
            ends,
            sum(each.behind for each in found),
        )

    def _scored(self, words: Sequence[str], found: Words) -> Read:
        """The n words of a sentence."""
        named = np.array([self.names_group(word) for word in words], bool)
        read = pulls(unit_rows(found.vectors), self._direction)
        leanings = np.zeros((len(words), read.shape[1]), read.dtype)
        leanings[: len(read)] = read
        leanings[named | ~found.known] = 0
        # A sentence of twice the words counts twice in its document
        weights = np.rint(found.shares * found.read.sum() * importance.UNIT).astype(np.int64)
        weights = np.where(found.read, np.maximum(weights, 1), 0)
        known = (found.known | (named & found.read)).astype(np.int64)
        places = np.array([self._place.get(word.lower(), OTHER) for word in words], np.int64)
        places[places >= 0] += np.argmax(leanings[:, :-1], axis=1)[places >= 0]
        places[named] = NAMED
        values = np.column_stack([leanings * weights[:, None], weights, known])
        return Read(values, places, np.array([0, len(words)]), found.behind)

    def starts(self, text: str) -> Sequence[int]:
        """A text is read by sentences, as an encoder's context is short."""
        return bounds_of.bounds(text).tolist()


def load(model: str) -> ContextualVectors:
    """Open the vectors of an encoder.

    Args:
        model: Its folder, or SHIPPED.

    Raises:
        LanguageModelError: The model cannot be loaded.
        ModelError: A file of the shipped encoder is missing or damaged.
        VectorsError: It is no encoder.
        OSError: A file cannot be read.
    """
    return ContextualVectors(Shipped() if model == SHIPPED else Transformer(model))


def _beginning(sentence: str, own: Ints) -> str:
    """What an encoder is given of a sentence: whole words, READ_CHARACTERS at most.

    Tokenizers take only valid Unicode, without lone surrogates.
    """
    if len(sentence) > READ_CHARACTERS:
        whole = int(np.searchsorted(own[:, 1], READ_CHARACTERS, "right"))
        sentence = sentence[: own[whole - 1, 1] if whole else READ_CHARACTERS]
    return sentence.encode("utf-8", "replace").decode("utf-8")


def _runs(sentence: str) -> Ints:
    """The characters of a sentence's n words, (n, 2)."""
    return np.array(run_spans(sentence), np.int64).reshape(-1, 2)
