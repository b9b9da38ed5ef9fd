"""Finds label mentions: whole words, the longest label first, case ignored unless the list says
otherwise.

- A word is a run of letters, marks and digits. All else is a boundary, an apostrophe and a hyphen
  too unless a longer listed label covers them: “women's” and “man-made” mention “women” and “man”.
  But “don't” is no “don”: English cuts before the n. An underscore within a word joins (“is_male”),
  around it it is emphasis (“_her_”).
- Of labels that overlap, the one with more characters wins, then the earlier. Attributes do not see
each other.
- Between the words of a label there may be any blanks with one line break among them; its hyphen
may end a line.
- A combining mark belongs to its letter (“fiance” and a mark is another word), characters that a
  reader does not see within a word are passed over. Which spellings are the same is said in
  `evenflow.wordlists.spelling`.
- Links, e-mail addresses and @handles are not searched (`evenflow.transforms.text.links`), hashtags
are.
- A mention is the label alone, without “'s” or the full stop of “Mr.”; its offsets are those of the
text as given.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenflow.transforms.labels.firstwords import PAD, FirstWords, Hits
from evenflow.transforms.text.reading import (
    APOSTROPHE,
    BLANK,
    BREAK,
    OTHER,
    RETURN,
    Reading,
    TextReader,
)
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Span = tuple[int, ...]  # start and end in the codes, index of the label
# After an apostrophe within a word these are no words of their own (“I'm” has no label “m”).
CLITICS = frozenset((b"d", b"ll", b"m", b"re", b"s", b"t", b"ve"))
# Between a label's words: blanks with one line break at most; a blank line is never crossed.
# Possessive (“++”), since a megabyte of blanks that is tried again from each blank on would not
# end.
GAP = rb"(?: ++(?:\r?\n|\r)?+ *+|(?:\r?\n|\r) *+)"
BLANKS = bytes([BLANK, BREAK, RETURN])
AFTER_HYPHEN = rb"(?: *+(?:\r?\n|\r) *+)?+"
# Joins texts that are searched together: neither a sentence nor a label crosses a blank line.
BETWEEN = "\n\n"


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
    """Mentions of one attribute as arrays (n,), in the text's order: character offsets, label and
    group indices.
    """

    starts: Ints
    ends: Ints
    labels: Ints
    groups: Ints


@dataclass(frozen=True)
class _Pattern:
    """A label as bytes.

    first: its first word. next: the bytes that may come next (none: the first word is all). tail:
    what must follow. sure: whether equal bytes are an equal label. label: its index.
    """

    first: bytes
    next: bytes
    tail: re.Pattern[bytes]
    sure: bool
    label: int


class LabelFinder:
    """Finds the labels of several attributes in one pass over a text; each attribute's matches are
    its own.

    lists: the word lists, one an attribute.
    """

    def __init__(self, lists: Sequence[WordList]):
        self.lists = tuple(lists)
        self._reader = TextReader(spelling.fold(label) for words in lists for label in words.labels)
        patterns = [_patterns(self._reader, words) for words in lists]
        self._firsts = FirstWords(
            sorted({pattern.first for each in patterns for pattern in each}), self._reader
        )
        self._attributes = [
            _Attribute(words, own, self._firsts.words, self._reader)
            # The lists' order is that of what is found
            for words, own in zip(self.lists, patterns, strict=True)
        ]

    def find(self, text: str) -> list[Mention]:
        """All mentions in a text, attribute by attribute, each in the text's order."""
        return self.named(self.find_all(text))

    def named(self, found: Sequence[Found]) -> list[Mention]:
        """The mentions that find_all gave, by name."""
        return [
            Mention(start, end, attribute.labels[label], words.attribute, words.groups[group])
            for words, attribute, each in zip(self.lists, self._attributes, found, strict=True)
            for start, end, label, group in _rows(each.starts, each.ends, each.labels, each.groups)
        ]

    def labels(self, attribute: int) -> list[str]:
        """The labels of an attribute in the order of Found.labels' indices."""
        return self._attributes[attribute].labels

    def find_all(self, text: str) -> list[Found]:
        """All mentions in a text as arrays, one Found an attribute; offsets are of the text as
        given.

        Texts joined by a blank line have the mentions that each has alone.
        """
        reading = self._reader.read(text)
        hits = self._firsts.find(reading.codes)
        return [attribute.search(reading, hits) for attribute in self._attributes]


