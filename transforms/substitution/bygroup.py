"""Words of lists without pronouns as items: counterparts by role (age, religion), or by the list's own pairs.

What a label is in its place, noun or adjective, is read from its neighbours; a label whose role there has no word in the
target group is not exchanged.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from evenflow.transforms import english, people
from evenflow.transforms.labels import Mention
from evenflow.transforms.people import Person
from evenflow.transforms.substitution import (
    ages,
    agreement,
    attacks,
    believers,
    choosing,
    comparing,
    headlines,
    leads,
    peoples,
    senses,
    sets,
)
from evenflow.transforms.substitution.binding import may_be_name, said_of_named
from evenflow.transforms.substitution.leads import POSSESSIVES
from evenflow.transforms.substitution.placing import DETERMINER, NEXT, part_of_speech
from evenflow.transforms.substitution.roles import ADJECTIVE, NOUN, Companions, Role, RoleMap
from evenflow.transforms.substitution.senses import CLERGY, TEMPLES, Beside
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.wordsets import WORD, WordSets
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList

PLACE = "place of worship"
OUTSIDER = "outsider"  # «a nonmuslim», «nonmuslim people»: one word for both, but for «nonjewish»
PLACES = frozenset((PLACE, "places of worship"))
ANY_FAITH = frozenset(("priest", "clergymen"))  # roles whose words several faiths have
PRIESTS = frozenset(("priest", "priests"))
KEPT_BEFORE_CLERGY = {"hinduism"}  # whose clergy few know by their titles alone
# Those who live in a monastery: two faiths have none.
MONASTIC = english.words("monastic")
WITHOUT_MONKS = ("islam", "judaism")
# A temple is one faith's only beside its name.
TEMPLE = re.compile(r"\b(hindu|buddhist|jewish)\s+(temples?)\b", re.IGNORECASE)
ADHERENTS_TOGETHER = "adherents"
ANTI = re.compile(r"\banti[\s-]$", re.IGNORECASE)
# Before words for a certain person or thing.
CERTAIN = leads.after(f"(the|this|that|these|those|{POSSESSIVES})", 1, but="all|every|each|hes|shes|is|are")
ALL_OF_THEM = frozenset(("population", "people", "community", "religion", "faith"))
MANY = frozenset(("these", "those"))
BEFORE_FIRST = " \t\n\"“‘'«(–—-"  # what stands before a sentence's first word
GOING_ON = re.compile(r"[\w,]\s+$")  # what stands before a word that begins nothing
REACH = 80  # characters before and after a label that tell what it is
SHORTEST = 30  # characters up to which it is looked whether a sentence is but a word or two, which say nothing of who is meant


class ByGroup:
    """The items of a list without pronouns."""

    def __init__(self, words: WordList, roles: RoleMap):
        self.words = words
        self.roles = roles
        self._clergy = {role for each in roles.by_word.values() for role in each if role.name in CLERGY}
        self._words = {label: spelling.fold(label) for label in words.labels}
        self._companion = Companions(roles)
        self._paired = choosing.paired(words)
        self._branches = comparing.branches_of(roles)
        # Words for many of a group, and those that a text has which speaks of a faith.
        self._many = {word for word, known in roles.by_word.items() if known[0].name == ADHERENTS_TOGETHER}
        self._spoken = self._many | senses.FAITH_NAMES | senses.FAITHS

    def items(self, text: str, sentences: Sequence[tuple[int, int]], mentions: Sequence[Mention], words: WordSets) -> list[Item]:
        """The items of a text in its order; mentions are in order too, each within a sentence.

        Companions (words of the same role map that are no labels) are found in the sentences that have a mention and in
        the two after each.
        """
        starts = [start for start, _ in sentences]
        items: list[Item] = []
        caseless = bool(mentions) and words.caseless
        of_work = caseless and words.of_work
        of_faith = caseless and not self._spoken.isdisjoint(words.whole)
        for mention in mentions:
            place = bisect_right(starts, mention.start) - 1
            if place < 0 or mention.end > sentences[place][1]:
                continue
            item = Item(mention.start, mention.end, self._words[mention.label], mention.group, NOUN, place, mention)
            self._describe(text, sentences[place], item, caseless, of_work, of_faith)
            items.append(item)
        if items and self.roles.companions:
            items += self._companions(text, sentences, items, words)
        items.sort(key=lambda item: item.start)
        self._bar_named(text, sentences, items, words)
        self._join(text, items)
        comparing.bar(text, sentences, items, self._branches, caseless)
        if self.words.attribute == "religion":
            peoples.bar(text, sentences, items)
            attacks.bar(text, sentences, items, words)
        return items

    def _bar_named(self, text: str, sentences: Sequence[tuple[int, int]], items: Sequence[Item], words: WordSets) -> None:
        """Lower the confidence of what is said of named people, and tell certain people from a group in general."""
        if not items:
            return
        known: dict[int, list[Person]] = {}

        def named(place: int) -> list[Person]:
            if place not in known:
                known[place] = self._named(text, sentences[place], words.named(place))
            return known[place]

        famous = words.caseless and not people.KNOWN_SURNAMES.isdisjoint(words.whole)
        for item in items:
            start, end = sentences[item.sentence]
            if famous and believers.is_said_by_name(text[max(start, item.start - REACH) : item.start]):
                item.lower(0.3, sets.NAMED)
            if len(WORD.findall(text[start:end] if end - start <= SHORTEST else "a b c")) <= 2:
                item.lower(0.4, sets.UNSURE)
            item.particular = self._is_certain(text, start, end, item, words.caseless)
            if item.mention is None:
                continue
            before = any(each.sure for place in range(max(0, item.sentence - 2), item.sentence) for each in named(place))
            if said_of_named(text, sentences[item.sentence], item, named(item.sentence), before):
                item.lower(0.2, sets.NAMED)
            elif ANTI.search(text, max(start, item.start - 5), item.start) and (
                named(item.sentence) or _says_full_name(text[start:end])
            ):
                item.lower(0.3, sets.NAMED)  # what a named person stands for is a fact
            elif before and item.particular and self.roles.by_word.get(item.word, (None,))[0] in self._clergy:
                item.lower(0.45, sets.UNSURE)  # «the good reverend», whose name was given
            elif self.words.attribute == "age" and not words.caseless and ages.is_told_of(text, item, items, named):
                item.lower(0.45, sets.REFERS)  # «Emeka joined in May. … The teenager never missed one.»

    def _is_certain(self, text: str, start: int, end: int, item: Item, caseless: bool) -> bool:
        """Whether certain people are meant; «the muslim population» is all of them, and in a comment so are «those muslims»."""
        lead = CERTAIN.search(text, max(start, item.start - 40), item.start)
        if lead is None:
            return False
        following = NEXT.match(text, item.end, end)
        return not (
            (following is not None and following[1].lower() in ALL_OF_THEM)
            or (caseless and lead[1].lower() in MANY and item.start - lead.end(1) == 1)
            or (caseless and lead[1].lower() == "that" and following is not None and following[1].endswith("s"))
        )

    def _named(self, text: str, sentence: tuple[int, int], found: Sequence[Person]) -> list[Person]:
        """Of the people found in a sentence those who are some: no label is a name, nor is one with the sentence's first word."""
        start, end = sentence
        said = text[start:end]
        if headlines.is_headline(said):  # its capitals name nobody
            lowered = said.lower()
            small = people.named(lowered, 0, len(lowered), True) if len(lowered) == len(said) else []
            return [each._replace(start=each.start + start, end=each.end + start) for each in small]
        begins = end - len(said.lstrip(BEFORE_FIRST))
        out: list[Person] = []
        for each in found:
            words = text[each.start : each.end].split()
            others = [word for word in words if word != "I" and spelling.fold(word) not in self.roles.by_word]
            first = each.start == begins and others == words[:1] and words[0].lower() not in people.first_names()
            if others and (others == words or not first):  # «Devout Catholic», «Three Muslim»
                out.append(each)
        return out

    def _companions(self, text: str, sentences: Sequence[tuple[int, int]], items: Sequence[Item], words: WordSets) -> list[Item]:
        near = {place for item in items for place in range(item.sentence, item.sentence + 3)}
        items_at = {item.end: item for item in items}
        out: list[Item] = []
        for place in sorted(place for place in near if place < len(sentences)):
            for item, role in self._companion.beside(text, sentences, (place,), items, words):
                beside = items_at.get(item.start - 1)  # «Hindu priest» is no Christian
                if beside is not None and beside.kind == ADJECTIVE and role.name in ANY_FAITH:
                    item.group = beside.group
                self._exchange(text, item, role)
                before = text[max(sentences[place][0], item.start - 40) : item.start]
                if role.name == OUTSIDER and "judaism" in item.replacements:
                    after = text[item.end : min(sentences[place][1], item.end + REACH)]
                    if part_of_speech(before, after, {NOUN, ADJECTIVE}) == ADJECTIVE:
                        item.replacements["judaism"] += "ish"
                if role.name == PLACE and not DETERMINER.search(before) and not senses.OWNED.search(before):  # «to church»
                    item.replacements = {
                        group: other if group == "christianity" else f"the {other}" for group, other in item.replacements.items()
                    }
                out.append(item)
            for match in TEMPLE.finditer(text, *sentences[place]) if TEMPLES & words[place] else ():
                group = self.roles.groups.get(match[1].lower())
                number = match[2].lower()
                known = self.roles.by_word.get("mosque" + number.removeprefix("temple"), ())
                role = next((role for role in known if role.name in PLACES), None)
                if group is None or role is None:
                    continue
                item = Item(match.start(2), match.end(2), number, group, NOUN, place, None)
                self._exchange(text, item, role)
                out.append(item)
        return out

    def _exchange(self, text: str, item: Item, role: Role) -> None:
        said = text[item.start : item.end]
        canonical = self.roles.canonical.get(item.word, item.word)
        for group in self.words.groups:
            word = role.target(group)
            if group != item.group and word is not None:
                item.replacements[group] = agreement.recase(said, canonical, word)
        if item.mention is not None:
            item.choices, item.canonical = role.words, canonical

    def _describe(self, text: str, sentence: tuple[int, int], item: Item, caseless: bool, of_work: bool, of_faith: bool) -> None:
        """Find the item's role in its place, and what it would become."""
        roles = self.roles.by_word.get(item.word, ())
        if not roles:
            self._by_pairs(text, item)
            return
        start, end = sentence
        before = text[max(start, item.start - REACH) : item.start]
        after = text[item.end : min(end, item.end + REACH)]
        following = NEXT.match(after)
        thing = following[1].lower() if following else ""
        if caseless and thing in self._many and believers.begins_anew(before):
            after = thing = ""
        part = part_of_speech(before, after, {role.part for role in roles})
        item.kind = part
        role = next((role for role in roles if role.part == part), None)
        if role is None:
            item.lower(0.0, sets.SENSE if part != NOUN else sets.NO_COUNTERPART)
            return
        bare = headlines.needs_no_article(text[start : item.start], text[item.end : end])
        said = text[item.start : item.end]
        titled = said.istitle() and GOING_ON.search(before) is not None and not headlines.is_headline(text[start:end])
        beside = Beside(before, after, thing, said, caseless, of_work, bare, titled, of_faith)
        senses.weigh(item, role, beside, self.words.attribute, self.roles.by_word)
        self._exchange(text, item, role)
        if thing in MONASTIC:
            item.replacements = {group: word for group, word in item.replacements.items() if group not in WITHOUT_MONKS}
        if not item.replacements:
            item.lower(0.0, sets.NO_COUNTERPART)

    def _by_pairs(self, text: str, item: Item) -> None:
        """Counterparts from the list's own pairs, for lists without a role map."""
        label = item.mention.label if item.mention is not None else item.word
        item.choices, item.canonical = self._paired.get(label, {}), label
        for other in self.words.counterparts.get(label, ()):
            group = self.words.groups[self.words.labels[other]]
            said = text[item.start : item.end]
            if group != item.group and group not in item.replacements and spelling.fold(other) != item.word:
                item.replacements[group] = agreement.recase(said, label, other)
        if not item.replacements:
            item.lower(0.0, sets.NO_COUNTERPART)

    def _join(self, text: str, items: list[Item]) -> None:
        """Neighbours of one group become one word: «evangelical Christian», «Roman Catholic priest», «youthful teenager»."""
        for first, second in pairwise(items):
            between = text[first.end : second.start]
            if first.group != second.group or first.kind != ADJECTIVE or between not in (" ", "-"):
                continue
            if first.word == second.word:
                continue  # a slip of the keys
            if second.mention is None or self.roles.by_word.get(second.word, (None,))[0] in self._clergy:
                # «Catholic priest» → «imam», «Hindu temple» → «Christian church», «Jewish synagogue» → «mosque»
                place = second.word in TEMPLES or self.roles.by_word[second.word][0].name in PLACES
                kept = {"christianity", "hinduism", "buddhism"} if place else KEPT_BEFORE_CLERGY
                if second.word in PRIESTS:  # «a Catholic priest» → «a Hindu priest»
                    second.replacements |= {
                        group: text[second.start : second.end] for group in kept if group in second.replacements
                    }
                first.replacements = {
                    group: other if group in kept else ""
                    for group, other in first.replacements.items()
                    if group in second.replacements
                }
                if any(not other for other in first.replacements.values()):
                    first.gap = second.start
                continue
            same = any(
                first.replacements.get(group, "").lower().split(" ")[0] == other.lower().split(" ")[0]
                for group, other in second.replacements.items()
            )
            # «youthful teenager» → «retiree», whose age says itself
            if second.word in self.roles.by_word and (same or self.words.attribute == "age"):
                first.gap = second.start
                first.replacements = dict.fromkeys(first.replacements, "")


def _says_full_name(sentence: str) -> bool:
    """Whether a first name and a word that is none of the language's follow each other, in whatever letters."""
    said = WORD.findall(sentence.lower())
    return any(
        first in people.first_names() and (may_be_name(last) or last in people.KNOWN_SURNAMES) for first, last in pairwise(said)
    )
