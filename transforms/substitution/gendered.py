"""Gendered words in a text as items: what each would become on the other side, and which are no person's at all.

For lists that have «she» and «he» among their labels. Generic «man», verbs («to father a child»), God's «He», pairs that are
even already («he or she», «men and women») and capitalised names («Dairy Queen») keep little or no confidence.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from evenflow.transforms import people
from evenflow.transforms.labels import Mention
from evenflow.transforms.substitution import (
    agreement,
    choosing,
    coordination,
    counting,
    gendered_nouns,
    gendered_pronouns,
    pronouns,
    sets,
)
from evenflow.transforms.substitution.roles import Companions, RoleMap
from evenflow.transforms.substitution.said import Said
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.titles import Titles
from evenflow.transforms.substitution.wordkinds import kind_of
from evenflow.transforms.substitution.wordsets import WordSets
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList

OFFICE = re.compile(r"\b(?:shop|union|church|wine)\s$", re.IGNORECASE)  # «the shop steward», who may be anybody
NEAR = 3  # sentences within which a pronoun goes on with a person, though an animal begins its own


def is_gendered(words: WordList) -> bool:
    """Whether a list has «she» and «he» in different groups, of two."""
    return len(words.groups) == 2 and words.labels.get("she", 0) != words.labels.get("he", 0)


class Gendered:
    """The items of a list that has pronouns."""

    def __init__(self, words: WordList, roles: RoleMap):
        self.words = words
        self.roles = roles
        self.female = words.groups[words.labels["she"]]
        self.male = words.groups[words.labels["he"]]
        self.sexes = {self.female: people.FEMALE, self.male: people.MALE}
        self._pair: dict[str, str] = {}
        for label in words.labels:
            key = spelling.fold(label)
            others = words.counterparts.get(label, ())
            other = roles.prefer.get(key) or (others[0] if others else "")
            self._pair[key] = "" if spelling.fold(other) == key else other
        self._choices = {
            spelling.fold(label): choosing.with_roles(pairs, roles.by_word.get(spelling.fold(label), ()))
            for label, pairs in choosing.paired(words).items()
        }
        self._words = {label: spelling.fold(label) for label in words.labels}
        self._companion = Companions(roles)

    def other(self, group: str) -> str:
        """The other group."""
        return self.male if group == self.female else self.female

    def items(self, text: str, sentences: Sequence[tuple[int, int]], mentions: Sequence[Mention], words: WordSets) -> list[Item]:
        """The items of a text in its order, pronouns without their replacements; mentions are in order, each in a sentence."""
        starts = [start for start, _ in sentences]
        items: list[Item] = []
        taken: set[int] = set()
        for mention in mentions:
            sentence = bisect_right(starts, mention.start) - 1
            if sentence < 0 or mention.end > sentences[sentence][1]:
                continue
            word = self._words[mention.label]
            items.append(Item(mention.start, mention.end, word, mention.group, kind_of(word), sentence, mention))
            taken.add(sentence)
        if self._companion.are_in(words.whole):
            # «The saleswoman showed us two. She …»: whoever is meant may stand in the sentence before
            taken |= {place - 1 for place in taken if place}
            items += self._companions(text, sentences, sorted(taken), items, words)
            items.sort(key=lambda item: item.start)
        self._check(text, sentences, items, words)
        for item in items:
            if item.kind != "pronoun":  # these only where they are needed: `replace_pronoun`
                self._replace(text, item)
        coordination.bar_even(text, items, self._pair, sentences)
        if not words.caseless:
            counting.check(text, sentences, items, words)
        return items

    def _check(self, text: str, sentences: Sequence[tuple[int, int]], items: Sequence[Item], words: WordSets) -> None:
        """Lower the confidence of items, in the text's order, by what stands beside them."""
        capitals = not words.caseless
        titles = Titles(text)
        said: Said | None = None
        place, first = -1, -1  # the sentence, and where its first female word begins
        last: dict[str, int] = {}  # by group, the last sentence so far that has somebody
        for item in items:
            if said is None or item.sentence != place:
                place, first = item.sentence, -1
                said = Said(text, *sentences[place], words[place], capitals)
            if first < 0 and item.group == self.female:
                first = item.start
            if item.kind == "pronoun":
                beside = place - last.get(item.group, -NEAR) < NEAR
                gendered_pronouns.check(said, item, item.group == self.male, first, beside)
            elif item.kind == "title":
                titles.check(item)
            else:
                gendered_nouns.check(said, item)
            if item.weight >= 0.5:
                last[item.group] = place
        if titles.any:
            titles.settle(items, words.of_report)

    def _companions(
        self, text: str, sentences: Sequence[tuple[int, int]], places: Sequence[int], items: Sequence[Item], words: WordSets
    ) -> list[Item]:
        out: list[Item] = []
        for item, role in self._companion.beside(text, sentences, places, items, words):
            if OFFICE.search(text, max(0, item.start - 10), item.start):
                continue
            item.kind = "adjective" if role.part == "adjective" else kind_of(item.word)
            out.append(item)
        return out

    def replace_pronoun(self, text: str, item: Item) -> None:
        """Set what a pronoun would become, which takes a look at the words around it."""
        word, sure = pronouns.counterpart(text, item.start, item.end)
        if sure < 0.8:
            item.lower(max(sure, pronouns.LEAST), sets.UNSURE)
        said = text[item.start : item.end]
        item.replacements[self.other(item.group)] = agreement.recase(said, said.lower(), word)

    def _replace(self, text: str, item: Item) -> None:
        """Set what a word that is no pronoun would become."""
        said = text[item.start : item.end]
        label = item.word if item.mention is None else self._words[item.mention.label]
        word = self._pair.get(label) or ""
        if item.mention is not None:
            item.choices, item.canonical = self._choices.get(label, {}), said.lower()
        if not word and label in self.roles.by_word:
            word = self.roles.by_word[label][0].target(self.other(item.group)) or ""
        if not word:
            item.lower(0.0, sets.NO_COUNTERPART)
            return
        item.replacements[self.other(item.group)] = agreement.recase(said, said.lower(), word)