def pieces(texts: Sequence[str], most: int) -> Iterator[tuple[int, int]]:
    """Ranges first..last (last excluded) of texts to search together.

    most: characters of them. A longer text is alone.
    """
    first, size = 0, 0
    for i, text in enumerate(texts):
        if size and size + len(text) > most:
            yield first, i
            first, size = i, 0
        size += len(text)
    if len(texts) > first:
        yield first, len(texts)


def uncut(bounds: Ints, found: Sequence[Found]) -> Ints:
    """The sentence starts (n,) without those inside a mention (a label over a line break is not cut
    in two).
    """
    kept = np.ones(len(bounds), bool)
    for each in found:
        # The last mention that starts before the bound
        before = np.searchsorted(each.starts, bounds, "left") - 1
        if len(each.ends):
            kept &= ~((before >= 0) & (each.ends[before] > bounds))
    return bounds[kept]


class _Attribute:
    """The labels of one attribute, by their first words.

    firsts: the words that a place is an index into.
    """

    def __init__(
        self, words: WordList, patterns: list[_Pattern], firsts: list[bytes], reader: TextReader
    ):
        self.labels = list(words.labels)
        self._group_of = np.array([words.labels[label] for label in self.labels], np.int64)
        self._reader = reader
        self._exact = [label in words.exact for label in self.labels]
        spelled = {label: spelling.spell(label) for label in words.exact}
        self._spelled = [spelled.get(label) or spelling.fold(label) for label in self.labels]
        places = {first: place for place, first in enumerate(firsts)}
        # A word that is a label and begins no other is decided by its place; of others, by the byte
        # that follows.
        self._single = np.full(len(firsts), -1, np.int64)
        self._several = np.zeros((len(firsts), 256), bool)
        self._patterns: dict[int, list[_Pattern]] = {}
        self._clitic = np.array([first in CLITICS for first in firsts], bool)
        for pattern in patterns:
            place = places[pattern.first]
            self._patterns.setdefault(place, []).append(pattern)
            if pattern.next:
                self._several[place, list(pattern.next)] = True
            elif pattern.sure:
                self._single[place] = pattern.label
            else:
                self._several[place] = True
        self._concerns = self._single >= 0
        self._concerns |= self._several.any(axis=1)

    def search(self, reading: Reading, hits: Hits) -> Found:
        """The attribute's mentions among the words of a text."""
        codes = np.frombuffer(reading.codes + PAD, np.uint8)
        hits = hits[self._concerns[hits.places]]
        if self._clitic.any():
            hits = hits[~(self._clitic[hits.places] & self._after_apostrophe(codes, hits.starts))]
        labels = self._single[hits.places]
        labels[_negated(codes, hits.ends)] = -1
        starts, ends = hits.starts, hits.ends
        several = self._several[hits.places, codes[ends]]
        if several.any():
            starts, ends, labels = self._decide(reading, hits, labels, several)
        named = labels >= 0
        labels = labels[named]
        starts, ends = reading.offsets(starts[named], ends[named])
        return Found(starts, ends, labels, self._group_of[labels])

    def _after_apostrophe(self, codes: npt.NDArray[np.uint8], starts: Ints) -> Bools:
        word = np.frombuffer(self._reader.word, np.uint8)
        return (starts > 1) & (codes[starts - 1] == APOSTROPHE) & (word[codes[starts - 2]] > 0)

    def _decide(
        self, reading: Reading, hits: Hits, labels: Ints, several: Bools
    ) -> tuple[Ints, Ints, Ints]:
        """Starts, ends and labels after choosing among the labels that several words could begin."""
        candidates = [
            candidate
            for start, end, place in _rows(
                hits.starts[several], hits.ends[several], hits.places[several]
            )
            for candidate in self._candidates(reading, start, end, place)
        ]
        # The words that a longer label might cover are candidates too.
        spans = np.array([candidate[:2] for candidate in candidates], np.int64).reshape(-1, 2)
        reach = np.maximum.accumulate(spans[:, 1])
        before = np.searchsorted(spans[:, 0], hits.starts, "right") - 1
        covered = ~several & (labels >= 0) & (before >= 0)
        covered[covered] = reach[before[covered]] > hits.starts[covered]
        candidates += _rows(hits.starts[covered], hits.ends[covered], labels[covered])
        chosen = np.array(self._longest(candidates), np.int64).reshape(-1, 3)
        free = ~several & ~covered
        starts = np.concatenate((hits.starts[free], chosen[:, 0]))
        order = np.argsort(starts, kind="stable")
        ends = np.concatenate((hits.ends[free], chosen[:, 1]))
        return starts[order], ends[order], np.concatenate((labels[free], chosen[:, 2]))[order]

    def _candidates(self, reading: Reading, start: int, end: int, place: int) -> list[Span]:
        """Start, end and label of each label that stands at a word."""
        codes, word = reading.codes, self._reader.word
        out: list[Span] = []
        for pattern in self._patterns[place]:
            match = pattern.tail.match(codes, end)
            if match is None:
                continue
            stop = match.end()
            if word[codes[stop - 1]] and (
                (stop < len(codes) and word[codes[stop]]) or _is_negated(codes, stop)
            ):
                continue
            if pattern.sure or self._says(reading, start, stop, pattern.label):
                out.append((start, stop, pattern.label))
        return out

    def _says(self, reading: Reading, start: int, end: int, label: int) -> bool:
        """Whether the text has the label's very letters, and its case where that matters."""
        starts, ends = reading.offsets(np.array([start]), np.array([end]))
        said = reading.text[starts[0] : ends[0]]
        return (
            spelling.spell(said) if self._exact[label] else spelling.fold(said)
        ) == self._spelled[label]

    def _longest(self, candidates: list[Span]) -> list[Span]:
        """Of the candidates those that stay: one by one the longest, then the earlier, that
        overlaps none before.
        """
        chosen: list[Span] = []
        for candidate in sorted(candidates, key=lambda each: (-len(self.labels[each[2]]), each[0])):
            at = bisect_left(chosen, candidate)
            if (at == 0 or chosen[at - 1][1] <= candidate[0]) and (
                at == len(chosen) or chosen[at][0] >= candidate[1]
            ):
                insort(chosen, candidate)
        return chosen


