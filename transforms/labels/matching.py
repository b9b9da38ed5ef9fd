"""Matches the labels of one attribute at the words that labels begin with."""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evenflow.transforms.labels.firstwords import Bools, Hits
from evenflow.transforms.labels.forms import Forms
from evenflow.transforms.text.reading import (
    BLANK,
    BREAK,
    OTHER,
    RETURN,
    TextBytes,
    TextReader,
)
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import Finder, WordList

Ints = npt.NDArray[np.int64]
Span = tuple[int, ...]  # start and end in the codes, index of the label
# Between a label's words: blanks with at most one line break, so never a blank line. The
# quantifiers are possessive (“++”): to try a megabyte of blanks again from every blank on would not
# end.
GAP = rb"(?: ++(?:\r?\n|\r)?+ *+|(?:\r?\n|\r) *+)"
BLANKS = bytes([BLANK, BREAK, RETURN])
AFTER_HYPHEN = rb"(?: *+(?:\r?\n|\r) *+)?+"


@dataclass(frozen=True)
class Found:
    """The n mentions of one attribute in the text's order; each field is (n,) int64.

    Attributes:
        starts: Start offsets in characters.
        ends: End offsets in characters.
    """

    starts: Ints
    ends: Ints
    labels: Ints
    groups: Ints

    def take(self, chosen: Bools) -> Found:
        """Some of the mentions, by a mask (n,)."""
        return Found(*(each[chosen] for each in vars(self).values()))


NOTHING = Found(*(np.zeros(0, np.int64) for _ in range(4)))


@dataclass(frozen=True)
class LabelPattern:
    """A label as bytes.

    `next`: The bytes that may come next; empty where the first word is the whole label. `second`:
    Its second word, if blanks part it from the first. `sure`: Whether equal bytes are an equal
    label.
    """

    first: bytes
    next: bytes
    second: bytes
    tail: bytes
    sure: bool
    label: int


class AttributeMatcher:
    """Finds the labels of one attribute by their first words.

    `patterns`: Its labels as bytes.
    """

    def __init__(
        self, words: WordList, patterns: list[LabelPattern], firsts: list[bytes], reader: TextReader
    ):
        self.labels = list(words.labels)
        self._group_of = np.array([words.labels[label] for label in self.labels], np.int64)
        self._reader = reader
        self._forms = Forms(self.labels, words.labels)
        self._exact = [label in words.exact for label in self.labels]
        spelled = {label: spelling.spell(label) for label in words.exact}
        self._spelled = [spelled.get(label) or spelling.fold(label) for label in self.labels]
        places = {first: place for place, first in enumerate(firsts)}
        # The place decides a word that is a label and begins no other. For other words, the byte
        # that follows decides.
        self._single = np.full(len(firsts), -1, np.int64)
        self._several = np.zeros((len(firsts), 256), bool)
        # By the second word too: hundreds of labels may begin with “the”
        self._patterns: dict[tuple[int, bytes], list[LabelPattern]] = {}
        within = re.escape(bytes(code for code in range(256) if reader.word[code]))
        self._second = re.compile(GAP + b"([" + within + b"]++)")
        for pattern in patterns:
            place = places[pattern.first]
            self._patterns.setdefault((place, pattern.second), []).append(pattern)
            if pattern.next:
                self._several[place, list(pattern.next)] = True
            elif pattern.sure:
                self._single[place] = pattern.label
            else:
                self._several[place] = True
        self._concerns = self._single >= 0
        self._concerns |= self._several.any(axis=1)

    def search(self, reading: TextBytes, hits: Hits, begins: Ints) -> Found:
        """Find the attribute's mentions.

        `begins`: Where each document begins in the text, (D,).
        """
        chosen = self._concerns[hits.places].nonzero()[0]
        if not len(chosen) and not reading.line_ends:
            return NOTHING
        hits = hits.take(chosen)
        labels = self._single[hits.places]
        labels[hits.negated] = -1
        starts, ends = hits.starts, hits.ends
        several = self._several[hits.places, hits.after]
        if several.any():
            starts, ends, labels = self._decide(reading, hits, labels, several)
        named = labels >= 0
        labels = labels[named]
        starts, ends, labels = self._forms.decide(
            reading, starts[named], ends[named], labels, begins
        )
        return Found(starts, ends, labels, self._group_of[labels])

    def _decide(
        self, reading: TextBytes, hits: Hits, labels: Ints, several: Bools
    ) -> tuple[Ints, Ints, Ints]:
        """Starts, ends and labels after the choice where several labels could begin with a word."""
        candidates = [
            candidate
            for start, end, place in to_rows(
                hits.starts[several], hits.ends[several], hits.places[several]
            )
            for candidate in self._candidates(reading, start, end, place)
        ]
        # A word that a longer label might cover is a candidate too.
        spans = np.array([candidate[:2] for candidate in candidates], np.int64).reshape(-1, 2)
        reach = np.maximum.accumulate(spans[:, 1])
        before = np.searchsorted(spans[:, 0], hits.starts, "right") - 1
        covered = ~several & (labels >= 0) & (before >= 0)
        covered[covered] = reach[before[covered]] > hits.starts[covered]
        candidates += to_rows(hits.starts[covered], hits.ends[covered], labels[covered])
        chosen = np.array(self._longest(candidates), np.int64).reshape(-1, 3)
        free = ~several & ~covered
        starts = np.concatenate((hits.starts[free], chosen[:, 0]))
        order = np.argsort(starts, kind="stable")
        ends = np.concatenate((hits.ends[free], chosen[:, 1]))
        return starts[order], ends[order], np.concatenate((labels[free], chosen[:, 2]))[order]

    def _candidates(self, reading: TextBytes, start: int, end: int, place: int) -> list[Span]:
        """Start, end and label of each label that matches at a word."""
        codes, word = reading.codes, self._reader.word
        out: list[Span] = []
        patterns = self._patterns.get((place, b""), [])
        if second := self._second.match(codes, end):
            patterns = patterns + self._patterns.get((place, second[1]), [])
        for pattern in patterns:
            match = _tail(pattern.tail).match(codes, end)
            if match is None:
                continue
            stop = match.end()
            if word[codes[stop - 1]] and (
                (stop < len(codes) and word[codes[stop]]) or _is_negated(codes, stop)
            ):
                continue
            if pattern.sure or self._is_spelled_as(reading, start, stop, pattern.label):
                out.append((start, stop, pattern.label))
        return out

    def _is_spelled_as(self, reading: TextBytes, start: int, end: int, label: int) -> bool:
        """Whether the text has the label's very letters, and its case where that matters."""
        starts, ends = reading.offsets(np.array([start]), np.array([end]))
        written = reading.text[starts[0] : ends[0]]
        spell = spelling.spell if self._exact[label] else spelling.fold
        return spell(written) == self._spelled[label]

    def _longest(self, candidates: list[Span]) -> list[Span]:
        """The candidates that remain: the longest first, then the earlier, without overlaps."""
        chosen: list[Span] = []
        for candidate in sorted(candidates, key=lambda each: (-len(self.labels[each[2]]), each[0])):
            at = bisect_left(chosen, candidate)
            if (at == 0 or chosen[at - 1][1] <= candidate[0]) and (
                at == len(chosen) or chosen[at][0] >= candidate[1]
            ):
                insort(chosen, candidate)
        return chosen


