"""Finds the words of a text that some label begins with, by comparing all words of a block at once.

A word is first sketched in sixteen bits (its first two bytes, its last, its length), which leaves
about one in fifteen of a text's words. Of those, the first eight bytes are looked up together, as
numbers, and longer words that may go on rightly one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenflow.transforms.text.reading import APOSTROPHE, OTHER, TextReader

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Twos = npt.NDArray[np.uint16]
Bools = npt.NDArray[np.bool_]
# After an apostrophe these are no words of their own: “I'm” does not have the label “m”.
CLITICS = frozenset((b"d", b"ll", b"m", b"re", b"s", b"t", b"ve"))
HEAD = 8  # bytes of a word that are compared as one number
PAD = bytes([OTHER]) * HEAD  # lets that many bytes be read where any word begins
# Of a word's first HEAD bytes as a number, by its length: those that are the word's
WITHIN = np.array([(1 << 8 * min(length, HEAD)) - 1 for length in range(HEAD + 1)], np.uint64)
STEP = 1 << 18  # bytes searched at a time: the arrays of their words stay in the processor's cache


class Hits(NamedTuple):
    """The n words of a text that some label begins with; each field is (n,)."""

    starts: Ints
    ends: Ints
    places: Ints
    after: Bytes
    negated: Bools

    def take(self, chosen: Ints) -> Hits:
        """The hits of these indices."""
        return Hits(
            self.starts[chosen],
            self.ends[chosen],
            self.places[chosen],
            self.after[chosen],
            self.negated[chosen],
        )


class FirstWords:
    """The words that labels begin with.

    `words`: The words as bytes, without duplicates; a place is an index into them.
    """

    def __init__(self, words: list[bytes], reader: TextReader):
        self._reader = reader
        self._places = {word: place for place, word in enumerate(words)}
        # A number that no word has ends the table, so that every search finds a place in it
        heads = {(1 << 64) - 1: -1}
        for word in sorted(words, key=len, reverse=True):
            place = -1 if len(word) > HEAD else self._places[word]
            heads[int.from_bytes(word[:HEAD], "little")] = place
        numbers, places = zip(*sorted(heads.items()), strict=True)
        self._heads, self._head_places = np.array(numbers, np.uint64), np.array(places, np.int64)
        self._clitic = np.array([word in CLITICS for word in words], bool)
        self._possible = np.zeros(1 << 16, bool)
        # The second byte of a word of one letter is the boundary after it, whichever that is.
        sketched = [
            (word[0], second, word[-1], len(word))
            for word in words
            for second in (word[1:2] or range(256))
        ]
        first, second, last, length = np.array(sketched, np.int64).reshape(-1, 4).T
        twos, lasts = first + (second << 8), last.astype(np.uint8)
        self._possible[_sketch(twos.astype(np.uint16), lasts, length)] = True

    def find(self, codes: bytes) -> Hits:
        """Find the words of a text that are among these.

        `codes`: The text's bytes, see `Reading.codes`.
        """
        padded = codes + PAD
        array = np.frombuffer(padded, np.uint8)
        twos = np.ndarray((len(padded) - 1,), np.dtype("<u2"), padded, strides=(1,))
        parts: list[tuple[Ints, Ints]] = []
        begin = 0
        while begin < len(codes) or not parts:
            stop = codes.find(b" ", begin + STEP) + 1 or len(codes)
            starts, ends = self._reader.words(codes[begin:stop])
            if begin:
                starts, ends = starts + begin, ends + begin
            sketches = _sketch(twos[starts], array[ends - 1], ends - starts)
            hits = self._possible[sketches].nonzero()[0]
            parts.append((starts[hits], ends[hits]))
            begin = stop
        starts, ends = (np.concatenate(each) for each in zip(*parts, strict=True))
        return self._exactly(padded, starts, ends)

    def _exactly(self, padded: bytes, starts: Ints, ends: Ints) -> Hits:
        """The hits among the words that passed the sketch."""
        eights = np.ndarray((len(padded) - HEAD + 1,), np.dtype("<u8"), padded, strides=(1,))
        lengths = ends - starts
        heads = eights[starts] & WITHIN.take(lengths, mode="clip")
        at = np.searchsorted(self._heads, heads)
        begun = self._heads[at] == heads
        places = np.where(begun, self._head_places[at], -1)
        longer = (begun & (lengths > HEAD)).nonzero()[0]
        spans = zip(starts[longer].tolist(), ends[longer].tolist(), strict=True)
        places[longer] = [self._places.get(padded[start:end], -1) for start, end in spans]
        chosen = (places >= 0).nonzero()[0]
        starts, ends, places = starts[chosen], ends[chosen], places[chosen]
        array = np.frombuffer(padded, np.uint8)
        after = array[ends]
        negated = after == APOSTROPHE
        negated &= (array[ends + 1] == ord("t")) & (array[ends - 1] == ord("n"))
        hits = Hits(starts, ends, places, after, negated)
        clitic = self._clitic[places]
        if clitic.any():
            hits = hits.take((~clitic | ~self._after_apostrophe(array, starts)).nonzero()[0])
        return hits

    def _after_apostrophe(self, codes: Bytes, starts: Ints) -> Bools:
        """Which of the words that start there follow an apostrophe within a word, (n,)."""
        word = np.frombuffer(self._reader.word, np.uint8)
        return (starts > 1) & (codes[starts - 1] == APOSTROPHE) & (word[codes[starts - 2]] > 0)


def _sketch(twos: Twos, last: Bytes, lengths: Ints) -> Twos:
    """Sixteen bits (n,) of words' first two bytes, last byte and length, which few words share."""
    mixed = last * np.uint16(0x9E35)
    mixed += lengths.astype(np.uint16) * np.uint16(0x6A8D)
    mixed ^= twos * np.uint16(0x2545)
    return mixed
