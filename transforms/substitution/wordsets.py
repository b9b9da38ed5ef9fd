"""What is known of a text's sentences, found once and only if asked for: the different words of each, and who is named in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from evenflow.transforms import people, registers
from evenflow.transforms.people import Person
from evenflow.transforms.substitution import narration, reports

WORD = re.compile(r"\w+")
# ASCII text in small letters, with a blank for all that is in no word: far faster to part at blanks than to search for WORD.
PLAIN = bytes(ord(chr(code).lower()) if WORD.match(chr(code)) else ord(" ") for code in range(128)) + bytes(128)


class WordSets:
    """The words of a text's sentences, in lower case: what tells without a search that a sentence has nothing of some kind.

    sentences: (start, end) in order.
    """

    def __init__(self, text: str, sentences: Sequence[tuple[int, int]]):
        self._text = text
        self._sentences = sentences
        self._plain = _plain(text) if text.isascii() else ""  # of the whole text at once: far faster than by sentences
        self._known: dict[int, frozenset[str]] = {}
        self._named: dict[int, list[Person]] = {}

    def __getitem__(self, place: int) -> frozenset[str]:
        known = self._known.get(place)
        if known is None:
            start, end = self._sentences[place]
            said = self._plain[start:end].split() if self._plain else words_of(self._text[start:end])
            known = self._known[place] = frozenset(said)
        return known

    @cached_property
    def caseless(self) -> bool:
        """Whether the text is written without capitals."""
        return registers.is_caseless(self._text)

    @cached_property
    def of_work(self) -> bool:
        """Whether the text says much of a film, a play or a book."""
        return registers.is_about_a_work(self._text, self.whole)

    @cached_property
    def of_report(self) -> bool:
        """Whether the text is an edited one that names whom it quotes."""
        return not self.caseless and reports.is_report(self._text)

    @cached_property
    def of_news(self) -> bool:
        """Whether a report is on the news, and no story with dialogue: it has words for who makes news."""
        return self.of_report and len(reports.NEWSMAKERS & self.whole) >= reports.FEWEST

    @cached_property
    def of_story(self) -> bool:
        """Whether the text is a piece of a story with dialogue, no news, whose people have names."""
        return not self.caseless and narration.is_story(self._text) and not self.of_news

    @cached_property
    def _articles(self) -> list[int]:
        return reports.breaks(self._text)

    def article(self, at: int) -> tuple[int, int]:
        """Start and end of the article that a place of the text is in."""
        after = bisect_right(self._articles, at)
        return self._articles[after - 1], self._articles[after] if after < len(self._articles) else len(self._text)

    def named(self, place: int) -> list[Person]:
        """The named people of a sentence, in its order."""
        known = self._named.get(place)
        if known is None:
            known = self._named[place] = self._people(place)
        return known

    def _people(self, place: int) -> list[Person]:
        if self.caseless:
            return self._small.get(place, [])
        start, end = self._sentences[place]
        return people.named(self._text, start, end, False, self[place] if self._text[start : start + 1].islower() else None)

    @cached_property
    def _small(self) -> dict[int, list[Person]]:
        """The named people of a text without capitals, by sentence, each in its order."""
        out: dict[int, list[Person]] = {}
        for person in people.named(self._text, 0, len(self._text), True, self.whole):
            place = self.place_of(person.start)
            if self._sentences[place][0] <= person.start < self._sentences[place][1]:
                out.setdefault(place, []).append(person)
        return out

    @cached_property
    def whole(self) -> frozenset[str]:
        """The different words of the text."""
        return frozenset(self._plain.split()) if self._plain else words_of(self._text)

    def place_of(self, at: int) -> int:
        """The number of the sentence that a place of the text is in."""
        return max(0, bisect_right(self._starts, at) - 1)

    @cached_property
    def _starts(self) -> list[int]:
        return [start for start, _ in self._sentences]


def words_of(said: str) -> frozenset[str]:
    """The different words of a text, in lower case."""
    if said.isascii():
        return frozenset(_plain(said).split())
    return frozenset(WORD.findall(said.lower()))


def _plain(said: str) -> str:
    """ASCII text in small letters, character by character, with a blank for all that is in no word."""
    return said.encode().translate(PLAIN).decode()
