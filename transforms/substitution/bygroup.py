"""Items of lists without pronouns, such as age and religion.

Their counterparts come from the role map, or from the list's own pairs. The neighbours of a label
decide whether it is a noun or an adjective there. A label whose role in that place has no word in
the target group is not exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from evenflow.transforms.labels.finder import Mention
from evenflow.transforms.substitution import agreement, base_cda, persons, sets
from evenflow.transforms.substitution.persons import Chain
from evenflow.transforms.substitution.placing import DETERMINER, part_of_speech
from evenflow.transforms.substitution.roles import ADJECTIVE, Companions, Role, RoleMap
from evenflow.transforms.substitution.sets import Item
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList

REACH = 80  # characters before and after a label that decide its part of speech
BARE = "church"  # a building that English names without an article: “to church” → “to the mosque”
FURTHER = 3  # sentences in which companions are searched for, that of the mention included


class ByGroup:
    """Finds the items of a list without pronouns.

    Args:
        roles: Its role map, which may be empty.
        draws: Whether one of several words that are as good is drawn; see `Substituter`.
    """

    def __init__(self, words: WordList, roles: RoleMap, draws: bool = False):
        self._draws = draws
        self.words = words
        self.roles = roles
        self._words = {label: spelling.fold(label) for label in words.labels}
        self._companion = Companions(roles)

    def find_chains(
        self, text: str, sentences: Sequence[tuple[int, int]], mentions: Sequence[Mention]
    ) -> list[Chain]:
        """Find the items of a text and group those that change together.

        Companions (words of the role map that are no labels) are searched for in the sentences that
        have a mention and in the two after each.

        Args:
            sentences: (start, end) in order.
        """
        items = sets.place_mentions(sentences, mentions, self._words)
        number = base_cda.draw_for(text) if items and self._draws else 0
        for item in items:
            self._describe(text, sentences[item.sentence], item, number)
        if items and self.roles.companions:
            near = {
                place for item in items for place in range(item.sentence, item.sentence + FURTHER)
            }
            beside = self._companion.find_beside(
                text, sentences, sorted(each for each in near if each < len(sentences)), items
            )
            items += [
                self._with_replacements(text, sentences, item, role, number)
                for item, role in list(beside)
            ]
            items.sort(key=lambda item: item.start)
        self._join(text, items)
        return persons.join_stories(text, items)

    def _with_replacements(
        self,
        text: str,
        sentences: Sequence[tuple[int, int]],
        item: Item,
        role: Role,
        number: int,
    ) -> Item:
        """A companion with its replacements."""
        self._replace(text, item, role, number)
        start = sentences[item.sentence][0]
        if item.word == BARE and not DETERMINER.search(
            text[max(start, item.start - REACH) : item.start]
        ):
            item.replacements = {group: f"the {word}" for group, word in item.replacements.items()}
        return item

    def _replace(self, text: str, item: Item, role: Role, number: int) -> None:
        """Set the replacements of an item to words of a role, which a number chooses."""
        original = text[item.start : item.end]
        canonical = self.roles.canonical.get(item.word, item.word)
        for group in self.words.groups:
            word = role.target(group, number)
            if group != item.group and word is not None:
                item.replacements[group] = agreement.recase(original, canonical, word)

    def _describe(self, text: str, sentence: tuple[int, int], item: Item, number: int) -> None:
        """Find the item's role in its place, and its replacements."""
        roles = self.roles.by_word.get(item.word, ())
        if not roles:
            self._replace_by_pairs(text, item)
            return
        start, end = sentence
        before, after = (
            text[max(start, item.start - REACH) : item.start],
            text[item.end : min(end, item.end + REACH)],
        )
        item.kind = part_of_speech(before, after, {role.part for role in roles})
        role = next((role for role in roles if role.part == item.kind), None)
        if role is not None:
            self._replace(text, item, role, number)
        if not item.replacements:
            item.refuse(sets.NO_COUNTERPART)

    def _replace_by_pairs(self, text: str, item: Item) -> None:
        """Set the replacements from the list's own pairs, for lists without a role map."""
        label = item.mention.label if item.mention is not None else item.word
        for other in self.words.counterparts.get(label, ()):
            group = self.words.groups[self.words.labels[other]]
            original = text[item.start : item.end]
            if (
                group != item.group
                and group not in item.replacements
                and spelling.fold(other) != item.word
            ):
                item.replacements[group] = agreement.recase(original, label, other)
        if not item.replacements:
            item.refuse(sets.NO_COUNTERPART)

    def _join(self, text: str, items: list[Item]) -> None:
        """Join neighbours of one group to one word: “evangelical Christian”, “Catholic priest”."""
        for first, second in pairwise(items):
            if (
                first.group != second.group
                or first.kind != ADJECTIVE
                or text[first.end : second.start] not in (" ", "-")
            ):
                continue
            # The second word's replacement stands for both: “Roman Catholic priest” → “imam”,
            # “youthful teenager” → “retiree”.
            first.replacements = dict.fromkeys(
                first.replacements.keys() & second.replacements.keys(), ""
            )
            first.gap = second.start
