"""Peoples, whose faith is a fact: «Kurds are mostly Muslim», «Hindu Bangladeshis», «the Mughals were exclusively Muslim».

What a people is called is derived from its country's name («Albanians», «Iraqis»), but for peoples without one. Of other words
that are none of the language's a share says it: «… are exclusively Muslim».
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from evenflow.transforms import english, people
from evenflow.transforms.substitution import pronouns, sets
from evenflow.transforms.substitution.sets import Item

LEFT = 0.4  # confidence that is left
REACH = 60  # characters before a label in which its clause begins
ARE = re.compile(r"\b([^\W\d_]{4,})\s+(?:are|were|being)\s+((?:[\w-]+\s+){0,3})$", re.IGNORECASE)
NEXT = re.compile(r"\s+([^\W\d_]{4,})\b")
SHARE = re.compile(
    r"\b(?:exclusively|predominantly|predominately|overwhelmingly|largely|mainly|mostly|primarily|traditionally|historically)\b",
    re.IGNORECASE,
)
COUNTRIES = english.words("countries_of_a_faith")
WITHOUT_COUNTRY = english.words("peoples_without_country")
# What stands behind the letters that a people's name, in the plural, has of its country's.
OF_PEOPLE = re.compile(r"s?|(?:ia|ea|a|i|e)ns|n?is|n?ese|uese|mese|ars")
SHORTENED = {"stan": 5}  # letters of a country's name that its people's may be without, by its end; else two
SHORTEST = 4
NO_PEOPLE_ENDS_SO = ("ers", "ors", "ists", "ants", "ents", "ees", "ies", "ings", "ions", "isms", "ards", "bros", "folks")


def bar(text: str, sentences: Sequence[tuple[int, int]], items: Sequence[Item]) -> None:
    """Lower the confidence of a sentence's items where a whole people's faith is told."""
    barred: set[int] = set()
    for item in items:
        start, end = sentences[item.sentence]
        lead = ARE.search(text, max(start, item.start - REACH), item.start)
        following = NEXT.match(text, item.end, end) if lead is None and item.kind == "adjective" else None
        if (lead is not None and (is_people(lead[1]) or (SHARE.search(lead[2]) and _is_unknown(lead[1])))) or (
            following is not None and is_people(following[1])
        ):
            barred.add(item.sentence)
    for item in items if barred else ():
        if item.sentence in barred:
            item.lower(LEFT, sets.DOCTRINE)


@cache
def is_people(word: str) -> bool:
    """Whether a word is the plural for the people of a country, or of none («Kurds»)."""
    folded = word.lower()
    if folded in WITHOUT_COUNTRY:
        return True
    return any(_is_of_country(folded, country) for country in COUNTRIES)


def _is_of_country(word: str, country: str) -> bool:
    if word == country:
        return False
    if word == country + "s":
        return country.endswith("i")  # «Saudis», but not «Turkeys»
    if word == country + "ns":
        return country.endswith("a")
    shared = next(
        (at for at, (one, other) in enumerate(zip(word, country, strict=False)) if one != other), min(len(word), len(country))
    )
    least = max(len(country) - SHORTENED.get(country[-4:], 2), min(len(country), SHORTEST))
    return shared >= least and word[-1] in "se" and OF_PEOPLE.fullmatch(word[shared:]) is not None


def _is_unknown(word: str) -> bool:
    """Whether a plural is most likely a name, as far as the language's words are known."""
    folded = word.lower()
    known = pronouns.shipped().classes
    if not folded.endswith("s") or folded.endswith(NO_PEOPLE_ENDS_SO) or people.is_person_noun(folded.removesuffix("s")):
        return False
    return folded not in known and folded[:-1] not in known
