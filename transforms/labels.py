"""Finds label mentions: whole words, longest label first, case ignored unless the list says otherwise.

A word is a run of letters, digits, combining marks and underscores; everything else is a boundary, a hyphen too unless a
longer listed label covers it. The text is never changed: it is read through a table that gives each character one byte (its
lower case, a blank, an apostrophe, a hyphen or «other»), so offsets are those of the text. The words of a whole block are then
compared with the labels at once, by their first and last eight bytes and their length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evenflow.wordlists.loader import WordList

Ints = npt.NDArray[np.int64]
BLANK, BREAK, APOSTROPHE, HYPHEN, OTHER = b" \n'-."
MARK, IGNORED, LETTER = 1, 2, 3  # classes of characters that no label is written with
_FIRST_CODE = 0x80  # from here on: the labels' own characters that are not ASCII
_APOSTROPHES = "'’‘ʼ＇′`"
_HYPHENS = "-‐‑‒–−﹣－"
_BREAKS = "\n\x85\u2028"
_IGNORED = "\u00ad\u200c\u200d\u200e\u200f\u2060\ufeff" + "".join(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]))
# A character with its combining marks, or invisible characters that a reader does not see within a word.
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u0900-\u0903\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_COMPOSED = re.compile(f"[{_IGNORED}]+|[^\\W{_MARKS}][{_MARKS}]+")
_PAD = b"." * 8  # so that eight bytes can be read at any word


@dataclass(frozen=True)
class Mention:
    """A label in a text: text[start:end], the label as listed, its attribute and group."""

    start: int
    end: int
    label: str
    attribute: str
    group: str


@dataclass(frozen=True)
class Found:
    """Mentions of one attribute as arrays (n,), in the text's order: character offsets, label and group indices."""

    starts: Ints
    ends: Ints
    labels: Ints
    groups: Ints


@dataclass(frozen=True)
class _Pattern:
    """A label as bytes: its first word, and what must follow (None for a single word)."""

    first: bytes
    tail: re.Pattern[bytes] | None
    label: int


@dataclass(frozen=True)
class _Words:
    """The words of a text: codes are its characters' bytes, starts and ends (n,) their offsets, the rest their keys."""

    codes: bytes
    starts: Ints
    ends: Ints
    heads: npt.NDArray[np.uint64]
    tails: npt.NDArray[np.uint64]
    keys: npt.NDArray[np.uint64]
    slots: Ints


class LabelFinder:
    """Finds the labels of several attributes in one pass over a text; each attribute's matches are its own.

    lists: the word lists, one an attribute.
    """

    def __init__(self, lists: Sequence[WordList]):
        self.lists = tuple(lists)
        own = sorted(set().union(*(_own_characters(words.labels) for words in lists)))
        self._codes = {character: min(_FIRST_CODE + i, 0xFF) for i, character in enumerate(own)}
        self._ascii = self._table(128) + bytes([OTHER]) * 128
        word = bytearray(256)
        for code in range(256):
            word[code] = code in (MARK, IGNORED, LETTER) or code >= _FIRST_CODE or chr(code).isalnum() or code == ord("_")
        self._word = bytes(word)
        # Two characters share a code only where the lists have over 128 of their own: then the text decides.
        doubtful = 0xFF in self._codes.values()
        self._indices = [_Index(words, self.encode, self._word, doubtful) for words in lists]

    def find(self, text: str) -> list[Mention]:
        """All mentions in a text, attribute by attribute, each in the text's order."""
        return [
            Mention(int(start), int(end), index.labels[label], words.attribute, words.groups[group])
            for words, index, found in zip(self.lists, self._indices, self.find_all(text), strict=True)
            for start, end, label, group in zip(found.starts, found.ends, found.labels, found.groups, strict=True)
        ]

    def labels(self, attribute: int) -> list[str]:
        """The labels of an attribute in the order of Found.labels' indices."""
        return self._indices[attribute].labels

    def find_all(self, text: str) -> list[Found]:
        """All mentions in a text as arrays, one Found an attribute; offsets are of the text as given."""
        codes = self.encode(text)
        if bytes([MARK]) not in codes and bytes([IGNORED]) not in codes:
            return self._search(text, codes)
        plain, begins, ends = _compose(text)
        return [
            Found(begins[found.starts], ends[found.ends - 1], found.labels, found.groups)
            for found in self._search(plain, self.encode(plain))
        ]

    def encode(self, text: str) -> bytes:
        """One byte a character: lower case, boundary or class; len(text) bytes."""
        if text.isascii():
            return text.encode("ascii").translate(self._ascii)
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        return self._wide[points].tobytes()

    @cached_property
    def _wide(self) -> npt.NDArray[np.uint8]:
        return np.frombuffer(self._table(0x110000), np.uint8)

    def _table(self, size: int) -> bytes:
        """The byte of each code point below size."""
        every = "".join(map(chr, range(size)))
        table = np.full(size, OTHER, np.uint8)
        for pattern, code in ((r"\w+", LETTER), (r"\s+", BLANK)):
            for match in re.finditer(pattern, every):
                table[match.start() : match.end()] = code
        table[[i for i, c in enumerate(every) if unicodedata.combining(c)]] = MARK
        for characters, code in ((_APOSTROPHES, APOSTROPHE), (_HYPHENS, HYPHEN), (_IGNORED, IGNORED), (_BREAKS, BREAK)):
            table[[ord(c) for c in characters if ord(c) < size]] = code
        for code in (*range(ord("0"), ord("9") + 1), ord("_"), *range(ord("a"), ord("z") + 1)):
            table[code] = code
            table[ord(chr(code).upper())] = code
        for character, code in self._codes.items():
            for form in (character, character.upper(), character.title()):
                if len(form) == 1 and ord(form) < size:
                    table[ord(form)] = code
        return table.tobytes()

    def _search(self, text: str, codes: bytes) -> list[Found]:
        marked = np.frombuffer(b"\0" + codes.translate(self._word) + b"\0", np.uint8)
        edges = np.flatnonzero(marked[1:] != marked[:-1])
        starts, ends = edges[0::2], edges[1::2]
        heads, tails, keys = _keys(codes + _PAD, starts, ends - starts)
        slots = (keys >> np.uint64(48)).astype(np.int64)
        words = _Words(codes, starts, ends, heads, tails, keys, slots)
        return [index.search(text, words) for index in self._indices]


