"""Finds label mentions: whole words, the longest label first, in any case or in the list's case.

- A word is a run of letters, marks and digits. Every other character is a boundary. Apostrophes and
  hyphens are boundaries too, unless a longer listed label covers them: “women's” and “man-made”
  mention “women” and “man”. But “don't” has no “don”: English cuts it before the n. An underscore
  within a word joins (“is_male”), around a word it is emphasis (“_her_”).
- Of overlapping labels, the one with more characters wins, then the earlier one. Attributes do not
  affect each other.
- Between the words of a label there may be any blanks with at most one line break. A label's hyphen
  may end a line.
- A combining mark belongs to its letter: “fiance” with a mark is another word. Characters that a
  reader does not see within a word are skipped. `evenflow.wordlists.spelling` defines which
  spellings are the same.
- Links, e-mail addresses and @handles are not searched (`evenflow.transforms.text.links`). Hashtags
  are.
- A list may be searched in texts of its language alone (`WordList.only`), or not in texts that are
  surely of another one (`WordList.guess`).
- A mention is the label alone, without “'s” or the full stop of “Mr.”. Its offsets are those of the
  text as given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evenflow.transforms.labels import register
from evenflow.transforms.labels.firstwords import FirstWords
from evenflow.transforms.labels.matching import (
    AttributeMatcher,
    FinderMatcher,
    Found,
    Ints,
    compile_labels,
    to_rows,
)
from evenflow.transforms.text import language
from evenflow.transforms.text.reading import TextReader
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList

# Joins texts that are searched together. Neither a sentence nor a label crosses a blank line.
BETWEEN = "\n\n"


@dataclass(frozen=True)
class Mention:
    """A label in a text, at text[start:end]."""

    start: int
    end: int
    label: str
    attribute: str
    group: str


class LabelFinder:
    """Finds the labels of several attributes in one pass over a text, each attribute on its own."""

    def __init__(self, lists: Sequence[WordList]):
        self.lists = tuple(lists)
        self._reader = TextReader(spelling.fold(label) for words in lists for label in words.labels)
        patterns = [[] if words.finder else compile_labels(self._reader, words) for words in lists]
        firsts = sorted({pattern.first for each in patterns for pattern in each})
        self._firsts = FirstWords(firsts, self._reader)
        self._attributes = [
            FinderMatcher(words, words.finder)
            if words.finder is not None
            else AttributeMatcher(words, own, firsts, self._reader)
            # What is found has the order of the lists.
            for words, own in zip(self.lists, patterns, strict=True)
        ]

    def find(self, text: str) -> list[Mention]:
        """Find all mentions in a text.

        Returns:
            The mentions, attribute by attribute, each in the text's order.
        """
        return self.named(self.find_all(text))

    def named(self, found: Sequence[Found]) -> list[Mention]:
        """Convert the arrays of `find_all` to mentions with names.

        Returns:
            The mentions, attribute by attribute, each in the text's order.
        """
        return [
            Mention(start, end, attribute.labels[label], words.attribute, words.groups[group])
            for words, attribute, each in zip(self.lists, self._attributes, found, strict=True)
            for start, end, label, group in to_rows(
                each.starts, each.ends, each.labels, each.groups
            )
        ]

    def labels(self, attribute: int) -> list[str]:
        """List the labels of an attribute.

        Returns:
            The labels in the order of the indices in `Found.labels`.
        """
        return self._attributes[attribute].labels

    def find_all(self, text: str, spoken: str | None = None) -> list[Found]:
        """Find all mentions in a text as arrays.

        Args:
            text: The text of one document, or a part of it.
            spoken: Its language; None: where it matters, it is detected.

        Returns:
            One Found for each attribute; offsets are those of the text as given.

        Raises:
            PluginTextError: A plug-in failed.
        """
        return self.find_together([text], None if spoken is None else [spoken])[2]

    def find_together(
        self, texts: Sequence[str], languages: Sequence[str | None] | None = None
    ) -> tuple[str, Ints, list[Found]]:
        """Find all mentions in several documents; each has those that it has alone.

        Args:
            languages: Their languages; None: where they matter, they are detected. None of a text
                in which every list is searched.

        Returns:
            The texts joined by BETWEEN; where each begins there, (D,); and one Found for each
            attribute, with offsets in the joined text.

        Raises:
            PluginTextError: A plug-in failed.
        """
        joined = BETWEEN.join(texts)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts)) + len(BETWEEN)
        begins = np.cumsum(lengths) - lengths
        reading = self._reader.read(joined)
        hits = self._firsts.find(reading.codes)
        found = [
            attribute.search(reading, hits, begins)
            if isinstance(attribute, AttributeMatcher)
            else attribute.search(texts, begins)
            for attribute in self._attributes
        ]
        registers: dict[int, int] = {}
        for number, words in enumerate(self.lists):
            codes = words.only or (words.language.split() if words.guess is not None else ())
            learnt, seen = words.attribute in register.LEARNT, found[number]
            if not (codes or learnt) or not len(seen.starts):
                continue
            owners = np.searchsorted(begins, seen.starts, "right") - 1
            kept = np.ones(len(owners), bool)
            if codes:
                spoken = self._spoken(words, texts) if languages is None else languages
                kept = np.array([each is None or each in codes for each in spoken], bool)[owners]
            if learnt:
                fresh = set(np.unique(owners).tolist()) - registers.keys()
                registers |= register.registers_of(texts, fresh)
                kept &= register.of_prose(
                    texts, begins, owners, seen.starts, seen.ends, seen.labels, registers
                )
            found[number] = seen if kept.all() else seen.take(kept)
        return joined, begins, found

    def _spoken(self, words: WordList, texts: Sequence[str]) -> Sequence[str | None]:
        """The languages of texts, as a list asks for them."""
        if words.only:
            return list(map(language.detect, texts))
        return [language.other(text, words.guess or ()) for text in texts]


def pieces(texts: Sequence[str], most: int) -> Iterator[tuple[int, int]]:
    """Group texts that are searched together.

    Args:
        most: Characters of a group at most. A longer text is alone.

    Yields:
        First and last index of each group, the last excluded.
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
    """Remove the sentence starts that lie inside a mention, so that a label is not cut in two.

    Args:
        bounds: The sentence starts, (n,).

    Returns:
        The other starts, in order.
    """
    kept = np.ones(len(bounds), bool)
    for each in found:
        # The last mention that starts before the bound
        before = np.searchsorted(each.starts, bounds, "left") - 1
        if len(each.ends):
            kept &= ~((before >= 0) & (each.ends[before] > bounds))
    return bounds[kept]
