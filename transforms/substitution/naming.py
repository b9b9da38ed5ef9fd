"""Names that only their place gives away: «goodbye to Agnieszka», «Carrier and her colleagues», «mugabe and his friends»."""

from __future__ import annotations

import re

from evenflow.transforms import people
from evenflow.transforms.substitution import pronouns
from evenflow.transforms.substitution.binding import may_be_name
from evenflow.transforms.substitution.sets import Item

# A capital inside a sentence behind what stands before people at least as often as before places: «goodbye to Agnieszka».
PERHAPS_NAME = re.compile(
    r"\b([a-z]+) (?:to|from|of|with|for|by|about|and|than|like|as) ([A-Z][a-zà-ÿ]+(?:-[A-Z][a-zà-ÿ]+)?)"
    r"(?=[ .,;:!?)]|['’]s|$)(?! [A-Z])"
)
MOVES = re.compile(
    r"(?:f[ly]\w+|go|goes|going|gone|went|trips?|mov\w+|travel\w*|dr[io]v\w+|trains?|bus|buses|roads?|way|back|return\w*|sail\w*|"
    r"walk\w*|c[oa]me|comes|coming|home|flights?|sent|ship\w*|import\w*|export\w*|here|far|miles|north|south|east|west|city|town|"
    r"battle|coast|streets?|parts?|people|republic|university|capital|state|north\w+|south\w+|east\w+|west\w+|made|speak\w*|"
    r"translat\w+|fluent|version|visit\w*|visas?)"
)
OF_A_PEOPLE = re.compile(r"\w+(?:ish|ese|ian|ians|ean|eans|can|cans|ism|ist|day|land|stan|ia)")
# «Carrier and her colleagues»: what stands so without an article is a name.
BESIDE = re.compile(
    r"(?<![\w'’-])(?:(\w+)\.?\s+)?([^\W\d_][\w-]+)\s+and\s+"
    r"(?:(?:\d+|one|two|three|four|five|six|some|many|several|most|all|a few)\s+(?:of\s+)?)?$"
)
BEFORE_COMMON = re.compile(r"an?|the|this|that|my|your|his|her|our|their|its|some|any|no|every|each|of|own", re.IGNORECASE)


# «pucci has to be gay.», in a text without capitals: a word that nobody knows, as the subject.
SUBJECT = re.compile(
    r"(?:^|[.!?\n]\s*|\b(?:and|but|so|because|cause|if|yes|no|yeah)\s+)([^\W\d_]{4,})\s+"
    r"(?:has|is|was|had|would|will|isnt|wasnt|didnt|doesnt|did|does|said|says|thinks|believes|knows|wants|made|makes|tweeted)\b"
)


def has_unknown_subject(text: str, start: int, end: int) -> bool:
    """Whether text[start:end], without capitals, begins to tell of somebody whose name nobody knows."""
    return any(
        pronouns.shipped().classes.get(match[1]) is None and may_be_name(match[1]) and match[1] not in people.PLACES
        for match in SUBJECT.finditer(text[start:end])
    )


def may_be_named(text: str, start: int, end: int) -> bool:
    """Whether text[start:end] may name somebody whose name nobody knows: a capital in a person's place."""
    for match in PERHAPS_NAME.finditer(text, start, end):
        word = match[2].lower()
        if word in people.NOT_NAMES or word in people.PLACES or word in people.NOT_PERSON_END or OF_A_PEOPLE.fullmatch(word):
            continue
        if not MOVES.fullmatch(match[1]):
            return True
    return False


def is_beside_name(text: str, start: int, item: Item, caseless: bool) -> bool:
    """Whether «her» or «his», in a sentence that begins at start, goes back to a name before «and»."""
    if item.word not in ("her", "his"):
        return False
    first = max(start, item.start - 40)
    if "and" not in text[first : item.start]:  # mostly, and quickly told
        return False
    match = BESIDE.search(text, first, item.start)
    if match is None or (match[1] and BEFORE_COMMON.fullmatch(match[1])):
        return False
    before = text[max(0, match.start(2) - 12) : match.start(2)].split()
    if before and before[-1].rstrip(".").lower() in people.TITLES:
        return False  # «Mrs. Baker and her dog»: the title says whose, and may change
    if caseless:
        return may_be_name(match[2])
    word = match[2].lower()
    return match[2][0].isupper() and not match[2].isupper() and word not in people.NOT_NAMES and word[-1] != "s"