def _rows(*columns: Ints) -> Iterator[tuple[int, ...]]:
    """Columns as rows of Python's own numbers."""
    return zip(*(column.tolist() for column in columns), strict=True)


def _negated(codes: npt.NDArray[np.uint8], ends: Ints) -> Bools:
    """Where a word goes on as “n't”: English cuts before the n, so “don't” does not end in a word
    “don”.
    """
    return (
        (codes[ends] == APOSTROPHE) & (codes[ends + 1] == ord("t")) & (codes[ends - 1] == ord("n"))
    )


def _is_negated(codes: bytes, end: int) -> bool:
    return codes[end - 1 : end + 2] == b"n't"


def _patterns(reader: TextReader, words: WordList) -> list[_Pattern]:
    return [_pattern(reader, words, number, label) for number, label in enumerate(words.labels)]


def _pattern(reader: TextReader, words: WordList, number: int, label: str) -> _Pattern:
    codes = reader.encode(spelling.fold(label))
    end = next((i for i, code in enumerate(codes) if not reader.word[code]), len(codes))
    if end == 0:
        raise ValueError(f"label {label!r} does not begin with a letter or digit")
    parts = [bytes([code]) for code in codes[end:]]
    forms = {b" ": GAP, b"-": b"-" + AFTER_HYPHEN}
    tail = re.compile(b"".join(forms.get(part) or re.escape(part) for part in parts))
    sure = label not in words.exact and OTHER not in codes and not reader.doubtful
    following = codes[end : end + 1]
    return _Pattern(codes[:end], BLANKS if following == b" " else following, tail, sure, number)