class FinderMatcher:
    """Finds the mentions of one attribute by a finder, document by document."""

    def __init__(self, words: WordList, finder: Finder):
        self.labels = list(words.labels)
        self._group_of = np.array([words.labels[label] for label in self.labels], np.int64)
        self._find = finder.find

    def search(self, texts: Sequence[str], begins: Ints) -> Found:
        """Find the attribute's mentions.

        `begins`: Where each begins in the joined text, (D,).
        """
        spans = [
            (begin + start, begin + end, label)
            for begin, text in zip(begins.tolist(), texts, strict=True)
            for start, end, label in self._find(text)
        ]
        starts, ends, labels = np.array(spans, np.int64).reshape(-1, 3).T
        return Found(starts, ends, labels, self._group_of[labels])


def to_rows(*columns: Ints) -> Iterator[tuple[int, ...]]:
    """Convert columns to rows of Python numbers."""
    return zip(*(column.tolist() for column in columns), strict=True)


def _is_negated(codes: bytes, end: int) -> bool:
    """Whether a word that ends there goes on as “n't”."""
    return codes[end - 1 : end + 2] == b"n't"


def compile_labels(reader: TextReader, words: WordList) -> list[LabelPattern]:
    """Compile the labels of a list.

    Returns the labels as bytes, in the list's order.
    """
    return [
        _compile_label(reader, words, number, label) for number, label in enumerate(words.labels)
    ]


def _compile_label(reader: TextReader, words: WordList, number: int, label: str) -> LabelPattern:
    """A label as bytes."""
    codes = reader.codes(spelling.fold(label))
    end = next((i for i, code in enumerate(codes) if not reader.word[code]), len(codes))
    if end == 0:
        raise ValueError(f"label {label!r} does not begin with a letter or digit")
    sure = label not in words.exact and OTHER not in codes and not reader.doubtful
    following = codes[end : end + 1]
    second = b""
    if following == b" ":
        following = BLANKS
        stop = next(
            (i for i in range(end + 1, len(codes)) if not reader.word[codes[i]]), len(codes)
        )
        second = codes[end + 1 : stop]
    return LabelPattern(codes[:end], following, second, codes[end:], sure, number)


@lru_cache(maxsize=1 << 14)
def _tail(codes: bytes) -> re.Pattern[bytes]:
    """What follows a label's first word; of thousands of labels a text asks for few."""
    forms = {b" ": GAP, b"-": b"-" + AFTER_HYPHEN}
    parts = (bytes([code]) for code in codes)
    return re.compile(b"".join(forms.get(part) or re.escape(part) for part in parts))
