"""What science finds on a sex, in edited texts: of animals, and of women or men as such. There the sex is the point.

«One was a male of the Narave type» in a text on pigs; «The strongest effect was found among women», as researchers say. Certain
people stay eligible: «a 43-year-old woman», «six men».
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenflow.transforms import english, people
from evenflow.transforms.substitution import leads, sets
from evenflow.transforms.substitution.coordination import PEOPLE_PLURAL, PEOPLE_SINGULAR
from evenflow.transforms.substitution.roles import COLLECTIVE, NOUN
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.wordsets import WordSets

SEXES = frozenset(("male", "female", "males", "females"))
ANIMALS = english.words("animals")
STUDIES = english.words("studies")
# «a dolphin … its mother», «the calf's mother»
KIN = frozenset(
    ("mother", "father", "mothers", "fathers", "daughter", "daughters", "son", "sons", "sister", "sisters", "brother", "brothers")
)
OF_IT = re.compile(r"\b(?:its|(\w+)['’]s?)\s+(?:own\s+)?(?:[\w-]+\s+)?$", re.IGNORECASE)
BEFORE, AFTER = 3, 1  # sentences about a word for a sex in which the animals are told of
# Some people, or certain ones: «the women», «six men», «many girls».
DETERMINED = leads.after(
    rf"an?|the|these|those|this|that|some|many|several|few|other|all|most|{leads.POSSESSIVES}|{leads.NUMBERS}|of|\d[\d,.]*", 2,
    but="of|to|and|or|in|among|for|with|by|on|at|that|than",
)  # fmt: skip
# Certain people of an age; «many teenagers» are what a study finds.
CERTAIN = leads.after(
    rf"the|these|those|this|that|{leads.POSSESSIVES}|{leads.NUMBERS}|\d[\d,.]*", 2, but="of|to|and|or|in|among|for|with|by|on"
)
POSSESSED = leads.after_possessor("whose", 1, but=r"\w+ed")  # «the study's women», but not «her answers categorised women»
REACH = 40  # characters before a word in which its determiner stands
LEFT = 0.45  # confidence that is left


def check(text: str, place: int, here: Sequence[Item], words: WordSets, sentences: Sequence[tuple[int, int]]) -> None:
    """Lower the confidence of a sentence's items, in a text with capitals, where animals or a study's people are meant.

    place: of the sentence. words: of the sentences.
    """
    _check_kin(text, place, here, words, sentences)
    concerned = [item for item in here if item.word in SEXES or item.word in PEOPLE_PLURAL or item.word in PEOPLE_SINGULAR]
    if not concerned:
        return
    sexes = [item for item in concerned if item.word in SEXES]
    if sexes and _has(ANIMALS, place, BEFORE, AFTER, words, sentences):
        for item in sexes:
            if not _is_of_person(text, item):
                item.lower(0.1, sets.BIOLOGY)
    if not words.of_report or not _has(STUDIES, place, BEFORE, BEFORE, words, sentences):
        return
    both = len({item.group for item in here}) > 1
    for item in concerned:
        if item.word in SEXES or (item.word in PEOPLE_SINGULAR and both):
            item.lower(LEFT, sets.COMPARED)
        elif item.word in PEOPLE_PLURAL:
            start = max(sentences[place][0], item.start - REACH)
            if DETERMINED.search(text, start, item.start) is None and POSSESSED.search(text, start, item.start) is None:
                item.lower(LEFT, sets.COMPARED)


def check_ages(text: str, place: int, here: Sequence[Item], words: WordSets, sentences: Sequence[tuple[int, int]]) -> None:
    """Lower the confidence of a sentence's items, in a text with capitals, where a study finds something of an age.

    place, words: as in `check`.
    """
    if not words.of_report or not _has(STUDIES, place, BEFORE, BEFORE, words, sentences):
        return
    for item in here:
        start = max(sentences[place][0], item.start - REACH)
        many = item.kind == COLLECTIVE or (item.kind == NOUN and item.word.endswith(("s", "children")))
        if many and (item.kind == COLLECTIVE or CERTAIN.search(text, start, item.start) is None):
            item.lower(LEFT, sets.COMPARED)


def _check_kin(text: str, place: int, here: Sequence[Item], words: WordSets, sentences: Sequence[tuple[int, int]]) -> None:
    """Lower the confidence of an animal's kin («a dolphin … its mother»)."""
    for item in here:
        if item.word not in KIN:
            continue
        owner = OF_IT.search(text, max(sentences[place][0], item.start - REACH), item.start)
        if owner is None:
            continue
        beast = owner[1] and (owner[1].lower() in ANIMALS or f"{owner[1].lower()}s" in ANIMALS)
        if beast or (not owner[1] and _has(ANIMALS, place, 1, 0, words, sentences)):
            item.lower(0.1, sets.BIOLOGY)


def _has(
    wanted: frozenset[str], place: int, before: int, after: int, words: WordSets, sentences: Sequence[tuple[int, int]]
) -> bool:
    """Whether a sentence, or one so near it in its article, has one of some words."""
    begin, end = words.article(sentences[place][0])
    for near in range(max(0, place - before), min(place + after + 1, len(sentences))):
        if begin <= sentences[near][0] < end and not wanted.isdisjoint(words[near]):
            return True
    return False


def _is_of_person(text: str, item: Item) -> bool:
    """Whether a word for a sex is said of people («female researchers»)."""
    following = text[item.end : item.end + REACH].split(maxsplit=1)
    thing = following[0].strip(",.;:!?") if following else ""
    return (
        item.kind == "adjective"
        and thing.lower() not in ANIMALS
        and text.startswith(" ", item.end)
        and thing != ""
        and people.is_person_noun(thing)
    )
