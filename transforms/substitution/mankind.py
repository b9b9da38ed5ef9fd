"""Edited text, above all speeches: «man» for mankind, and the men who fought and died in a country's wars."""

from __future__ import annotations

import re

from evenflow.transforms import english
from evenflow.transforms.substitution import leads

# «the freedom of man», «output per man», but not «that kind of man»
OF_MAN = re.compile(
    r"\b(?!(?:kind|kinds|sort|sorts|type|types|breed|brand|manner|model|half|half-dozen|much|more|less|hell|heck|piece|bit|lot|shadow)\b)"
    r"[a-z]{3,}\s+of\s+$|\bper\s+$"
)
# «the conviction that man has a right to it»: no «that man»
THAT_MAN = re.compile(
    r"\b(?:conviction|belief|faith|fact|idea|notion|principle|proof|proposition|truth|hope|doctrine|teach\w*)\s+that\s+$"
)
SOLDIERS = frozenset(("men", "sons", "boys"))
WAR = english.words("military") | frozenset(
    (
        "uniform",
        "enlistment",
        "enlist",
        "enlisted",
        "battlefields",
        "battlefield",
        "korea",
        "vietnam",
        "normandy",
        "flanders",
        "navies",
        "armies",
    )
)
FIGHTING = leads.after("fighting")
OURS = leads.after("our|these|those|america['’]s|(?:our|the) (?:country|nation)['’]s", 2)
# «those brave men who did not come back»
WHO_DIED = re.compile(
    r"\s+(?:who|that)\s+(?:have\s+|had\s+)?(?:died|fell|fallen|fought(?! over)|served?\s+(?:in|their|our)|(?:gave|given)\s+their|"
    r"did not (?:come back|return)|never came)\b"
)
DIED = re.compile(r"\s+(?:no longer\s+)?(?:die|died|fell|fight|fought)\b")


def is_meant(before: str) -> bool:
    """Whether «man» behind these words, with no article of its own, is mankind."""
    return OF_MAN.search(before) is not None or THAT_MAN.search(before) is not None


def are_soldiers(word: str, before: str, after: str, words: frozenset[str]) -> bool:
    """Whether a plural is of those who fought in a country's wars.

    before, after: what stands on either side of it. words: of the sentence.
    """
    if FIGHTING.search(before):
        return True
    if OURS.search(before) is None:
        return False
    at_war = not WAR.isdisjoint(words)
    return (at_war and (word == "sons" or DIED.match(after) is not None)) or WHO_DIED.match(after) is not None