class _Index:
    """The labels of one attribute, by the keys of their first words."""

    def __init__(self, words: WordList, encode: Callable[[str], bytes], word: bytes, doubtful: bool):
        self.labels = list(words.labels)
        self._group_of = np.array([words.labels[label] for label in self.labels], np.int64)
        self._exact = np.array([label in words.exact for label in self.labels], bool)
        self._word = word
        self._asks_text = doubtful or bool(self._exact.any())
        patterns = [_pattern(index, label, encode(label)) for index, label in enumerate(self.labels)]
        firsts = sorted({pattern.first for pattern in patterns})
        lengths = np.array([len(first) for first in firsts], np.int64)
        starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        heads, tails, keys = _keys(b"".join(firsts) + _PAD, starts, lengths)
        order = np.argsort(keys, kind="stable")
        self._keys, self._heads, self._tails, self._lengths = keys[order], heads[order], tails[order], lengths[order]
        self._firsts = [firsts[i] for i in order]
        self._single = np.full(len(firsts), -1, np.int64)
        self._longer: dict[int, list[_Pattern]] = {}
        places = {first: place for place, first in enumerate(self._firsts)}
        for pattern in patterns:
            if pattern.tail is None:
                self._single[places[pattern.first]] = pattern.label
            else:
                self._longer.setdefault(places[pattern.first], []).append(pattern)
        for longer in self._longer.values():
            longer.sort(key=lambda pattern: -len(self.labels[pattern.label]))
        self._slots = np.zeros(1 << 16, bool)
        self._slots[(self._keys >> np.uint64(48)).astype(np.int64)] = True

    def search(self, text: str, words: _Words) -> Found:
        """The attribute's mentions among the words of a text."""
        hits = np.flatnonzero(self._slots[words.slots])
        keys, heads, tails = words.keys[hits], words.heads[hits], words.tails[hits]
        starts, ends = words.starts[hits], words.ends[hits]
        places = np.searchsorted(self._keys, keys).clip(max=len(self._keys) - 1)
        same = (self._keys[places] == keys) & (self._heads[places] == heads)
        same &= (self._tails[places] == tails) & (self._lengths[places] == ends - starts)
        # Sixteen bytes decide a word of up to sixteen; a longer one is compared whole.
        for i in np.flatnonzero(same & (ends - starts > 16)):
            same[i] = words.codes[starts[i] : ends[i]] == self._firsts[places[i]]
        places, starts, ends = places[same], starts[same], ends[same]
        labels = self._single[places]
        if self._longer:
            self._extend(words.codes, starts, ends, labels, places)
        keep = labels >= 0
        if self._asks_text:
            for i in np.flatnonzero(keep):
                keep[i] = self._says(text[starts[i] : ends[i]], int(labels[i]))
        labels = labels[keep]
        return Found(starts[keep], ends[keep], labels, self._group_of[labels])

    def _extend(self, codes: bytes, starts: Ints, ends: Ints, labels: Ints, places: Ints) -> None:
        """Put the longest label of several parts where one begins, and drop what it covers."""
        covered = -1
        for i in np.flatnonzero(np.isin(places, list(self._longer))):
            if starts[i] < covered:
                continue
            for pattern in self._longer[int(places[i])]:
                match = pattern.tail.match(codes, int(ends[i])) if pattern.tail else None
                if match and not (match.end() < len(codes) and self._word[codes[match.end()]]):
                    labels[i], ends[i] = pattern.label, match.end()
                    covered = match.end()
                    inside = i + 1
                    while inside < len(starts) and starts[inside] < covered:
                        labels[inside] = -1
                        inside += 1
                    break

    def _says(self, text: str, label: int) -> bool:
        """Whether the text has the label's very letters, and its case where that matters."""
        listed, said = " ".join(self.labels[label].split()), " ".join(unicodedata.normalize("NFC", text).split())
        if not self._exact[label]:
            listed, said = listed.lower(), said.lower()
        plain = str.maketrans(dict.fromkeys(_APOSTROPHES, "'") | dict.fromkeys(_HYPHENS, "-"))
        return listed.translate(plain) == said.translate(plain)


