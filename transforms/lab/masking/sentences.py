"""Finds the sentences that name a group of an attribute, with the words that do and their forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from evenflow.schemas.errors import UsageError
from evenflow.transforms.labels.finder import LabelFinder, uncut
from evenflow.transforms.substitution import agreement, roles, sets
from evenflow.transforms.substitution.bygroup import ByGroup
from evenflow.transforms.substitution.gendered import Gendered, is_gendered
from evenflow.transforms.substitution.sets import Edit, Item
from evenflow.transforms.text.sentences import bounds, trimmed
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList

LONGEST = 1000  # characters: a longer sentence is a table or a list


class NoPairsError(UsageError):
    """An attribute whose words have no counterparts in other groups."""


@dataclass(frozen=True)
class Word:
    """A word that names a group, at text[start:end] of its sentence."""

    start: int
    end: int
    folded: str
    group: str
    kind: str
    counterparts: Mapping[str, str]
    even: bool = False
    proper: bool = False


@dataclass(frozen=True)
class Sentence:
    """A sentence that names a group."""

    text: str
    start: int
    words: tuple[Word, ...]


class SentenceFinder:
    """Finds the sentences of documents that name a group."""

    def __init__(self, words: WordList, without: Iterable[str] = ()):
        self.list = words
        self._without = {spelling.fold(word) for word in without}
        role_map = roles.of(words)
        if not words.counterparts and not role_map.by_word:
            raise NoPairsError(
                f"{words.attribute}: its words have no counterparts in other groups; give its list"
                f" pairs, or put roles into {words.role_map}"
            )
        self._gendered = Gendered(words, role_map) if is_gendered(words) else None
        self._source = self._gendered or ByGroup(words, role_map)
        self._finder = LabelFinder([words])
        self._proper = {
            spelling.fold(each)
            for each in (*words.labels, *role_map.canonical.values())
            if each != each.lower()
        }

    def find(self, text: str) -> Iterator[Sentence]:
        """Find the sentences of a document that name a group."""
        found = self._finder.find_all(text)
        mentions = self._finder.named(found)
        if not mentions:
            return
        spans = trimmed(text, uncut(bounds(text), found).tolist())
        chains = self._source.find_chains(text, spans, mentions)
        by_place: dict[int, list[Item]] = {}
        for item in sorted((each for chain in chains for each in chain), key=lambda i: i.start):
            if item.word not in self._without:
                by_place.setdefault(item.sentence, []).append(item)
        for place, items in sorted(by_place.items()):
            start, end = spans[place]
            if end - start > LONGEST or not any(item.mention for item in items):
                continue
            own = self._words(text, start, items)
            yield Sentence(text[start:end], start, tuple(own))

    def _words(self, text: str, start: int, items: list[Item]) -> list[Word]:
        """The words of items; an item that is said together with the next one is one with it."""
        out: list[Word] = []
        joined: Word | None = None
        for item in items:
            if item.kind == "pronoun" and self._gendered is not None:
                self._gendered.replace_pronoun(text, item)
            word = Word(
                item.start - start,
                item.end - start,
                item.word,
                item.group,
                item.kind,
                {group: each for group, each in item.replacements.items() if each},
                item.refusal == sets.EVEN,
                item.kind == "title" or item.word in self._proper,
            )
            if joined is not None:  # “Catholic priest”
                word = replace(
                    word,
                    start=joined.start,
                    folded=f"{joined.folded} {word.folded}",
                    proper=joined.proper or word.proper,
                )
            if item.gap:
                joined = word
                continue
            out.append(word)
            joined = None
        return out


def replaced(text: str, word: Word, by: str, end: int | None = None) -> list[Edit]:
    """The edits that put a replacement in a word's place.

    `end`: Character after the last that is replaced; None: where the word ends.
    """
    original = text[word.start : word.end]
    stop = word.end if end is None else end
    if word.kind in ("noun", "plural") and end is None:
        stop, by = agreement.fit_possessive(text, word.end, original, by)
    article = agreement.edit_article(text, word.start, original, by)
    return [*([Edit(*article)] if article else []), Edit(word.start, stop, by)]
