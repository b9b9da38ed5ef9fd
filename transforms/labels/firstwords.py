"""Finds the words of a text that some label begins with, by comparing all words of a block at once.

A word is first sketched in sixteen bits (its first two bytes, its last, its length), which leaves
about one in fifteen of a text's words. Those are compared by their first and last eight bytes and
their length, longer ones byte by byte.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenflow.transforms.text.reading import OTHER, TextReader

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Longs = npt.NDArray[np.uint64]
PAD = bytes([OTHER]) * 8  # lets eight bytes be read at any word
STEP = 1 << 18  # bytes searched at a time: the arrays of their words stay in the processor's cache


@dataclass(frozen=True)
class Hits:
    """The n words of a text that some label begins with; each field is (n,) int64.

    Attributes:
        starts: Start offsets in the text's codes.
        ends: End offsets in the text's codes.
        places: Index of each word among the first words.
    """

    starts: Ints
    ends: Ints
    places: Ints

    def __getitem__(self, chosen: npt.NDArray[np.bool_]) -> Hits:
        """The hits that a mask (n,) selects."""
        return Hits(self.starts[chosen], self.ends[chosen], self.places[chosen])


class FirstWords:
    """The words that labels begin with.

    Args:
        words: The words as bytes, without duplicates.
        reader: Reads the texts.

    Attributes:
        words: The words in another order; a place is an index into it.
    """

    def __init__(self, words: list[bytes], reader: TextReader):
        self._reader = reader
        lengths = np.array([len(word) for word in words], np.int64)
        starts = np.cumsum(lengths) - lengths
        heads, tails, keys = _keys(b"".join(words) + PAD, starts, lengths)
        order = np.argsort(keys, kind="stable")
        self.words = [words[i] for i in order]
        self._long = {word: place for place, word in enumerate(self.words) if len(word) > 16}
        self._keys, self._heads, self._tails = keys[order], heads[order], tails[order]
        self._possible = np.zeros(1 << 16, bool)
        for word in self.words:
            # The second byte of a word of one letter is the boundary after it, whichever that is.
            seconds = np.array([word[1]] if len(word) > 1 else range(256), np.uint8)
            firsts, lasts = np.full_like(seconds, word[0]), np.full_like(seconds, word[-1])
            self._possible[
                _sketch(firsts, seconds, lasts, np.full(len(seconds), len(word), np.int64))
            ] = True

    def find(self, codes: bytes) -> Hits:
        """Find the words of a text that are among these.

        Args:
            codes: The text's bytes, see `Reading.codes`.

        Returns:
            The words found, in order.
        """
        padded = codes + PAD
        array = np.frombuffer(padded, np.uint8)
        parts: list[tuple[Ints, Ints]] = []
        begin = 0
        while begin < len(codes):
            stop = codes.find(b" ", begin + STEP) + 1 or len(codes)
            starts, ends = self._reader.words(codes[begin:stop])
            starts, ends = starts + begin, ends + begin
            sketches = _sketch(array[starts], array[starts + 1], array[ends - 1], ends - starts)
            hits = np.flatnonzero(self._possible[sketches])
            parts.append((starts[hits], ends[hits]))
            begin = stop
        if not parts:
            none = np.zeros(0, np.int64)
            return Hits(none, none, none)
        starts, ends = (np.concatenate(each) for each in zip(*parts, strict=True))
        return self._exactly(padded, starts, ends)

    def _exactly(self, padded: bytes, starts: Ints, ends: Ints) -> Hits:
        """The hits among the words that passed the sketch."""
        heads, tails, keys = _keys(padded, starts, ends - starts)
        places = np.searchsorted(self._keys, keys).clip(max=len(self._keys) - 1)
        # With equal heads and tails, equal keys are equal lengths.
        same = (
            (self._keys[places] == keys)
            & (self._heads[places] == heads)
            & (self._tails[places] == tails)
        )
        # Sixteen bytes decide a word of up to sixteen bytes. A longer one is looked up whole.
        for i in np.flatnonzero(same & (ends - starts > 16)):
            places[i] = self._long.get(padded[starts[i] : ends[i]], -1)
            same[i] = places[i] >= 0
        return Hits(starts, ends, places)[same]


def _sketch(first: Bytes, second: Bytes, last: Bytes, lengths: Ints) -> npt.NDArray[np.uint16]:
    """Sixteen bits (n,) of words' first two bytes, last byte and length, which few words share."""
    mixed = last.astype(np.uint16) * np.uint16(0x9E35) + lengths.astype(np.uint16) * np.uint16(
        0x6A8D
    )
    mixed ^= first.astype(np.uint16) * np.uint16(0x2545)
    return mixed ^ second.astype(np.uint16) << np.uint16(8)


def _keys(codes: bytes, starts: Ints, lengths: Ints) -> tuple[Longs, Longs, Longs]:
    """First and last eight bytes of each word, a mix with its length; `codes` end in PAD."""
    eight = np.ndarray((len(codes) - 7,), np.dtype("<u8"), codes, strides=(1,))
    short = np.minimum(lengths, 8)
    mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> (
        np.uint64(64) - (short.astype(np.uint64) << np.uint64(3))
    )
    heads = eight[starts] & mask
    tails = eight[starts + lengths - short] & mask
    # Odd 64-bit multipliers in wide use for mixing (of the golden ratio, xxHash and MurmurHash3)
    mixed = (heads * np.uint64(0x9E3779B97F4A7C15)) ^ (tails * np.uint64(0xC2B2AE3D27D4EB4F))
    mixed ^= lengths.astype(np.uint64)
    mixed *= np.uint64(0xFF51AFD7ED558CCD)
    return heads, tails, mixed ^ (mixed >> np.uint64(29))
