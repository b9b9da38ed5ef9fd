"""Reads a text as one byte a character, so that labels are found by comparing bytes; the text
itself is never changed.

The byte is the folded letter (see `evenflow.wordlists.spelling`), a blank, a line break, an
apostrophe, a hyphen, or a class. Most texts are read character by character through one table. What
that cannot say (a letter and its mark, a ligature, an invisible character within a word) is read
word by word, and the reading knows the offsets in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from evenflow.transforms.text.links import links
from evenflow.wordlists import spelling

Ints = npt.NDArray[np.int64]
BLANK, BREAK, RETURN, APOSTROPHE, HYPHEN, OTHER = b" \n\r'-."
# Word characters that no label is written with, and invisible ones; SPELLED: its word has to be
# folded as a whole.
LETTER, IGNORED, SPELLED = 1, 2, 3
FIRST_OWN = 0x80  # from here on: the labels' own characters that are not ASCII
SHARED = 0xFF  # the byte of all of the labels' characters that there is no byte left for
UNDERSCORE = ord("_")
# Code points that a character decomposes to at most (canonically; Unicode Standard, 3.7)
MOST_PARTS = 4
# For a word that is too long for a label: sorting a million marks would take for ever
FOREIGN = bytes([LETTER])
# Characters looked up at a time: numpy widens the indices to eight bytes, and these stay in the
# cache
STEP = 1 << 15
UNKNOWN = 4  # only while the table of classes is made
_WORD_CATEGORIES: tuple[str, ...] = ("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl")
_OTHER_CATEGORIES = (
    "No",
    "Pd",
    "Ps",
    "Pe",
    "Pi",
    "Pf",
    "Po",
    "Sm",
    "Sc",
    "Sk",
    "So",
    "Cs",
    "Co",
    "Cn",
)
# Code points outside are unassigned or private: boundaries
_ASSIGNED = [(0, 0x33480), (0xE0000, 0xE0200)]


@dataclass(frozen=True)
class Reading:
    """A text as bytes.

    text: as given. codes: one byte a character read. The rest leads from offsets in codes to the
    text's. removed: (r,) how many characters are kept before each ignored one. edits: (4, e) of
    each word that was folded as a whole: its start and end in codes, and its start and end in the
    text without ignored characters.
    """

    text: str
    codes: bytes
    removed: Ints | None
    edits: Ints | None

    def offsets(self, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
        """Offsets in the text (n,), (n,) of spans of codes that begin and end at words' bounds."""
        if self.edits is not None:
            new_starts, new_ends, old_starts, old_ends = self.edits
            place = np.searchsorted(new_starts, starts, "right") - 1
            moved = starts - new_ends[place] + old_ends[place]
            starts = np.where(
                place < 0, starts, np.where(starts < new_ends[place], old_starts[place], moved)
            )
            place = np.searchsorted(new_starts, ends - 1, "right") - 1
            moved = ends - new_ends[place] + old_ends[place]
            ends = np.where(
                place < 0, ends, np.where(ends <= new_ends[place], old_ends[place], moved)
            )
        if self.removed is not None:
            starts = starts + np.searchsorted(self.removed, starts, "right")
            ends = ends + np.searchsorted(self.removed, ends - 1, "right")
        return starts, ends


