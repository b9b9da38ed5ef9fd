"""Finds the words of a text that some label begins with, by comparing all words of a block at once.

A word is first sketched in sixteen bits (its first two bytes, its last, its length), which leaves
about one in fifteen of a text's words. Those are looked up one by one.
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
PAD = bytes([OTHER]) * 2  # lets the two bytes behind any word be read
STEP = 1 << 18  # bytes searched at a time: the arrays of their words stay in the processor's cache


class Hits(NamedTuple):
    """The n words of a text that some label begins with; each field is (n,).

    Attributes:
        starts: Start offsets in the text's codes.
        ends: End offsets in the text's codes.
        places: Index of each word among the first words.
        after: The byte that follows each word.
        negated: Whether it goes on as “n't” (“don't” does not have the word “don”).
    """

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

    Args:
        words: The words as bytes, without duplicates; a place is an index into them.
        reader: Reads the texts.
    """

    def __init__(self, words: list[bytes], reader: TextReader):
        self._reader = reader
        self._places = {word: place for place, word in enumerate(words)}
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

        Args:
            codes: The text's bytes, see `Reading.codes`.

        Returns:
            The words found, in order.
        """
        padded = codes + PAD
        array = np.frombuffer(padded, np.uint8)
        twos = np.ndarray((len(padded) - 1,), np.dtype("<u2"), padded, strides=(1,))
        parts: list[tuple[Ints, Ints]] = []
        begin = 0
        while begin < len(codes):
            stop = codes.find(b" ", begin + STEP) + 1 or len(codes)
            starts, ends = self._reader.words(codes[begin:stop])
            if begin:
                starts, ends = starts + begin, ends + begin
            sketches = _sketch(twos[starts], array[ends - 1], ends - starts)
            hits = self._possible[sketches].nonzero()[0]
            parts.append((starts[hits], ends[hits]))
            begin = stop
        if not parts:
            none = np.zeros(0, np.int64)
            return Hits(none, none, none, none.astype(np.uint8), none.astype(bool))
        starts, ends = parts[0]
        if len(parts) > 1:
            starts, ends = (np.concatenate(each) for each in zip(*parts, strict=True))
        return self._exactly(padded, starts, ends)

    def _exactly(self, padded: bytes, starts: Ints, ends: Ints) -> Hits:
        """The hits among the words that passed the sketch."""
        spans = zip(starts.tolist(), ends.tolist(), strict=True)
        found = [self._places.get(padded[start:end], -1) for start, end in spans]
        places = np.array(found, np.int64)
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
