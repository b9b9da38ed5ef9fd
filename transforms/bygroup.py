"""Words of lists without pronouns as items: counterparts by role (age, religion), or by the list's own pairs.

What a label is in its place, noun or adjective, is read from its neighbours; a label whose role there has no word in the
target group is not exchanged.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from evenflow.transforms import agreement, english, people, sets
from evenflow.transforms.binding import may_be_name, said_of_named
from evenflow.transforms.labels import Mention
from evenflow.transforms.placing import ADVERBS, DETERMINER, NEXT, is_compound, part_of_speech
from evenflow.transforms.roles import ADJECTIVE, COLLECTIVE, NOUN, Companions, Role, RoleMap
from evenflow.transforms.sets import Item
from evenflow.transforms.wordsets import WORD, WordSets
from evenflow.wordlists import spelling
from evenflow.wordlists.loader import WordList

PLACE = "place of worship"
PLACES = frozenset((PLACE, "places of worship"))
CLERGY = frozenset(("clergy", "senior clergy"))
ANY_FAITH = frozenset(("priest", "clergymen"))  # roles whose words several faiths have
# Those who live in a monastery: two faiths have none.
MONASTIC = english.words("monastic")
WITHOUT_MONKS = ("islam", "judaism")
TEMPLES = frozenset(("temple", "temples"))
# A temple is one faith's only beside its name.
TEMPLE = re.compile(r"\b(hindu|buddhist|jewish)\s+(temples?)\b", re.IGNORECASE)
KIN = re.compile(
    r"(?:\b(?:my|your|his|her|our|their|its|whose|own)|['’]s?)\s+(?:[\w-]+\s+){0,2}$|"
    r"\b(?:ha(?:ve|s|d|ving)|rais(?:e|es|ed|ing)|bear|bears|bore|bearing|want(?:s|ed)?|expect(?:s|ed|ing)|wish(?:es|ed)? for|"
    r"father(?:s|ed|ing)|mother(?:s|ed|ing)|with|without|and)\s+(?:an?|no|any|more|two|three|four|five|six|seven|\d+|small|young|other|"
    r"their|the)*\s*$",
    re.IGNORECASE,
)
OFFSPRING = english.words("offspring")
SMALL = re.compile(
    r"\b(?:young|little|small|tiny|unborn|illegitimate|healthy|sick|adopted|missing|grown|eldest|youngest)\s+$", re.I
)
# One person alone: what ends in s behind it is a verb («a retiree volunteers»).
ONE = re.compile(r"\b(?:an?|this|that|each|every|one|another)\s+(?:[\w-]+\s+)?$", re.IGNORECASE)
NON = re.compile(r"\bnon[\s-]$", re.IGNORECASE)
SMALL_CHILDREN = frozenset(
    ("child", "children", "kid", "kids", "infant", "infants", "toddler", "toddlers", "newborn", "newborns")
)
SIMILE = re.compile(r"\blike\s+an?\s+(?:[\w-]+\s+){0,2}$", re.IGNORECASE)
VOCATIVE = re.compile(r"[,!?]\s*$|\b(?:now|ok|okay|hey|hi|hello|well|remember|sorry)\s+$", re.IGNORECASE)
# Determined as a number of people, not as somebody's.
COUNTED = re.compile(
    r"\b(?:an?|this|that|these|those|some|many|most|several|few|every|each|all|two|three|four|five|six|seven|eight|nine|ten|dozen|"
    r"hundreds of|group of|bunch of|another|one|any|\d+)\s+(?:[\w'’-]+\s+)?$|^\W*the\s+(?:[\w'’-]+\s+)?$",
    re.IGNORECASE,
)
PEOPLE_AFTER = english.words("people_after")
# Things of a faith that are facts of its own: another faith's name makes them false.
OWN_THINGS = english.words("own_things")
PREDICATE = re.compile(r"\b(?:as|is|was|be|being|become|became|of|or|and|non|a)[\s-]+(?:\w+\s+)?$", re.IGNORECASE)
# Before words for a certain person or thing.
CERTAIN = re.compile(
    r"\b(?:the|this|that|these|those|his|her|their|my|our|your)\s+(?:(?!(?:all|every|each|hes|shes|is|are)\b)[\w'’-]+\s+){0,1}$",
    re.IGNORECASE,
)
SHORTEST = 30  # characters up to which it is looked whether a sentence is but a word or two, which say nothing of who is meant
GENERAL = re.compile(r"\b(?:every|all|most|many|some|not all|no|any|few)\s+(?:[\w-]+\s+)?$", re.IGNORECASE)


class ByGroup:
    """The items of a list without pronouns."""

    def __init__(self, words: WordList, roles: RoleMap):
        self.words = words
        self.roles = roles
        self._clergy = {role for each in roles.by_word.values() for role in each if role.name in CLERGY}
        self._words = {label: spelling.fold(label) for label in words.labels}
        self._companion = Companions(roles)

    def items(self, text: str, sentences: Sequence[tuple[int, int]], mentions: Sequence[Mention], words: WordSets) -> list[Item]:
        """The items of a text in its order; mentions are in order too, each within a sentence.

        Companions (words of the same role map that are no labels) are found in the sentences that have a mention and in
        the two after each.
        """
        starts = [start for start, _ in sentences]
        items: list[Item] = []
        of_work = bool(mentions) and people.is_caseless(text) and people.is_about_a_work(text)
        for mention in mentions:
            place = bisect_right(starts, mention.start) - 1
            if place < 0 or mention.end > sentences[place][1]:
                continue
            item = Item(mention.start, mention.end, self._words[mention.label], mention.group, NOUN, place, mention)
            self._describe(text, sentences[place], item, of_work)
            items.append(item)
        if items and self.roles.companions:
            items += self._companions(text, sentences, items, words)
        items.sort(key=lambda item: item.start)
        self._bar_named(text, sentences, items)
        self._join(text, items)
        by_place: dict[int, set[str]] = {}
        for item in items:
            if item.weight:
                by_place.setdefault(item.sentence, set()).add(item.group)
        for item in items:
            if len(by_place.get(item.sentence, ())) > 1:
                item.lower(0.2, sets.COMPARED)
        return items

    def _bar_named(self, text: str, sentences: Sequence[tuple[int, int]], items: Sequence[Item]) -> None:
        """Lower the confidence of what is said of named people, and tell certain people from a group in general."""
        if not items:
            return
        caseless = people.is_caseless(text)
        known: dict[int, list[people.Person]] = {}

        def named(place: int) -> list[people.Person]:
            if place not in known:
                found = people.named(text, *sentences[place], caseless)
                known[place] = [each for each in found if spelling.fold(text[each.start : each.end]) not in self.roles.by_word]
            return known[place]

        for item in items:
            start, end = sentences[item.sentence]
            if len(WORD.findall(text[start:end] if end - start <= SHORTEST else "a b c")) <= 2:
                item.lower(0.4, sets.UNSURE)
            item.particular = CERTAIN.search(text, max(start, item.start - 40), item.start) is not None
            if item.mention is None:
                continue
            before = any(each.sure for place in range(max(0, item.sentence - 2), item.sentence) for each in named(place))
            if said_of_named(text, sentences[item.sentence], item, named(item.sentence), before):
                item.lower(0.2, sets.NAMED)
            elif before and item.particular and self.roles.by_word.get(item.word, (None,))[0] in self._clergy:
                item.lower(0.45, sets.UNSURE)  # «the good reverend», whose name was given

    def _companions(self, text: str, sentences: Sequence[tuple[int, int]], items: Sequence[Item], words: WordSets) -> list[Item]:
        places = sorted({place for item in items for place in range(item.sentence, item.sentence + 3)})
        spans = sorted((item.start, item.end) for item in items)
        items_at = {item.end: item for item in items}
        out: list[Item] = []
        for place in places:
            if place >= len(sentences):
                break
            for match in self._companion.find(text, *sentences[place], words[place]):
                at = bisect_left(spans, (match.end(),)) - 1
                if at >= 0 and spans[at][1] > match.start():
                    continue
                word = spelling.fold(match[0])
                role = self.roles.by_word[word][0]
                beside = items_at.get(match.start() - 1)  # «Hindu priest» is no Christian
                item = Item(match.start(), match.end(), word, self.roles.groups[word], NOUN, place, None)
                if beside is not None and beside.kind == ADJECTIVE and role.name in ANY_FAITH:
                    item.group = beside.group
                self._exchange(text, item, role)
                before = text[max(sentences[place][0], item.start - 40) : item.start]
                if role.name == PLACE and not DETERMINER.search(before) and not KIN.search(before):  # «to church»
                    item.replacements = {
                        group: other if group == "christianity" else f"the {other}" for group, other in item.replacements.items()
                    }
                out.append(item)
            for match in TEMPLE.finditer(text, *sentences[place]):
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

    def _describe(self, text: str, sentence: tuple[int, int], item: Item, of_work: bool) -> None:
        """Find the item's role in its place, and what it would become."""
        roles = self.roles.by_word.get(item.word, ())
        if not roles:
            self._by_pairs(text, item)
            return
        before = text[max(sentence[0], item.start - 60) : item.start]
        after = text[item.end : min(sentence[1], item.end + 40)]
        part = part_of_speech(before, after, {role.part for role in roles})
        item.kind = part
        role = next((role for role in roles if role.part == part), None)
        if role is None:
            item.lower(0.0, sets.SENSE if part != NOUN else sets.NO_COUNTERPART)
            return
        following = NEXT.match(after)
        thing = following[1].lower() if following else ""
        if NON.search(before):
            item.lower(0.2, sets.COMPARED)
        verb = role.number == "singular" and thing.endswith("s") and not thing.endswith("ss") and ONE.search(before)
        if part == NOUN and role.number != "any" and not verb and is_compound(thing):
            item.lower(0.1, sets.SENSE)  # «child actor», «kid brother»
        if item.word in SMALL_CHILDREN and of_work:
            item.lower(0.4, sets.WORK)
        if item.word in OFFSPRING:
            _check_offspring(item, before, after)
        if item.word in SMALL_CHILDREN and re.match(r"['’]", after):
            item.lower(0.1, sets.SENSE)  # «child's play»
        if re.match(r"-\w", after) and item.kind == NOUN:
            item.lower(0.1, sets.SENSE)  # «child-rearing»
        if part == NOUN and role.number == "singular" and not DETERMINER.search(before) and not PREDICATE.search(before):
            item.lower(0.3, sets.SENSE)  # a name, or one half of a compound
        if role.name in CLERGY and not DETERMINER.search(before) and not KIN.search(before):
            item.lower(0.3, sets.NAMED)  # «terrific as Bishop»
        if part == ADJECTIVE and thing and text[item.start].islower() and may_be_name(thing):
            known = thing in ADVERBS or people.is_person_noun(thing) or thing in PEOPLE_AFTER or thing in self.roles.by_word
            if not known:
                item.lower(0.4, sets.NAMED)  # «the jewish guido»
        if part == COLLECTIVE and thing in people.first_names():
            item.lower(0.1, sets.NAMED)
        if self.words.attribute == "age" and part == ADJECTIVE and thing and not people.is_person_noun(thing):
            item.lower(0.3, sets.SENSE)
        if self.words.attribute == "religion" and part == ADJECTIVE:
            if thing in OWN_THINGS:
                item.lower(0.3, sets.DOCTRINE)
            elif thing and thing not in PEOPLE_AFTER and thing not in self.roles.by_word and thing not in TEMPLES:
                item.lower(0.6, sets.DOCTRINE)
        if GENERAL.search(before):
            item.lower(0.55, sets.DOCTRINE)
        said = text[item.start : item.end]
        if said[0].isupper() and re.match(r",?\s+(?-i:[A-Z][a-z])", after) and item.word not in ("christian", "muslim", "jewish"):
            item.lower(0.15, sets.NAMED)  # «Bishop Wilmot», «Pastor John»
        if part != ADJECTIVE and re.match(r"\s+(?-i:[A-Z][a-z]+ [A-Z])", after):
            item.lower(0.15, sets.NAMED)
        self._exchange(text, item, role)
        if thing in MONASTIC:
            item.replacements = {group: word for group, word in item.replacements.items() if group not in WITHOUT_MONKS}
        if not item.replacements:
            item.lower(0.0, sets.NO_COUNTERPART)

    def _by_pairs(self, text: str, item: Item) -> None:
        """Counterparts from the list's own pairs, for lists without a role map."""
        label = item.mention.label if item.mention is not None else item.word
        for other in self.words.counterparts.get(label, ()):
            group = self.words.groups[self.words.labels[other]]
            said = text[item.start : item.end]
            if group != item.group and group not in item.replacements and spelling.fold(other) != item.word:
                item.replacements[group] = agreement.recase(said, label, other)
        if not item.replacements:
            item.lower(0.0, sets.NO_COUNTERPART)

    def _join(self, text: str, items: list[Item]) -> None:
        """«evangelical Christian», «Roman Catholic priest»: neighbours of one group become one word, not two."""
        for first, second in pairwise(items):
            between = text[first.end : second.start]
            if first.group != second.group or first.kind != ADJECTIVE or between not in (" ", "-"):
                continue
            if second.mention is None or self.roles.by_word.get(second.word, (None,))[0] in self._clergy:
                # «Catholic priest» → «imam», «Hindu temple» → «Christian church», «Jewish synagogue» → «mosque»
                place = second.word in TEMPLES or self.roles.by_word[second.word][0].name in PLACES
                kept = {"christianity", "hinduism", "buddhism"} if place else set[str]()
                first.replacements = {
                    group: other if group in kept else ""
                    for group, other in first.replacements.items()
                    if group in second.replacements
                }
                if any(not other for other in first.replacements.values()):
                    first.gap = second.start
                continue
            if second.word in self.roles.by_word and any(
                first.replacements.get(group, "").lower().split(" ")[0] == other.lower().split(" ")[0]
                for group, other in second.replacements.items()
            ):
                first.gap = second.start
                first.replacements = dict.fromkeys(first.replacements, "")


def _check_offspring(item: Item, before: str, after: str) -> None:
    """Children that are somebody's, are small, or are spoken of as children: nobody of another age is meant by that."""
    if KIN.search(before) or SMALL.search(before):
        item.lower(0.1, sets.SENSE)
    if VOCATIVE.search(before) and re.match(r"\s*(?:[.,!?]|$)", after):
        item.lower(0.2, sets.IDIOM)
    if SIMILE.search(before):
        item.lower(0.3, sets.IDIOM)
    begins = not before.strip(" \"“‘'")
    if not begins and not COUNTED.search(before):
        item.lower(0.45, sets.SENSE)
