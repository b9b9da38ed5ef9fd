"""Phrases, each a regular expression that begins with letters, indexed so that few of them are tried on a sentence.

Many need some longer word, and are looked at only in a sentence that has it; the others where a word may begin them.
"""

from __future__ import annotations

import re
from functools import cache
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

RARE = 4  # letters from which a needed word is seldom in a sentence that has nothing of a phrase
WORDS_KEPT = 1 << 16  # different words of which it is kept which phrases may begin with them, some MB
SHORTEST = 3  # letters from which a word is worth a look whether a sentence has it
QUANTIFIER = re.compile(r"(?:(?:[?*+]|\{[\d,]*\})\??)?")
CHARACTERS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")
LOOKS_AHEAD = ("(?=", "(?!")
Kind = TypeVar("Kind")


class Phrase(NamedTuple, Generic[Kind]):
    """A phrase of a rule, or one of the options that it begins with.

    start: see `starts`. rank: its place among those that may begin with one word, the longest beginning first. holds, needs:
    letters and whole words that are in all that it matches; most: the most of these letters in a row; one_of: words of which
    one is in all that it matches, empty where that cannot be said.
    """

    start: str
    rank: tuple[int, int]
    most: str
    holds: tuple[str, ...]
    needs: frozenset[str]
    one_of: frozenset[str]
    rule: Kind
    pattern: str

    @property
    def whole(self) -> re.Pattern[str]:
        """All of it; most are never tried."""
        return _compiled(self.pattern)

    def may_be_in(self, folded: str, words: frozenset[str]) -> bool:
        """Whether a sentence in lower case, of these words, that has the most of the letters, has all the letters and words."""
        if self.one_of and self.one_of.isdisjoint(words):
            return False
        return self.needs <= words and (len(self.holds) < 2 or all(map(folded.__contains__, self.holds)))

    def begins(self, words: frozenset[str]) -> list[str]:
        """The words of a sentence that it may begin with."""
        if self.start.endswith(" "):
            word = self.start[:-1]
            return [word] if word in words else []
        return [word for word in words if word.startswith(self.start)]


class Phrases(Generic[Kind]):
    """Phrases of several kinds (say, rules)."""

    def __init__(self) -> None:
        self.every: list[Phrase[Kind]] = []
        # Phrases with the letters that each must have, since most of them fail at these.
        self._needing: dict[str, list[tuple[str, Phrase[Kind]]]] = {}  # by the longest of the words that each of them needs
        self._free: dict[str, list[tuple[str, Phrase[Kind]]]] = {}  # the others, by the letters that they begin with
        # By word, the free ones that may begin with it, and those that need it.
        self._at: dict[str, tuple[list[tuple[str, Phrase[Kind]]], list[tuple[str, Phrase[Kind]]]]] = {}
        self._idle: set[str] = set()  # words that have neither

    def add(self, phrase: str, kind: Kind) -> None:
        """Add a phrase, before any is looked for; ValueError for one that does not begin with letters.

        Such a phrase would be tried at every word of every sentence.
        """
        for option in options(phrase):
            needs, letters, some = whole_words(option), holds(option), one_of(option)
            rarest = max(sorted(needs), key=len, default="")
            for start in starts(option):
                if not start:
                    raise ValueError(f"phrase {phrase!r}: letters were expected at its beginning")
                rank = (-len(start), len(self.every))
                found = Phrase(start, rank, letters[0] if letters else "", letters, needs, some, kind, option)
                self.every.append(found)
                if len(rarest) >= RARE:
                    self._needing.setdefault(rarest, []).append((found.most, found))
                else:
                    self._free.setdefault(start, []).append((found.most, found))

    def possible(self, folded: str, words: frozenset[str]) -> list[tuple[str, tuple[int, int], Phrase[Kind]]]:
        """What a sentence in lower case, of these words, may have: the word that it begins with, its rank, the phrase.

        In the order of these, which is the same in every process.
        """
        out: list[tuple[str, tuple[int, int], Phrase[Kind]]] = []
        for word in words - self._idle:
            free, needing = self._at.get(word) or self._look_up(word)
            for most, phrase in free:
                if most in folded and phrase.may_be_in(folded, words):
                    out.append((word, phrase.rank, phrase))
            for most, phrase in needing:
                if most in folded and phrase.may_be_in(folded, words):
                    out += [(begin, phrase.rank, phrase) for begin in phrase.begins(words)]
        out.sort(key=itemgetter(0, 1))
        return out

    def _look_up(self, word: str) -> tuple[list[tuple[str, Phrase[Kind]]], list[tuple[str, Phrase[Kind]]]]:
        """The phrases without a longer needed word that may begin with a word, and those that need it."""
        free = [each for key in (word + " ", *_beginnings(word)) for each in self._free.get(key, ())]
        needing = self._needing.get(word, [])
        if len(self._at) + len(self._idle) > WORDS_KEPT:
            self._at.clear()
            self._idle.clear()
        if free or needing:
            self._at[word] = free, needing
        else:
            self._idle.add(word)
        return free, needing


@cache
def _compiled(phrase: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{phrase})(?!\w)", re.IGNORECASE)