def _pattern(index: int, label: str, codes: bytes) -> _Pattern:
    first = re.match(rb"[^ '.\n-]+", codes)
    if first is None:
        raise ValueError(f"label {label!r} does not begin with a letter or digit")
    if first.end() == len(codes):
        return _Pattern(first.group(), None, index)
    # One line break may stand between the words of a label, a blank line may not.
    tail = rb"(?: +\n? *|\n *)".join(re.escape(part) for part in codes[first.end() :].split(b" "))
    return _Pattern(first.group(), re.compile(tail), index)


def _keys(codes: bytes, starts: Ints, lengths: Ints) -> tuple[npt.NDArray[np.uint64], ...]:
    """First and last (up to) eight bytes of each word, and a mix of both with its length; codes end in eight of padding."""
    eight = np.ndarray((len(codes) - 7,), np.dtype("<u8"), codes, strides=(1,))
    short = np.minimum(lengths, 8)
    mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> (np.uint64(64) - (short.astype(np.uint64) << np.uint64(3)))
    heads = eight[starts] & mask
    tails = eight[starts + lengths - short] & mask
    mixed = (heads * np.uint64(0x9E3779B97F4A7C15)) ^ (tails * np.uint64(0xC2B2AE3D27D4EB4F)) ^ lengths.astype(np.uint64)
    mixed *= np.uint64(0xFF51AFD7ED558CCD)
    return heads, tails, mixed ^ (mixed >> np.uint64(29))


def _own_characters(labels: Iterable[str]) -> set[str]:
    """The labels' characters outside ASCII that are part of words."""
    known = set(_APOSTROPHES + _HYPHENS)
    return {c for label in labels for c in label.lower() if not c.isascii() and c not in known and (c.isalnum())}


def _compose(text: str) -> tuple[str, Ints, Ints]:
    """Text with combining marks composed and invisible characters dropped, and where each of its characters (n,) begins and
    ends in the given text."""
    drop = str.maketrans(dict.fromkeys(_IGNORED))
    parts: list[str] = []
    starts: list[Ints] = []
    ends: list[Ints] = []
    at = 0
    for match in _COMPOSED.finditer(text):
        parts.append(text[at : match.start()])
        starts.append(np.arange(at, match.start()))
        ends.append(np.arange(at + 1, match.start() + 1))
        composed = unicodedata.normalize("NFC", match.group().translate(drop))
        parts.append(composed)
        starts.append(np.full(len(composed), match.start()))
        ends.append(np.full(len(composed), match.end()))
        at = match.end()
    parts.append(text[at:])
    starts.append(np.arange(at, len(text)))
    ends.append(np.arange(at + 1, len(text) + 1))
    return "".join(parts), np.concatenate(starts), np.concatenate(ends)