class TextReader:
    """Reads texts for a set of labels: only their characters need to be told apart.

    labels: as `spelling.fold` gives them.
    """

    def __init__(self, labels: Iterable[str]):
        labels = tuple(labels)
        self._longest = MOST_PARTS * max(map(len, labels), default=0)
        letters = {c for label in labels for c in label if not c.isascii() and spelling.is_word(c)}
        own = sorted(letters)
        self._own = {character: min(FIRST_OWN + i, SHARED) for i, character in enumerate(own)}
        self.doubtful = SHARED in self._own.values()  # then equal bytes need not be equal letters
        # Characters that compose with the one before to a letter of the labels, or that may stand
        # in another order.
        self._composing = {part for c in own for part in unicodedata.normalize("NFD", c)[1:]}
        self._composing |= {c for c in own if unicodedata.combining(c)}
        table = bytearray([OTHER]) * 256
        for point in range(128):
            table[point] = self._class(chr(point))
        self._ascii = bytes(table)
        flags = bytearray(256)
        for code in range(256):
            flags[code] = (
                code in (LETTER, SPELLED)
                or code >= FIRST_OWN
                or chr(code).isalnum()
                or code == UNDERSCORE
            )
        self.word = bytes(flags)
        # A letter that folds to a sign (“ŉ” to an apostrophe and n) stays part of its word.
        self._within = bytes(code if flags[code] else LETTER for code in range(256))
        self._spelled = [
            SPELLED,
            *sorted({self._own[c] for c in self._composing if c in self._own}),
        ]

    def read(self, text: str) -> Reading:
        """The text's bytes; links and the underscores around a word are boundaries, words with
        marks are composed.
        """
        codes, seen, removed = self.encode(text), text, None
        if bytes([IGNORED]) in codes:
            seen, codes, removed = _drop(text, codes)
        linked = links(seen)
        if linked:
            codes = _blot(codes, linked)
        if bytes([UNDERSCORE]) in codes:
            codes = self._trim(codes)
        edits = None
        if any(bytes([code]) in codes for code in self._spelled):
            codes, edits = self._spell_out(seen, codes)
        return Reading(text, codes, removed, edits)

    def encode(self, text: str) -> bytes:
        """One byte a character: len(text) bytes."""
        if text.isascii():
            return text.encode("ascii").translate(self._ascii)
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        out = np.empty(len(points), np.uint8)
        for begin in range(0, len(points), STEP):
            np.take(
                self._wide, points[begin : begin + STEP], mode="clip", out=out[begin : begin + STEP]
            )
        return out.tobytes()

    @cached_property
    def _wide(self) -> npt.NDArray[np.uint8]:
        """The byte of each code point: (0x110000,)."""
        table = np.frombuffer(_classes(), np.uint8).copy()
        table[:128] = np.frombuffer(self._ascii[:128], np.uint8)
        for character, folded in _foldings().items():
            codes = bytes(map(self._class, folded)).translate(self._within)
            if len(codes) == 1:
                table[ord(character)] = codes[0]
            elif LETTER not in codes:
                table[ord(character)] = SPELLED
        for character in (*self._own, *self._composing):
            table[ord(character)] = self._class(character)
        return table

    def _class(self, character: str) -> int:
        """The byte of a folded character."""
        if character.isascii() and (character.isalnum() or character == "_"):
            return ord(character.lower())
        if character in self._own:
            return self._own[character]
        if character in self._composing:
            return SPELLED
        return _class(character)

    def _trim(self, codes: bytes) -> bytes:
        """Make boundaries of the underscores around a word (“_her_” is emphasis); those within join
        (“is_male”).
        """
        array = np.frombuffer(codes, np.uint8)
        places = np.flatnonzero(array == UNDERSCORE)
        breaks = np.flatnonzero(np.diff(places) > 1) + 1
        starts, ends = places[np.r_[0, breaks]], places[np.r_[breaks - 1, -1]] + 1
        within = (starts > 0) & (ends < len(codes))
        word = np.frombuffer(self.word, np.uint8)
        within[within] = (word[array[starts[within] - 1]] & word[array[ends[within]]]) > 0
        return _blot(codes, zip(starts[~within].tolist(), ends[~within].tolist(), strict=True))

    def _spell_out(self, text: str, codes: bytes) -> tuple[bytes, Ints | None]:
        """The codes with every word that needs it folded as a whole, and where (see Reading.edits)."""
        array = np.frombuffer(codes, np.uint8)
        places = np.flatnonzero(np.isin(array, np.array(self._spelled, np.uint8)))
        starts, ends = self.words(codes)
        chosen = np.unique(np.searchsorted(starts, places, "right") - 1)
        parts: list[bytes] = []
        edits: list[tuple[int, int, int, int]] = []
        known: dict[str, bytes] = {}
        at = length = 0
        for start, end in zip(starts[chosen].tolist(), ends[chosen].tolist(), strict=True):
            word = text[start:end]
            folded = known.get(word, FOREIGN if len(word) > self._longest else None)
            if folded is None:
                folded = known[word] = self.encode(spelling.fold_word(word)).translate(self._within)
            parts += (codes[at:start], folded)
            length += start - at
            edits.append((length, length + len(folded), start, end))
            length += len(folded)
            at = end
        parts.append(codes[at:])
        return b"".join(parts), np.array(edits, np.int64).T

    def words(self, codes: bytes) -> tuple[Ints, Ints]:
        """Starts and ends (n,) of the words."""
        marked = np.frombuffer(b"\0" + codes.translate(self.word) + b"\0", np.uint8)
        edges = np.flatnonzero(marked[1:] != marked[:-1])
        return edges[0::2], edges[1::2]