def _beginnings(word: str) -> list[str]:
    return [word[:size] for size in range(len(word) + 1)]


def options(phrase: str) -> list[str]:
    """A phrase as one for each option of the group that it begins with, if it does."""
    group = re.match(r"\(\?:([^()|]+(?:\|[^()|]+)*)\)(?![?*{])(.*)", phrase)
    return [option + group[2] for option in group[1].split("|")] if group else [phrase]


def starts(phrase: str) -> list[str]:
    """The letters that a phrase may begin with, a blank after a whole word; one empty text where that cannot be said."""
    match = re.match(r"[a-z]+ ?|", phrase)
    letters = match[0] if match else ""
    rest = phrase[len(letters) :]
    apostrophe = re.match(r"\['’\]\?([a-z]+)(?![?*{])", rest) if letters[-1:].isalpha() else None
    if apostrophe is not None:  # «c'mon», «cmon»
        return [letters + " ", letters + apostrophe[1]]
    if rest[:1] in ("?", "*", "{"):
        letters = letters[:-1]
    elif letters[-1:].isalpha() and re.match(r"(?:/|-|,\? |\[- \])(?![?*{])", rest):  # «s/he»: a whole word
        letters += " "
    return [letters]


def holds(phrase: str) -> tuple[str, ...]:
    """Letters, blanks, hyphens and slashes in a row that are in all that a phrase matches, the most first.

    None where that cannot be said.
    """
    phrase = _outside_brackets(phrase)
    if "|" in phrase:
        return ()
    runs = [run[:-1] if optional else run for run, optional in re.findall(r"([a-z /-]+)([?*{]?)", phrase)]
    return tuple(sorted({run for run in runs if run.strip()}, key=lambda run: (-len(run), run)))


def whole_words(phrase: str) -> frozenset[str]:
    """Whole words that are in all that a phrase matches, as far as can be said."""
    phrase = _outside_brackets(phrase)
    if "|" in phrase:
        return frozenset()
    return frozenset(re.findall(r"(?:^|(?<= ))[a-z]+(?= (?![?*{])|$)", phrase))


def one_of(phrase: str) -> frozenset[str]:
    """Whole words of which one is in all that a phrase matches, as one of its groups says; none where that cannot be said.

    Of several such groups the one without short words, which most sentences have.
    """
    if "|" in _outside_brackets(phrase):
        return frozenset()
    found: list[frozenset[str]] = []
    at, parted = 0, True  # parted: whether no word goes on there
    while at < len(phrase):
        end = _end_of_token(phrase, at)
        token, quantifier = phrase[at:end], QUANTIFIER.match(phrase, end)
        assert quantifier is not None
        at = quantifier.end()
        if token.startswith("(?:"):
            choices = _choices(token[3:-1])
            if parted and not quantifier[0] and _parts(phrase, at):
                found.append(_first_words(choices))
            parted = all(choice.endswith(" ") for choice in choices) and (parted or not quantifier[0])
        elif not token.startswith(LOOKS_AHEAD):
            parted = token == " " and not quantifier[0]
    least = [(min(map(len, words)), words) for words in found if words]
    shortest, words = max(least, key=itemgetter(0), default=(0, frozenset[str]()))
    return words if shortest >= SHORTEST else frozenset()


def _first_words(choices: list[str]) -> frozenset[str]:
    """The words that options begin with; none if one does not begin with a word of letters alone, or nearly so («rights?»)."""
    words: set[str] = set()
    for choice in choices:
        first = re.match(r"([a-z]+?)(?:([a-z])\?)?(?:$|[ -](?![?*{]))", choice)
        if first is None:
            return frozenset()
        words |= {first[1], first[1] + (first[2] or "")}
    return frozenset(words)


def _parts(phrase: str, at: int) -> bool:
    """Whether a word ends at a place of a phrase: behind it comes a blank, or nothing but what is only looked at."""
    while phrase.startswith(LOOKS_AHEAD, at):
        at = _end_of_token(phrase, at)
    return at == len(phrase) or (phrase[at] == " " and not phrase.startswith(("?", "*", "{"), at + 1))


def _end_of_token(phrase: str, at: int) -> int:
    """Where a character, a set of characters or a group ends that begins in a phrase at a place."""
    if phrase[at] == "\\":
        return at + 2
    if phrase[at] == "[":
        characters = CHARACTERS.match(phrase, at)
        assert characters is not None
        return characters.end()
    if phrase[at] != "(":
        return at + 1
    at += 1
    while phrase[at] != ")":
        at = _end_of_token(phrase, at)
    return at + 1


def _choices(group: str) -> list[str]:
    """The options of a group, given without its brackets."""
    out, begin, at = list[str](), 0, 0
    while at < len(group):
        if group[at] == "|":
            out.append(group[begin:at])
            begin = at + 1
        at = _end_of_token(group, at)
    return [*out, group[begin:]]


def _outside_brackets(phrase: str) -> str:
    """A phrase with # for each of its outermost brackets and sets of characters, and for what a backslash begins."""
    while (inner := re.sub(r"\\.|\[[^\]]*\]|\([^()]*\)", "#", phrase)) != phrase:
        phrase = inner
    return phrase
