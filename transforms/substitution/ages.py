"""Words for people of an age: where a claim or a scene has them as it might others, and where they are somebody's offspring."""

from __future__ import annotations

import re

from evenflow.transforms.substitution import leads, sets
from evenflow.transforms.substitution.leads import NUMBERS
from evenflow.transforms.substitution.placing import DETERMINER, is_verb
from evenflow.transforms.substitution.roles import COLLECTIVE, NOUN
from evenflow.transforms.substitution.sets import Item

# «a crowd of overzealous teenagers», «several kids»: in the plural these are seldom a film's named characters.
SOME_PEOPLE = leads.after(
    rf"some|several|{NUMBERS}|dozens? of|hundreds of|(?:groups?|bunch|crowds?|gangs?|trio|pair|couple|band|mob|pack|handful) of",
    2,
)
CLAUSE = re.compile(r"(?:^|[,;:(–—?!.]|\b(?:because|but|when|that|if|so|while|since|though|where|why|and))\s*$", re.IGNORECASE)
# What a claim says of them; «kids who …», «kids being …» go on.
CLAIMS = re.compile(
    r"\s+(?:(?:are|were|have|had|do|did|will|would|can|could|should|may|might|always|never|often|rarely|usually|just|all)\b|"
    r"(?:are|were|do|did|would|could|should|ca|wo|have)n['’]?t\b)",
    re.IGNORECASE,
)
THERE_IS = re.compile(r"\bthere(?:['’]?s|\s+(?:is|are|was|were))\s+(?:[\w'’-]+\s+){0,3}$", re.IGNORECASE)
# «the expense of a child», «three kids and the fourth»
OFFSPRING_OF = leads.after(
    r"(?:expenses?|costs?|price|burden|loss|support|gift|joy|responsibility|upbringing|mother|father) of (?:an?|another|the)",
    1,
)
ONE_OF_A_FAMILY = re.compile(
    r"\s*,?\s+(?:and|with|but)\s+(?:the|a)\s+(?:first|second|third|fourth|fifth|sixth|eldest|oldest|youngest)\b", re.I
)

# A number that a verb shows, up to the end of the clause.
SHOWN = re.compile(
    r"\b(?:(is|was|has|does|isn['’]t|wasn['’]t|hasn['’]t|doesn['’]t)|(are|were|have|do|aren['’]t|weren['’]t))\b", re.I
)
WITH_OF = re.compile(r"\s+(?:of|in|from)\b", re.IGNORECASE)
SINGULAR_VERB = re.compile(r"\s+\w+[^s\W]s\b")
NO, BARELY, UNSURE = 0.1, 0.3, 0.4  # confidence that is left


def are_some_people(before: str) -> bool:
    """Whether several are spoken of whom nothing has named: «a bunch of teenagers»."""
    return SOME_PEOPLE.search(before) is not None


def are_claimed_of(before: str, after: str, thing: str) -> bool:
    """Whether a plural without an article begins a clause that says something of all of them: «teenagers have power»."""
    return CLAUSE.search(before) is not None and (CLAIMS.match(after) is not None or is_verb(thing))


def is_there(before: str) -> bool:
    """Whether a scene has them: «there's a kid on the roof»."""
    return THERE_IS.search(before) is not None


def is_offspring(before: str, after: str) -> bool:
    """Whether a family's children are meant by what stands around the word."""
    return OFFSPRING_OF.search(before) is not None or ONE_OF_A_FAMILY.match(after) is not None


def weigh_youth(item: Item, before: str, after: str) -> None:
    """«the youth»: a person, or all of them; a verb may tell, and only those who are many can become «the elderly»."""
    number = SHOWN.search(after)
    many = number is not None and number[2] is not None
    if item.kind == NOUN and not DETERMINER.search(before):
        item.lower(NO, sets.SENSE)  # the time of life: «the whiff of youth»
    if item.kind == COLLECTIVE and not many:
        goes_on = WITH_OF.match(after) is not None
        item.lower(BARELY if goes_on or number is not None or SINGULAR_VERB.match(after) else UNSURE, sets.UNSURE)