def _blot(codes: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    """The codes with boundaries in place of spans."""
    out = bytearray(codes)
    for start, end in spans:
        out[start:end] = bytes([OTHER]) * (end - start)
    return bytes(out)


def _drop(text: str, codes: bytes) -> tuple[str, bytes, Ints]:
    """Text and codes without ignored characters, and how many characters are kept before each of
    those.
    """
    array = np.frombuffer(codes, np.uint8)
    ignored = np.flatnonzero(array == IGNORED)
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    kept = points[array != IGNORED].tobytes().decode("utf-32-le", "surrogatepass")
    return kept, codes.translate(None, bytes([IGNORED])), ignored - np.arange(len(ignored))


def _class(character: str) -> int:
    """The byte of a character that is not a label's."""
    if character in spelling.APOSTROPHES:
        return APOSTROPHE
    if character in spelling.HYPHENS:
        return HYPHEN
    if character in spelling.BREAKS:
        return BREAK
    if character == "\r":
        return RETURN
    if spelling.is_ignored(character):
        return IGNORED
    if spelling.is_word(character):
        return LETTER
    return BLANK if spelling.is_blank(character) else OTHER


@cache
def _classes() -> bytes:
    """The class of each code point, whatever the labels: 0x110000 bytes."""
    table = bytearray([OTHER]) * 0x110000
    known: dict[str, int] = dict.fromkeys(_WORD_CATEGORIES, LETTER)
    known.update(dict.fromkeys(_OTHER_CATEGORIES, OTHER))
    for first, stop in _ASSIGNED:
        # Of most characters the category says all; asking for the rest one by one would take half a
        # second.
        kinds = map(unicodedata.category, map(chr, range(first, stop)))
        table[first:stop] = bytes(known.get(kind, UNKNOWN) for kind in kinds)
    special = {*spelling.APOSTROPHES, *spelling.HYPHENS, *spelling.BREAKS, *spelling.FILLERS}
    special |= set(map(chr, spelling.INVISIBLE_MARKS))
    special |= {chr(match.start()) for match in re.finditer(bytes([UNKNOWN]), table)}
    for character in special:
        table[ord(character)] = _class(character)
    return bytes(table)


@cache
def _foldings() -> dict[str, str]:
    """Word characters outside ASCII that fold to something else, and to what."""
    out: dict[str, str] = {}
    classes = _classes()
    for first, stop in _ASSIGNED:
        for begin in range(first, stop, 256):
            points = (
                point
                for point in range(begin, begin + 256)
                if classes[point] == LETTER and point >= 128
            )
            block = "".join(map(chr, points))
            if unicodedata.is_normalized("NFKC", block) and block.casefold() == block:
                continue
            out.update((c, folded) for c in block if (folded := spelling.fold_word(c)) != c)
    return out
