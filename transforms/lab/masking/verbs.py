"""Puts the verb of a subject that became plural (“she” → “they”) into the plural.

Only a verb beside its subject is changed: “she is”, “she often sings”, “is she”. A second verb
(“she came and goes”) stays.
"""

from __future__ import annotations

import re

from evenflow.transforms.substitution import agreement
from evenflow.transforms.substitution.sets import Edit
from evenflow.transforms.text import english
from evenflow.transforms.text.wordclasses import is_known, is_third_person

PLURALS = {"is": "are", "was": "were", "has": "have", "does": "do"}
NEGATED = r"(?:n['’]?t)?"
BEFORE = re.compile(rf"\b({'|'.join(PLURALS)})({NEGATED})\s+$", re.IGNORECASE)
ADVERB = r"(?:(?:never|always|often|also|still|just|then|now|not|\w+ly)\s+)?"
AFTER = re.compile(rf"\s+{ADVERB}(\w+?)({NEGATED})(?![\w'’-])", re.IGNORECASE)
SHORT = re.compile(r"(['’])s(?!\w)(?=\s+(been|had|got|gone|done|\w+ed)\b)?", re.IGNORECASE)
SIBILANT = re.compile(r"(?:ss|sh|ch|x|zz|o)es$")
LONGEST_IE = 4  # letters of “dies”, “lies”, “ties”
LONGEST_BEFORE = 12  # characters before a subject that can hold its verb
PREPOSITIONS = english.words("prepositions")
TWO_WORDS = re.compile(r"(\w+)\s+(?:\w+\s+)?$")


def plural(word: str) -> str:
    """The plural form of a verb of the third person (“goes” → “go”); other words stay."""
    lowered = word.lower()
    if lowered in PLURALS:
        return agreement.recase(word, lowered, PLURALS[lowered])
    if not lowered.endswith("s") or lowered in english.CLOSED:
        return word
    stem = word[:-2] if SIBILANT.search(lowered) else word[:-1]
    if lowered.endswith("ies") and len(lowered) > LONGEST_IE:
        stem = word[:-3] + "y"
    return stem if is_third_person(lowered) or is_known(stem.lower()) else word


def agree(text: str, start: int, end: int) -> Edit | None:
    """Find the edit of the verb that belongs to a subject."""
    begin = max(0, start - LONGEST_BEFORE)
    if match := BEFORE.search(text[begin:start]):
        return Edit(begin + match.start(1), begin + match.end(1), plural(match[1]))
    if match := SHORT.match(text, end):
        return Edit(match.end(1), match.end(), "ve" if match[2] else "re")
    match = AFTER.match(text, end)
    # “doesnt”: the word is cut before its n
    if (
        match
        and (new := plural(match[1])) != match[1]
        and (not match[2] or match[1].lower() in PLURALS)
    ):
        return Edit(match.start(1), match.end(1), new)
    return None


def is_subject(text: str, start: int) -> bool:
    """Whether a noun may be a subject: no preposition stands in the two words before it."""
    match = TWO_WORDS.search(text[:start])
    found = match[0].lower().split() if match else []
    return PREPOSITIONS.isdisjoint(found)
