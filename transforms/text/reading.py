"""Reads a text as one byte a character, so that labels are found by comparing bytes.

The byte is the folded letter (see `evenflow.wordlists.spelling`), a blank, a line break, an
apostrophe, a hyphen, or a class. Most texts are read character by character through one table.
Where a table is not enough (a letter and its mark, a ligature, an invisible character within a
word), the text is read word by word. A reading knows the offsets in the text, which itself never
changes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from evenflow.transforms.text.links import find_links
from evenflow.transforms.text.narrow import Narrow, narrow
from evenflow.wordlists import spelling

Ints = npt.NDArray[np.int64]
BLANK, BREAK, RETURN, APOSTROPHE, HYPHEN, OTHER = b" \n\r'-."
# LETTER: a word character that no label has. IGNORED: an invisible character. SPELLED: a character
# whose word has to be folded as a whole.
LETTER, IGNORED, SPELLED = 1, 2, 3
FIRST_OWN = 0x80  # the first byte of the labels' own characters outside ASCII
SHARED = 0xFF  # the byte of all label characters for which no byte is left
UNDERSCORE = ord("_")
# Code points that a character decomposes to at most (canonically; Unicode Standard, 3.7)
MOST_PARTS = 4
# The bytes of a word that is too long for a label: sorting a million marks would take too long.
FOREIGN = bytes([LETTER])
# A blank without width parts two words (Unicode Standard Annex 29), unless the whole is a label or
# a part is too short for a word: “wo|man”, “hu|man”.
ZERO_WIDTH = "\u200b"
PARTED = re.compile(rf"\w+(?:{ZERO_WIDTH}\w+)+")
SHORTEST_PART = 3
SOFT = re.compile(r"\u00ad(?=[^\S\r\n]*[\r\n])")  # a line's end; elsewhere it is ignored
UNKNOWN = 4  # only while the table of classes is made
_WORD_CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl"
_OTHER_CATEGORIES = "No Pd Ps Pe Pi Pf Po Sm Sc Sk So Cs Co Cn"
# Code points outside are unassigned or private: boundaries
_ASSIGNED = [(0, 0x33480), (0xE0000, 0xE0200)]


@dataclass(frozen=True)
class TextBytes:
    """A text as bytes, with the way back to its offsets.

    Attributes:
        removed: (r,) int64: the number of characters kept before each ignored one. None without
            any.
        edits: (4, e) int64, a column for each word that was folded as a whole: its start and end in
            codes, and its start and end in the text without ignored characters. None without any.
    """

    text: str
    codes: bytes
    removed: Ints | None
    edits: Ints | None

    @cached_property
    def line_ends(self) -> list[int]:
        """Where hyphens end lines, in characters of the text."""
        codes = [each.start() for each in re.finditer(b"- ?[\r\n]", self.codes)]
        found = self.offsets(*[np.array(codes, np.int64)] * 2)[1].tolist()
        if self.removed is not None:
            found += [each.start() for each in SOFT.finditer(self.text)]
        return found

    def offsets(self, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
        """Convert spans of codes to spans of the text.

        Args:
            starts: Where the spans start in codes, (n,); each at a word's bound.
            ends: Where they end, (n,); each at a word's bound.

        Returns:
            Starts (n,) and ends (n,) in characters of the text.
        """
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
    """Reads texts for a set of labels. Only the characters of these labels are told apart.

    Args:
        labels: The labels as `spelling.fold` gives them.
    """

    def __init__(self, labels: Iterable[str]):
        labels = self._labels = frozenset(labels)
        self._longest = MOST_PARTS * max(map(len, labels), default=0)
        others = {c for label in labels if not label.isascii() for c in label if not c.isascii()}
        letters = {c for c in others if spelling.is_word(c)}
        own = sorted(letters)
        self._own = {character: min(FIRST_OWN + i, SHARED) for i, character in enumerate(own)}
        # Whether equal bytes may be different letters
        self.doubtful = SHARED in self._own.values()
        # Characters that form a letter of the labels together with the character before, or that
        # may stand in another order.
        self._composing = {part for c in own for part in unicodedata.normalize("NFD", c)[1:]}
        self._composing |= {c for c in own if unicodedata.combining(c)}
        table = bytearray([OTHER]) * 256
        for point in range(128):
            table[point] = self.code(chr(point))
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
        # A letter that folds to a mark (“ŉ” to an apostrophe and n) stays part of its word.
        self._within = bytes(code if flags[code] else LETTER for code in range(256))
        self._spelled = [
            SPELLED,
            *sorted({self._own[c] for c in self._composing if c in self._own}),
        ]

    def read(self, text: str) -> TextBytes:
        """Read a text.

        Links and the underscores around a word become boundaries. Words with marks are composed.

        Returns:
            Its bytes with the way back to its offsets.
        """
        seen = PARTED.sub(self._part, text) if ZERO_WIDTH in text else text
        read = narrow(seen)
        codes, removed = self._encode(read), None
        if bytes([IGNORED]) in codes:
            seen, codes, removed = _drop(seen, codes)
            read = narrow(seen)
        linked = find_links(seen, read.raw)
        if linked:
            codes = _blot(codes, linked)
        if bytes([UNDERSCORE]) in codes:
            codes = self._trim(codes)
        edits = None
        if any(bytes([code]) in codes for code in self._spelled):
            codes, edits = self._spell_out(seen, codes)
        return TextBytes(text, codes, removed, edits)

    def _part(self, run: re.Match[str]) -> str:
        """Letters with blanks without width between them: words, or one word."""
        whole, *parts = map(spelling.fold, (run[0], *run[0].split(ZERO_WIDTH)))
        if whole in self._labels or any(
            len(part) < SHORTEST_PART and part not in self._labels for part in parts
        ):
            return run[0]
        return run[0].replace(ZERO_WIDTH, " ")

    def encode(self, text: str) -> bytes:
        """Encode a text by the table of characters alone.

        Returns:
            One byte a character, len(text) bytes.
        """
        return self._encode(narrow(text))

    def _encode(self, read: Narrow) -> bytes:
        codes = read.raw.translate(self._ascii)
        if not len(read.places):
            return codes
        out = np.frombuffer(codes, np.uint8).copy()
        out[read.places] = self._wide[read.points]
        return out.tobytes()

    @cached_property
    def _wide(self) -> npt.NDArray[np.uint8]:
        """The byte of each code point: (0x110000,)."""
        table = np.frombuffer(_classes(), np.uint8).copy()
        table[:128] = np.frombuffer(self._ascii[:128], np.uint8)
        for character, folded in _foldings().items():
            codes = bytes(map(self.code, folded)).translate(self._within)
            if len(codes) == 1:
                table[ord(character)] = codes[0]
            elif LETTER not in codes:
                table[ord(character)] = SPELLED
        for character in (*self._own, *self._composing):
            table[ord(character)] = self.code(character)
        return table

    def codes(self, folded: str) -> bytes:
        """The bytes of a label as `spelling.fold` gives it."""
        if folded.isascii():
            return folded.encode().translate(self._ascii)
        # Not by `encode`, whose table takes a tenth of a second to make
        return bytes(map(self.code, folded))

    def code(self, character: str) -> int:
        """The byte of a folded character."""
        if character.isascii() and (character.isalnum() or character == "_"):
            return ord(character.lower())
        if character in self._own:
            return self._own[character]
        if character in self._composing:
            return SPELLED
        return _class(character)

    def _trim(self, codes: bytes) -> bytes:
        """Turn the underscores around a word (“_her_”) into boundaries, not those within one."""
        array = np.frombuffer(codes, np.uint8)
        places = np.flatnonzero(array == UNDERSCORE)
        breaks = np.flatnonzero(np.diff(places) > 1) + 1
        starts, ends = places[np.r_[0, breaks]], places[np.r_[breaks - 1, -1]] + 1
        within = (starts > 0) & (ends < len(codes))
        word = np.frombuffer(self.word, np.uint8)
        within[within] = (word[array[starts[within] - 1]] & word[array[ends[within]]]) > 0
        return _blot(codes, zip(starts[~within].tolist(), ends[~within].tolist(), strict=True))

    def _spell_out(self, text: str, codes: bytes) -> tuple[bytes, Ints | None]:
        """Fold each word that needs it as a whole; returns the codes and `Reading.edits`."""
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
        """Find the words.

        Args:
            codes: Bytes as `encode` gives them.

        Returns:
            Starts (n,) and ends (n,) of the words in codes.
        """
        marked = np.frombuffer(b"\0" + codes.translate(self.word) + b"\0", np.uint8)
        edges = (marked[1:] != marked[:-1]).nonzero()[0]
        return edges[0::2], edges[1::2]


def _blot(codes: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    """The codes with boundaries in place of spans."""
    out = bytearray(codes)
    for start, end in spans:
        out[start:end] = bytes([OTHER]) * (end - start)
    return bytes(out)


def _drop(text: str, codes: bytes) -> tuple[str, bytes, Ints]:
    """Drop ignored characters; returns text, codes and `Reading.removed`."""
    ignored = np.flatnonzero(np.frombuffer(codes, np.uint8) == IGNORED)
    edges = pairwise((-1, *ignored.tolist(), len(text)))
    kept = "".join([text[begin + 1 : end] for begin, end in edges])
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
    """The class of each code point, the same for all labels: 0x110000 bytes."""
    table = bytearray([OTHER]) * 0x110000
    known: dict[str, int] = dict.fromkeys(_WORD_CATEGORIES.split(), LETTER)
    known.update(dict.fromkeys(_OTHER_CATEGORIES.split(), OTHER))
    for first, stop in _ASSIGNED:
        # The category decides the class of most characters. To classify all of them one by one
        # would take half a second.
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
    """The word characters outside ASCII that fold to something else, each with its folded form."""
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
