"""The first stage of counting people: the chance that a mention names a person of its group.

A linear head reads the static vectors of the words beside a mention (`static.word_vectors`). When
it is loaded, each word of the vocabulary becomes one whole number for each place, and each label
one number. So a mention's logit is a sum of look-ups in whole numbers: the same on every machine
and for every cut of a stream. Mentions are looked up together, as arrays.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.transforms.models import files, static

FORMAT, VERSION = "evenflow-people", 1
MANIFEST, TENSORS = "people.json", "people.npz"

TOKENS = 4  # words or marks that are read on each side of a mention
REACH = 40  # characters in which they are looked for
SIDES = 2 * TOKENS  # places whose words have vectors; the label's own words come behind them
ROWS = 8192  # mentions at once, so that their arrays fit in a core's cache
STEP = 256  # a unit of a logit is cut into so many
FURTHEST = 8  # logits beyond are not told apart
UNIT = 1000  # a chance is a whole number of thousandths
# What is read beside vectors: yes or no
SIGNS = (
    "capital within a sentence",
    "all capitals",
    "capital behind",
    "capital before",
    "hyphen behind",
    "hyphen before",
    "apostrophe behind",
    "nothing before",
    "nothing behind",
)
# What a mention's truth deviates from its chance by, in thousandths, by chance; a little more, so
# that what the first stage is sure of is read sometimes
DEVIATIONS = np.rint(
    np.sqrt(np.linspace(0, 1, UNIT + 1) * (1 - np.linspace(0, 1, UNIT + 1)) + 0.02) * UNIT
).astype(np.int64)
ANY = "any"  # the head of attributes without labelled documents

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Hashes = npt.NDArray[np.uint64]

# The characters of Latin-1; every other one is read as a question mark
_LETTERS = np.array([chr(code).isalnum() for code in range(256)])
_BLANK = np.array([chr(code).isspace() or code == 0 for code in range(256)])
_CAPITAL = np.array([chr(code).isupper() for code in range(256)])
_BEGINS = np.isin(np.arange(256), list(b'.!?":\n'))  # a sentence may begin behind these
_POWERS = np.array([pow(0x100000001B3, n, 1 << 64) for n in range(REACH)], np.uint64)


def to_bytes(text: str) -> Bytes:
    """Read a text as one byte a character.

    Args:
        text: The text; lone surrogates are allowed.

    Returns:
        Latin-1, with a question mark for each other character, (len(text),).
    """
    return np.frombuffer(text.encode("latin-1", "replace"), np.uint8)


class Vocabulary:
    """Finds words with a vector by their letters."""

    def __init__(self, words: Sequence[str]):
        self._tables = [_table(words), _table([word[::-1] for word in words])]
        self.size = len(words)

    def places(self, text: Bytes, starts: Ints, ends: Ints, lows: Ints, highs: Ints) -> Places:
        """Find the words beside n mentions.

        Args:
            starts: Where the mentions start, (n,).
            ends: Where they end, (n,).
            lows: Where the document of each begins, (n,): nothing before it is read.
            highs: Where it ends, (n,).

        Returns:
            The numbers of the words, (n, `SIDES`), nearest first, before and then behind, V for
            none; and the `SIGNS`, (n, 9).
        """
        words = np.empty((len(starts), SIDES), np.int64)
        signs = np.empty((len(starts), len(SIGNS)), bool)
        for first in range(0, len(starts), ROWS):
            part = slice(first, first + ROWS)
            own = starts[part], ends[part], lows[part], highs[part]
            words[part], signs[part] = self._places(text, *own)
        return words, signs

    def _places(self, text: Bytes, starts: Ints, ends: Ints, lows: Ints, highs: Ints) -> Places:
        """The places of at most `ROWS` mentions."""
        steps = np.arange(REACH)
        before, after = starts[:, None] - 1 - steps, ends[:, None] + steps
        left = np.where(before >= lows[:, None], text.take(before, mode="clip"), 0)
        right = np.where(after < highs[:, None], text.take(after, mode="clip"), 0)
        back = self._side(left, self._tables[1])
        ahead = self._side(right, self._tables[0])
        head = text[starts]
        second = np.where(ends - starts > 1, text.take(starts + 1, mode="clip"), 0)
        within = ~(_BEGINS[back.first] | (back.first == 0))
        signs = [
            _CAPITAL[head] & within,
            _CAPITAL[head] & _CAPITAL[second],
            _CAPITAL[ahead.first],
            _CAPITAL[back.last] & ~((back.last == ord("I")) & (back.length == 1)),
            ahead.first == ord("-"),
            back.first == ord("-"),
            ahead.first == ord("'"),
            back.first == 0,
            ahead.first == 0,
        ]
        return np.concatenate([back.words, ahead.words], 1), np.stack(signs, 1)

    def _side(self, seen: Bytes, table: tuple[Hashes, Ints]) -> _Side:
        """Read one side of mentions, outwards, (n, `REACH`)."""
        letter, blank = _LETTERS[seen], _BLANK[seen]
        begins = ~blank
        begins[:, 1:] &= ~(letter[:, 1:] & letter[:, :-1])
        number = np.cumsum(begins, axis=1, dtype=np.int8)
        columns = np.arange(REACH, dtype=np.int8)
        start = np.maximum.accumulate(np.where(begins, columns, np.int8(0)), axis=1)
        value = (seen.astype(np.uint64) + np.uint64(1)) * _POWERS[columns - start]
        value[blank] = 0
        hashes = np.stack(
            [np.where(number == each, value, 0).sum(1, dtype=np.uint64) for each in _ORDER], 1
        )
        known, numbers = table
        at = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
        words = np.where(known[at] == hashes, numbers[at], self.size)
        row = np.arange(len(seen))
        nearest = (number == 1) & ~blank
        at_first, length = nearest.argmax(1), nearest.sum(1)
        first = np.where(length > 0, seen[row, at_first], 0)
        last = np.where(length > 0, seen[row, at_first + np.maximum(length, 1) - 1], 0)
        return _Side(words, first, last, length)


_ORDER = tuple(range(1, TOKENS + 1))
Places = tuple[Ints, npt.NDArray[np.bool_]]


class _Side:
    """One side of n mentions: numbers of words, and of the nearest one its ends and length."""

    def __init__(self, words: Ints, first: Bytes, last: Bytes, length: Ints):
        self.words, self.first, self.last, self.length = words, first, last, length


class PeopleHead:
    """Gives the chance that a mention names a person, or people, of its group.

    Args:
        folder: A folder with a manifest and the files that it names.

    Raises:
        ModelError: A file is missing, damaged or of another model.
    """

    def __init__(self, folder: Path):
        path = folder / MANIFEST
        self.about = files.manifest(path, FORMAT, VERSION)
        words, vectors, _ = static.word_vectors()
        with files.usable(path):
            if self.about["vectors"] != digest_of(words, vectors):
                raise ValueError("it was fitted to other vectors")
            self.vocabulary = Vocabulary(words)
            self._at = {word: number for number, word in enumerate(words)}
            self._vectors = vectors
            with np.load(folder / TENSORS, allow_pickle=False) as read:
                self._heads = {name: read[name].astype(np.float64) for name in read.files}
            self._labels: dict[str, dict[str, float]] = self.about["labels"]
            self._sure: dict[str, dict[str, int]] = self.about["sure"]
            self._with_reader: dict[str, list[float]] = self.about["reader"]
            self._doubt: dict[str, float] = self.about["doubt"]
            self._tables = {name: self._folded(head) for name, head in self._heads.items()}
        logits = np.arange(-FURTHEST * STEP, FURTHEST * STEP + 1) / STEP
        self._chances = np.rint(UNIT / (1 + np.exp(-logits))).astype(np.int64)

    @classmethod
    @cache
    def shipped(cls) -> PeopleHead:
        """Load the head of this package, once for each process.

        Raises:
            ModelError: A file is missing, damaged or of another model.
        """
        return cls(files.SHIPPED)

    def has_learnt(self, attribute: str) -> bool:
        """Whether the attribute had labelled documents, so that its chances are measured ones."""
        return attribute in self._heads

    def sure(self, attribute: str, labels: Sequence[str]) -> Ints:
        """Look up the labels whose mentions nearly all name people, such as “she”.

        Their mentions have one chance, whatever stands beside: looking would cost more than it
        tells.

        Returns:
            Thousandths, (n,); -1 for other labels.
        """
        known = self._sure.get(attribute, {})
        return np.array([known.get(label, -1) for label in labels], np.int64)

    def labels(self, attribute: str, labels: Sequence[str]) -> Ints:
        """Look up what labels say themselves.

        Returns:
            A number for each, (n,), for `chances`.
        """
        known, head = self._labels.get(attribute, {}), self._head(attribute)
        weights = self._heads[head][SIDES * self._vectors.shape[1] :][: self._vectors.shape[1]]
        values = [
            known.get(label, 0.0) + label_vector(label, self._at, self._vectors) @ weights
            for label in labels
        ]
        return np.rint(np.array(values) * STEP).astype(np.int64)

    def chances(self, attribute: str, places: Places, labels: Ints) -> Ints:
        """Compute the chances of n mentions.

        Args:
            places: The words beside them (`Vocabulary.places`).
            labels: What the label of each says (`labels`), (n,).

        Returns:
            Thousandths, (n,).
        """
        words, signs = places
        by_place, by_sign, shift = self._tables[self._head(attribute)]
        logits = labels + shift
        for place in range(SIDES):
            logits += by_place[place][words[:, place]]
        for sign, value in enumerate(by_sign.tolist()):
            logits += signs[:, sign] * value
        return self._chances[np.clip(logits, -FURTHEST * STEP, FURTHEST * STEP) + FURTHEST * STEP]

    def with_reader(self, attribute: str, read: float, own: int) -> int:
        """Join what a reader says of a mention with what this head says.

        Args:
            read: The reader's chance that it names people.
            own: This head's chance, in thousandths.

        Returns:
            Thousandths, by a logistic regression on both logits.
        """
        weights = self._with_reader.get(attribute, self._with_reader[ANY])
        joined = float(np.dot(weights, [kept_logit(read), kept_logit(own / UNIT), 1.0]))
        return round(UNIT / (1 + math.exp(-joined)))

    def doubt(self, attribute: str) -> float:
        """Look up how far estimated people of a group may be off on a kind of text, as a share.

        Returns:
            The root mean square of estimated over true people, less one, over groups and kinds of
            text that neither head nor reader learnt from; the greatest of all for an attribute
            without labelled documents.
        """
        return self._doubt.get(attribute, max(self._doubt.values(), default=0.0))

    def _head(self, attribute: str) -> str:
        return attribute if self.has_learnt(attribute) else ANY

    def _folded(self, head: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int16], Ints, int]:
        """A head as whole numbers: by place and word, by sign, and its constant."""
        size = self._vectors.shape[1]
        by_place = self._vectors @ head[: SIDES * size].reshape(SIDES, size).T.astype(np.float32)
        by_place = np.concatenate([by_place, np.zeros((1, SIDES))])
        rest = np.rint(head[(SIDES + 1) * size :] * STEP).astype(np.int64)
        table = np.ascontiguousarray(np.rint(by_place.T * STEP).astype(np.int16))
        return table, rest[:-1], int(rest[-1])


def kept_logit(chance: float) -> float:
    """The logit of a chance, which is kept from 0 and 1 by half a unit."""
    kept = min(max(chance, 0.5 / UNIT), 1 - 0.5 / UNIT)
    return math.log(kept / (1 - kept))


def digest_of(words: Sequence[str], vectors: npt.NDArray[np.float32]) -> str:
    """SHA-256 of words and their vectors."""
    return hashlib.sha256("\n".join(words).encode() + vectors.tobytes()).hexdigest()


def label_vector(
    label: str, at: dict[str, int], vectors: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """Average the vectors of a label's words.

    Args:
        vectors: The vectors, (V, D).

    Returns:
        The mean of those that have a vector, (D,); zeros where none has one.
    """
    found = [at[word] for word in label.replace("-", " ").split() if word in at]
    return vectors[found].mean(0) if found else np.zeros(vectors.shape[1])


def _table(words: Sequence[str]) -> tuple[Hashes, Ints]:
    """Hashes of words in ascending order, and the words' numbers."""
    size = REACH - 1  # a longer word is never read whole
    short = [number for number, word in enumerate(words) if len(word) <= size]
    matrix = np.zeros((len(short), size), np.uint64)
    for row, number in enumerate(short):
        own = to_bytes(words[number])
        matrix[row, : len(own)] = own.astype(np.uint64) + np.uint64(1)
    hashes = (matrix * _POWERS[:size]).sum(1, dtype=np.uint64)
    order = np.argsort(hashes, kind="stable")
    return hashes[order], np.array(short, np.int64)[order]
