"""What a label is in its place, noun, adjective or collective, as its neighbours say."""

from __future__ import annotations

import re

from evenflow.transforms.substitution import leads
from evenflow.transforms.substitution.leads import CLAUSE_WORDS, POSSESSIVES
from evenflow.transforms.substitution.roles import ADJECTIVE, COLLECTIVE, NOUN
from evenflow.transforms.text import english, pronouns

DETERMINER = leads.after(
    rf"an?|the|this|that|every|each|another|any|no|one|some|{POSSESSIVES}|fellow|two|three|many|few|all|these|those|most|\d+",
    2,
    but=f"of|to|and|or|but|that|who|is|was|are|were|be|being|{CLAUSE_WORDS}",
)
NEXT = re.compile(r"[ \u00a0]+([^\W\d_][\w'’-]*)")
# “Muslim is a …”: what has a verb of its own, and does not end another's predicate, is a noun.
LISTED = re.compile(r"\s*,\s*[\w’'-]+\s+[\w’'-]+")  # “an elderly, soft-spoken man”
ARTICLE = leads.after("an?|this|that|every|each|another|one|two|three", 1, "very")
FINITE = re.compile(r"\s+(?:is|was|has|can|will|would|does)\b")
PREDICATIVE = re.compile(
    r"\b(?:is|are|was|were|am|be|been|being|im|(?:who|he|she|that|it)s|theyre|youre|isn['’]?t|aren['’]?t|wasn['’]?t|weren['’]?t|not|non|more|less|very|so|too|as|or|and|of)\s+(?:[\w-]+\s+)?$|['’](?:s|m|re)\s+(?:[\w-]+\s+)?$",
    re.IGNORECASE,
)
# Behind a plural verb no one person stands: “why are the most extreme christian?”
ARE = leads.after(
    "are|were|theyre",
    3,
    but="an?|one|each|every|this|that|any|no|you|he|she|i|my|our|your|his|her|their|of|by|with|for",
)
# What ends in s behind one alone is a verb: “if one muslim commits murder”.
ONE = leads.after("an?|one|every|each|another")
ENDS = re.compile(r"\s*(?:[.,;:!?)]|$|\n)")
THE = leads.after("the", 1, leads.PLAIN)
PAST = re.compile(r"\w[^\We]ed$")  # “called”, but not “seed”
VERBS_AFTER = english.words("verbs_after")
ADVERBS = english.words("adverbs")
# Words that no noun phrase goes on with; many are rare enough to be taken for nouns otherwise (“the
# Buddhist across the hall”).
NO_NOUN = (
    frozenset(pronouns.CLOSED)
    | VERBS_AFTER
    | ADVERBS
    | english.words("prepositions")
    | english.words("irregular_pasts")
)


def part_of_speech(before: str, after: str, parts: set[str]) -> str:
    """What a label is in its place: noun, adjective or collective (“the elderly”).

    parts: what it can be at all; where that is one, it is that.
    """
    following = NEXT.match(after)
    thing = following[1].lower() if following else ""
    goes_on = bool(thing) and _is_noun(thing)
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
            "other"
            if DETERMINER.search(before) and (not thing or thing in pronouns.CLOSED)
            else ADJECTIVE
        )
    if parts - {COLLECTIVE} == {NOUN}:
        return NOUN
    many = not goes_on or is_verb(thing)  # but not “the aged oak”
    return COLLECTIVE if parts == {COLLECTIVE} and THE.search(before) and many else "other"


def is_verb(word: str) -> bool:
    """Whether a word is a verb's plain form at least as often as a noun: it mostly follows “to” or
    a subject pronoun.
    """
    code = pronouns.shipped().classes.get(word)
    return code is not None and code[2] == "2" and code[0] < "3"


def is_third_person(word: str) -> bool:
    """Whether a word that ends in s may be what one person does (“stops”, but not “arts”)."""
    if not word.endswith("s") or word.endswith("ss"):
        return False
    code = pronouns.shipped().classes.get(word, "0000")
    return code[1] != "0" or code[3] != "0" or is_verb(word[:-1])


def _is_noun(word: str) -> bool:
    """Whether a word after an adjective's place can be its noun: neither of a closed class nor a
    verb that is seldom a noun.
    """
    if word in NO_NOUN:
        return False
    code = pronouns.shipped().classes.get(word)
    if code is None:
        return not word.endswith(("ed", "ly"))
    if word.endswith("ly") or PAST.search(word):
        return code[0] >= "3"
    return code[0] != "0" or (code[2] == "0" and not word.endswith(("ed", "ly", "ing")))
