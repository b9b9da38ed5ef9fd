"""What a noun's capital says: a name's, a headline's, a title's within the family, or only that a sentence begins."""

from __future__ import annotations

import re

from evenflow.transforms import english
from evenflow.transforms.substitution import headlines, leads
from evenflow.transforms.substitution.said import Said
from evenflow.transforms.substitution.sets import Item

# Written with a capital as a name within the family, or in address.
CALLED_SO = english.words("called_so")
OWN_THING = re.compile(r"\shis\s")
HEADLINED = frozenset(("woman", "lady", "girl", "boy", "guy"))  # may begin a headline without an article
HEADLINE_VERB = re.compile(r"\s+(?!friends\b|girls\b|boys\b)[^\W\d_]+(?:[^s\W]s|ed)\s")
DOES = re.compile(r"\s+[A-Z][a-z]+(?:[^s\W]s|ed)\b")
# «Local Man Returns …»: a headline's somebody, but not «modern man»
LOCAL = re.compile(r"\W*(?:(?!(?:the|and|of|to|for|with|how|why|what|my|our|his|her)\b)[\w'’-]+\s+){0,2}$", re.IGNORECASE)
KINDS_OF_MAN = english.words("kinds_of_man")
OWNED_CAPITAL = frozenset(
    ("husband", "wife", "boyfriend", "girlfriend", "son", "daughter", "sister", "brother", "fiance", "fiancee")
)
NATIONS = ("english", "french", "irish", "scots", "welsh", "dutch")  # «a Frenchwoman»
OWN = leads.after("my|your|our", 1)
SOMEBODY = frozenset(("man", "woman", "boy", "girl", "guy", "lady", "businessman", "businesswoman", "mother", "father"))
# Nouns that are surnames as often, where nothing stands before them: «Butler scored twice».
SURNAMES = frozenset(
    ("butler", "king", "prince", "priest", "knight", "abbot", "earl", "duke", "baron", "bride", "prior", "monk", "lord")
)
CALL_ENDS = re.compile(r"\s*[,.!?\n]|$")


def may_have_one(item: Item, before: str, begins: bool) -> bool:
    """Whether a capital makes no name of a noun: a sentence begins, or it is somebody's («a gift for my Husband»)."""
    if begins or item.word in CALLED_SO or item.word.startswith(NATIONS):
        return True
    return item.word in OWNED_CAPITAL and OWN.search(before) is not None


def is_surname(said: Said, form: str, after: str) -> bool:
    """Whether a noun that begins a sentence is a name there: it has a capital, and is not called («Waiter, …»)."""
    return said.capitals and said.stops and form.istitle() and not said.headline and not CALL_ENDS.match(after)


def is_headlined(said: Said, item: Item, before: str, after: str, begins: bool) -> bool:
    """Whether a headline speaks of a noun as of somebody («Woman asks for help», «Local Man Returns Book»)."""
    if begins and item.word in HEADLINED and HEADLINE_VERB.match(after):
        return True
    if item.word not in SOMEBODY or said.stops or item.start - said.start > 30:
        return False
    if begins and item.word == "man" and HEADLINE_VERB.match(after) and OWN_THING.search(after):
        return True  # «Man finds his own portrait in flea market»
    lead = LOCAL.match(before)
    if lead is None or not KINDS_OF_MAN.isdisjoint(lead[0].lower().split()):
        return False
    if said.headline:
        return DOES.match(after) is not None or headlines.needs_no_article("", said.text[item.end : said.end])
    return (
        not begins and HEADLINE_VERB.match(after) is not None and headlines.needs_no_article("", said.text[item.end : said.end])
    )
