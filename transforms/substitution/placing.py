"""What a label is in its place, noun, adjective or collective, judged by its neighbours."""

from __future__ import annotations

import re

from evenflow.transforms.substitution.roles import ADJECTIVE, COLLECTIVE, NOUN
from evenflow.transforms.text.english import CLOSED
from evenflow.transforms.text.wordclasses import is_noun, is_third_person, is_verb
from evenflow.transforms.text.words import COMPOUND, HYPHENATED

POSSESSIVES = "my|your|his|her|our|their"
# Words that no noun phrase continues over
CLAUSE_WORDS = "at|in|on|for|with|from|by|as|into|than|like|if"


def compile_lead(
    words: str, others: int = 0, other: str = COMPOUND, but: str = ""
) -> re.Pattern[str]:
    """Compile a pattern that finds one of some words shortly before the end of a text."""
    excluded = rf"(?!(?:{but})\b)" if but else ""
    between = rf"(?:{excluded}{other}\s+){{0,{others}}}" if others else ""
    return re.compile(rf"\b(?:{words})\s+{between}$", re.IGNORECASE)


DETERMINER = compile_lead(
    rf"an?|the|this|that|every|each|another|any|no|one|some|{POSSESSIVES}|fellow|two|three|many|few"
    r"|all|these|those|most|\d+",
    2,
    but=f"of|to|and|or|but|that|who|is|was|are|were|be|being|{CLAUSE_WORDS}",
)
NEXT = re.compile(r"[ \u00a0]+([^\W\d_][\w'’-]*)")
LISTED = re.compile(rf"\s*,\s*{COMPOUND}\s+{COMPOUND}")  # “an elderly, soft-spoken man”
ARTICLE = compile_lead("an?|this|that|every|each|another|one|two|three", 1, "very")
# “Muslim is a …”: a label with a verb of its own is a noun, unless it ends another's predicate.
FINITE = re.compile(r"\s+(?:is|was|has|can|will|would|does)\b")
PREDICATIVE = re.compile(
    r"\b(?:is|are|was|were|am|be|been|being|im|(?:who|he|she|that|it)s|theyre|youre|isn['’]?t"
    r"|aren['’]?t|wasn['’]?t|weren['’]?t|not|non|more|less|very|so|too|as|or|and|of)"
    r"\s+(?:[\w-]+\s+)?$|['’](?:s|m|re)\s+(?:[\w-]+\s+)?$",
    re.IGNORECASE,
)
# After a plural verb stands no single person: “why are the most extreme christian?”
ARE = compile_lead(
    "are|were|theyre",
    3,
    but="an?|one|each|every|this|that|any|no|you|he|she|i|my|our|your|his|her|their|of|by|with|for",
)
# After a word for one person, a word that ends in s is a verb: “if one muslim commits murder”.
ONE = compile_lead("an?|one|every|each|another")
ENDS = re.compile(r"\s*(?:[.,;:!?)]|$|\n)")
THE = compile_lead("the", 1, HYPHENATED)


def part_of_speech(before: str, after: str, parts: set[str]) -> str:
    """Decide what a label is in its place."""
    following = NEXT.match(after)
    thing = following[1].lower() if following else ""
    goes_on = bool(thing) and is_noun(thing)
    if COLLECTIVE in parts and THE.search(before) and (not goes_on or is_verb(thing)):
        return COLLECTIVE
    if goes_on and ADJECTIVE in parts:
        return (
            NOUN if NOUN in parts and ONE.search(before) and is_third_person(thing) else ADJECTIVE
        )
    if NOUN in parts and ADJECTIVE in parts:
        if ENDS.match(after) and ARE.search(before):
            return ADJECTIVE
        return (
            NOUN
            if DETERMINER.search(before) or (FINITE.match(after) and not PREDICATIVE.search(before))
            else ADJECTIVE
        )
    if parts - {COLLECTIVE} == {ADJECTIVE}:
        if LISTED.match(after) and ARTICLE.search(before):
            return ADJECTIVE
        return (
            "other" if DETERMINER.search(before) and (not thing or thing in CLOSED) else ADJECTIVE
        )
    if parts - {COLLECTIVE} == {NOUN}:
        return NOUN
    many = not goes_on or is_verb(thing)  # but not “the aged oak”
    return COLLECTIVE if parts == {COLLECTIVE} and THE.search(before) and many else "other"
