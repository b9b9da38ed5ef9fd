"""Believers in comments, which are written without capitals and say of one faith what is said of any.

There a bare singular stands for a group («moderate christian is a misnomer»), a line begins a new thought, and extremists or
countries are called by a faith as people are.
"""

from __future__ import annotations

import re

from evenflow.transforms import english, people
from evenflow.transforms.substitution import leads
from evenflow.transforms.substitution.placing import is_compound

# «muslim is not a race», «jew are bad»
SUBJECT_OF = re.compile(r"\s+(?:(?:is|are|was|were)(?:n['’]?t)?|can(?:['’]?t|not)?|do(?:es)?n['’]?t)\b", re.IGNORECASE)
ONE = leads.after("an?|one|every|each|another|this|that")
# Things and people that a claim calls by a faith as well as by another.
OF_ANY_FAITH = english.words("of_any_faith")
WHOLE_FAITHS = frozenset(("christian", "muslim", "jewish", "hindu", "buddhist"))
COUNTRIES = frozenset(("country", "countries", "nation", "nations"))
NAMES_COUNTRY = re.compile(r"\b(?:" + "|".join(sorted(english.words("countries_of_a_faith"))) + r")\b", re.IGNORECASE)
# Whom a review meets but once, and its writer's own faith: «murdering a catholic archbishop», «though i am not catholic».
ANYBODYS = leads.after(
    "an?|some|any|another|every|two|three|i(?:['’]?m| am| was)", 2, leads.PLAIN, but="who|that|of|in|by|and|as"
)
PLAYS = re.compile(
    r"\b(?:play(?:s|ed|ing)?|portray(?:s|ed|ing)?|as|is|was|about|becomes?|named|called|stars?)\s+(?:an?\s+)?(?:[\w-]+\s+){0,2}$"
)
BRACKET = re.compile(r"[^.,;:()\n]{0,40}\(|\s+(?:named|called)\b")
SAID_BY = re.compile(
    r"\b([^\W\d_]{3,})\s+(?:said|says?|believed|wrote|claimed|thought|called|declared|preached)\b[^.!?\n]*$", re.I
)
FOODS = frozenset(("food", "foods", "dish", "dishes"))
SECOND = re.compile(r"\s+[\w'’-]+\s+([\w'’-]+)")


def is_subject(after: str) -> bool:
    """Whether a word without an article does something, as far as what follows says."""
    return SUBJECT_OF.match(after) is not None


def begins_anew(before: str) -> bool:
    """Whether a singular ends before the next word if that is a plural: «she is a muslim muslims are …»."""
    return ONE.search(before) is not None


def may_be_any_faiths(word: str, thing: str, before: str, after: str) -> bool:
    """Whether a comment calls a thing by a faith as it might by another; a named country has the faith that it has."""
    if word not in WHOLE_FAITHS or thing not in OF_ANY_FAITH:
        return False
    return thing not in COUNTRIES or not (NAMES_COUNTRY.search(before) or NAMES_COUNTRY.search(after))


def is_said_by_name(before: str) -> bool:
    """Whether a public person is told to have said what follows: «marx said that judaism is evil»."""
    said = SAID_BY.search(before)
    return said is not None and said[1].lower() in people.KNOWN_SURNAMES


def may_be_anybodys(before: str, after: str) -> bool:
    """Whether a review calls somebody by a faith whom it need not name, or its writer."""
    lead = ANYBODYS.search(before)
    if lead is None or BRACKET.match(after):
        return False
    return lead[0].startswith("i") or PLAYS.search(before) is None


def goes_on(thing: str, after: str) -> bool:
    """Whether a faith's food is but the first half of something else («the Muslim food bank»)."""
    more = SECOND.match(after) if thing in FOODS else None
    return more is not None and is_compound(more[1].lower())
