"""Phrases, each a regular expression that begins with letters, indexed so that few of them are tried on a sentence.

At a word only the phrases are tried that may begin with it, and of these those whose other words are in the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

WORDS_KEPT = 1 << 16  # different words of which it is kept which phrases may begin with them, some MB
LETTERS_ALONE = re.compile(r"(?:[a-z]|\\w[*+]?|\?(?![=!<])|\(\?:|\||\))+")  # of a rule's first word
Kind = TypeVar("Kind")


class Phrase(NamedTuple, Generic[Kind]):
    """A phrase of a rule: its place among those of a word, what is in all that it matches, whole words too, its
    first word where that can be said, and all of it."""

    number: int
    holds: str
    needs: frozenset[str]
    first: re.Pattern[str] | None
    rule: Kind
    whole: re.Pattern[str]


class Beginning(Generic[Kind]):
    """The phrases that may begin with a word, and at which of them it is worth to look."""

    def __init__(self, word: str, phrases: Sequence[Phrase[Kind]]):
        self._needing: dict[str, list[Phrase[Kind]]] = {}  # by another word that each of them has
        self._holding: list[Phrase[Kind]] = []
        for phrase in phrases:
            needed = sorted(phrase.needs - {word})
            if needed:
                self._needing.setdefault(max(needed, key=len), []).append(phrase)
            else:
                self._holding.append(phrase)
        self._needed = frozenset(self._needing)

    def possible(self, folded: str, words: frozenset[str]) -> list[Phrase[Kind]]:
        """Those that a sentence in lower case, of these words, may have."""
        out = [phrase for phrase in self._holding if phrase.holds in folded] if self._holding else []
        if not self._needed.isdisjoint(words):
            for word in self._needed & words:
                out += [phrase for phrase in self._needing[word] if phrase.holds in folded]
            out.sort(key=itemgetter(0))
        return out


class Phrases(Generic[Kind]):
    """Phrases of several kinds (say, rules), by the words that they may begin with."""

    def __init__(self) -> None:
        self._phrases: dict[str, list[Phrase[Kind]]] = {}  # by the letters of a word, with a blank after a whole one
        self.at = lru_cache(WORDS_KEPT)(self._at)
        self._idle: set[str] = set()  # words that no phrase begins with

    def add(self, phrase: str, kind: Kind) -> None:
        """Add a phrase, before any is looked for."""
        whole = re.compile(rf"(?:{phrase})(?!\w)", re.IGNORECASE)
        found = Phrase(0, holds(phrase), whole_words(phrase), first_word(phrase), kind, whole)
        for start in starts(phrase):
            self._phrases.setdefault(start, []).append(found)

    def _at(self, word: str) -> Beginning[Kind] | None:
        """The phrases that may begin with a word in lower case; None if there are none."""
        keys = [word + " ", *(word[:size] for size in range(len(word), -1, -1))]
        # In the order of the keys, which is that in which they are tried: the longest beginning first.
        phrases = [
            phrase for key in keys for phrase in self._phrases.get(key, ()) if not phrase.first or phrase.first.match(word)
        ]
        return Beginning(word, [phrase._replace(number=number) for number, phrase in enumerate(phrases)]) if phrases else None

    def beginnings(self, words: frozenset[str]) -> list[tuple[str, Beginning[Kind]]]:
        """The words that some phrase may begin with, in an order that is the same in every process."""
        if len(self._idle) > WORDS_KEPT:
            self._idle.clear()
        out: list[tuple[str, Beginning[Kind]]] = []
        for word in words - self._idle:
            found = self.at(word)
            if found is None:
                self._idle.add(word)
            else:
                out.append((word, found))
        out.sort(key=itemgetter(0))
        return out


def starts(phrase: str) -> list[str]:
    """The letters that a phrase may begin with, a blank after a whole word; one empty text where that cannot be said."""
    group = re.match(r"\(\?:([^()|]+(?:\|[^()|]+)*)\)(?![?*{])(.*)", phrase)
    begins = [option + group[2] for option in group[1].split("|")] if group else [phrase]
    out: set[str] = set()
    for each in begins:
        match = re.match(r"[a-z]+ ?|", each)
        letters = match[0] if match else ""
        rest = each[len(letters) :]
        apostrophe = re.match(r"\['’\]\?([a-z]+)(?![?*{])", rest) if letters[-1:].isalpha() else None
        if apostrophe is not None:  # «c'mon», «cmon»
            out |= {letters + " ", letters + apostrophe[1]}
            continue
        if rest[:1] in ("?", "*", "{"):
            letters = letters[:-1]
        elif letters[-1:].isalpha() and re.match(r"(?:/|\[- \])(?![?*{])", rest):  # «s/he»: a whole word
            letters += " "
        out.add(letters)
    return [""] if "" in out else sorted(out)


def holds(phrase: str) -> str:
    """The most letters, blanks and slashes in a row that are in all that a phrase matches; empty where that cannot be said."""
    if re.search(r"\|(?![^(]*\))", phrase):  # outside of brackets, or of the last ones
        return ""
    while (inner := re.sub(r"\\.|\[[^\]]*\]|\([^()]*\)", "#", phrase)) != phrase:
        phrase = inner
    runs = re.findall(r"([a-z /]+)([?*{]?)", phrase)
    return max((run[:-1] if optional else run for run, optional in runs), key=len, default="")


def first_word(phrase: str) -> re.Pattern[str] | None:
    """What a phrase's first word has to match; None where it may not end with a blank, or is not made of letters alone."""
    first, _, rest = phrase.partition(" ")
    if LETTERS_ALONE.fullmatch(first) is None or first.count("(") != first.count(")") or rest[:1] in ("?", "*", "{"):
        return None
    if "|" in re.sub(r"\([^()]*\)", "", first):
        return None
    return re.compile(rf"{first}(?!\w)", re.IGNORECASE)


def whole_words(phrase: str) -> frozenset[str]:
    """Whole words that are in all that a phrase matches, as far as can be said."""
    if re.search(r"\|(?![^(]*\))", phrase):
        return frozenset()
    while (inner := re.sub(r"\\.|\[[^\]]*\]|\([^()]*\)", "#", phrase)) != phrase:
        phrase = inner
    return frozenset(re.findall(r"(?:^|(?<= ))[a-z]+(?= (?![?*{])|$)", phrase))
