"""How a noun comes into a text: the speaker's («my mom»), one of many («a man»), pointed at («this guy»), or known before.

Whoever comes in as one of many is hardly anybody who was named before; «the man» may well be.
"""

from __future__ import annotations

import re

from evenflow.transforms.substitution import leads
from evenflow.transforms.substitution.sets import Item

OWN = re.compile(r"\b(?:my|your|our|ur|an?|any|some|every|each|another)\s+(?:[\w-]+\s+){0,3}(?:(?:ex|step|half|great|god)-)?$")
ONE = re.compile(r"(?<!no )(?<!some )\bone\s+(?:(?:young|old|elderly|poor|lucky|unlucky|little|black|white|drunk|brave)\s+)?$")
# «i'm the guy who laughs at everything»
SPEAKER = re.compile(
    r"(?<![\w'’])(?:i\s?['’]?m|i\s+(?:am|was|be|became|remain)|we\s?['’]?re|we\s+(?:are|were)|call me|makes? me|"
    r"you\s?['’]?re|you\s+are|(?:are|arent|were|am) (?:you|i))\s+"
    r"(?:(?:not|still|just|also|the|that|one|of|those|these)\s+)*(?:[\w-]+\s+)?$",
    re.IGNORECASE,
)
POINTED = re.compile(r"\b(?:this|that|some|one|another|no|random)\s+(?:[\w-]+\s+){0,2}$")
# Before people whom a text has told of before, or who are some named person's.
THE_PLURAL = leads.after("the|they|these|those|both", 1)  # «they guys»: a slip
DEFINITE_PLURAL = re.compile(
    r"\b(?:the|they(?=\s+$)|these|those|both|his|her|its)\s+(?:[\w'’-]+\s+){0,3}$|['’]s?\s+(?:[\w-]+\s+){0,2}$"
)
SIMILE = leads.after(r"(?:like|as)\s+(?:an?|the)", 2)
# Anything that tells whose or which one somebody is.
BARE = re.compile(
    r"(?:\b(?:an?|the|this|that|some|any|no|every|each|another|other|one|my|your|our|his|her|their|its|first|last)|['’]s?)\s+"
    r"(?:(?!(?:of|in|on|at|to|and|or|who|that|is|was|for|with|by)\b)[\w'’-]+,?\s+){0,4}(?:\w+-)?$",
    re.IGNORECASE,
)
# Around who speaks in a dialogue.
BEFORE_LABEL = re.compile(r"(?:\A|\n)[ \t>*_\[(-]*(?:the\s+)?$", re.IGNORECASE)
AFTER_LABEL = re.compile(r"[ \t*_\])]*:")
REACH = 45  # characters before a noun within which its determiner stands


def is_own(text: str, start: int, item: Item) -> bool:
    """Whether a noun of a sentence that begins at start is the speaker's or the reader's, or one or some of many."""
    first = max(start, item.start - REACH)
    if is_speaker(text, start, item):
        return True
    if item.kind == "plural":
        return DEFINITE_PLURAL.search(text, first, item.start) is None
    if item.kind != "noun":
        return False
    return (OWN.search(text, first, item.start) or ONE.search(text, first, item.start)) is not None


def is_speaker(text: str, start: int, item: Item) -> bool:
    """Whether a noun is what the speaker says that he is, or the reader («are you the guy who …»)."""
    if item.kind not in ("noun", "plural"):
        return False
    return SPEAKER.search(text, max(start, item.start - REACH), item.start) is not None


def is_pointed_at(text: str, start: int, item: Item) -> bool:
    """Whether a noun is somebody whom a comment points at («this guy», «woman asks …»), not one who was named."""
    if item.kind != "noun":
        return False
    return item.start <= start + 2 or POINTED.search(text, max(start, item.start - REACH), item.start) is not None


def is_definite_plural(text: str, start: int, item: Item) -> bool:
    """Whether a plural is of people who were told of before («the men»)."""
    return THE_PLURAL.search(text, max(start, item.start - REACH), item.start) is not None


def may_be_the_same(text: str, start: int, item: Item) -> bool:
    """Whether a noun may be the same person as a pronoun of its sentence: it likens them («like a man»), or tells nothing
    of which one is meant («lady is …»)."""
    first = max(start, item.start - REACH)
    bare = item.kind == "noun" and BARE.search(text, first, item.start) is None
    return bare or SIMILE.search(text, first, item.start) is not None


def is_label(text: str, item: Item) -> bool:
    """Whether a noun says who speaks: «Father: Like what?»."""
    first = max(0, item.start - 8)
    return AFTER_LABEL.match(text, item.end) is not None and BEFORE_LABEL.search(text, first, item.start) is not None
