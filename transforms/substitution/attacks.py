"""Particular attacks, whose doers have the faith that they have: «the shooter was Jewish», «the marathon was bombed by …».

What is said of attackers in general, or of one who is only supposed, may change: «if the shooter is Muslim», «all bombers are
Christian».
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenflow.transforms import people
from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.binding import may_be_name
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.wordsets import WordSets

LEFT = 0.3  # confidence that is left
REACH = 90  # characters before a label in which its clause begins
DOER = (
    r"(?:shooter|attacker|bomber|gunman|gunmen|killer|murderer|assassin|hijacker|stabber|knifeman|perpetrator|perp|suspect|"
    r"assailant|arsonist)"
)
# One doer of a past deed, who is certain: «the shooter was», and without an article in a comment.
DOER_WAS = re.compile(
    rf"(?:^|[^\w\s]\s*|\b(?:the|this|that|those|these|both|his|her|their|point|because|and|but|so|says?|said|since|as)\s+)"
    rf"(?:[\w'’-]+\s+)?{DOER}s?\s+(?:was|were|wasn['’]?t|weren['’]?t|turned out to be|had been)\s+(?:[\w'’-]+\s+){{0,3}}$",
    re.IGNORECASE,
)
SUPPOSED = re.compile(
    rf"\b(?:if|unless|whether|suppose|imagine|say|when|whenever|an?|any|every|each|no|most|all|some)\s+"
    rf"(?:(?:of\s+)?(?:the|this|that)\s+)?(?:[\w'’-]+\s+)?{DOER}s?\s+\w+",
    re.IGNORECASE,
)
# «the Boston marathon was bombed by a couple of …»
STRUCK = re.compile(
    r"\b(?:the|this|that|our|my|their)\s+(?:[\w'’-]+\s+){0,2}?([\w'’-]+)\s+(?:was|were|got|had been)\s+(?:\w+\s+)?"
    r"(?:bombed|attacked|hit|targeted|blown up|shot up|destroyed|torched|burn(?:ed|t)(?: down)?|hijacked|raided)\s+by\s+"
    r"(?:[\w'’-]+\s+){0,5}$",
    re.IGNORECASE,
)
# «another Muslim bomber like McVeigh»
ONE = re.compile(r"\b(?:an?|another|this|that|one)\s+(?:[\w-]+\s+){0,2}$", re.IGNORECASE)
LIKE = re.compile(r"(?:\s+[\w-]+)?\s+like\s+([^\W\d_][\w'’-]*)")
DOERS = frozenset(re.findall(r"\w+", DOER)) | frozenset(
    ("shooters", "attackers", "bombers", "killers", "murderers", "assassins", "hijackers", "perpetrators", "perps", "suspects")
)
DEEDS = frozenset(
    ("bombed", "attacked", "hit", "targeted", "blown", "shot", "destroyed", "torched", "burned", "burnt", "hijacked", "raided")
)


def bar(text: str, sentences: Sequence[tuple[int, int]], items: Sequence[Item], words: WordSets) -> None:
    """Lower the confidence of what is said of those who did a particular deed."""
    for item in items:
        said = words[item.sentence]
        doer, deed, alike = not DOERS.isdisjoint(said), not DEEDS.isdisjoint(said), "like" in said
        if not (doer or deed or alike):
            continue
        start, end = sentences[item.sentence]
        before = text[max(start, item.start - REACH) : item.start].rpartition("\n")[2]
        if (doer and DOER_WAS.search(before) and not SUPPOSED.search(before)) or (deed and _is_struck(before)):
            item.lower(LEFT, sets.HISTORY)
        elif alike and item.mention is not None and ONE.search(before):
            like = LIKE.match(text, item.end, end)
            if like is not None and (like[1].lower() in people.first_names() or may_be_name(like[1].lower())):
                item.lower(LEFT, sets.NAMED)


def _is_struck(before: str) -> bool:
    """Whether something that there is once, no person, was attacked by those who follow."""
    struck = STRUCK.search(before)
    if struck is None:
        return False
    head = struck[1].lower()
    return not (people.is_person_noun(head) or people.is_person_noun(head.removesuffix("s")))
