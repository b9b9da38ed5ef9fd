"""Headlines: capitals that name nobody, and nouns that stand without an article («Pensioner Stops Runaway Bus»)."""

from __future__ import annotations

import re

from evenflow.transforms import english, people
from evenflow.transforms.substitution.placing import is_third_person

WORD = re.compile(r"[^\W\d_][\w'’-]*")
LONG_WORD = 4  # letters from which a headline's word has its capital («on», «for», «the» may have none)
LEAST = 3  # words of a headline
LONGEST = 160  # characters; a longer line with many capitals is a list of names
# What goes on behind a noun that needs no article: a place, a circumstance, or what the noun does.
GOES_ON = re.compile(r"\s+(?:in|on|at|from|with|without|who|to|after|for|over|under|by|behind|near|and|is|are)\b", re.IGNORECASE)
NEXT = re.compile(r"\s+([^\W\d_]+)(?![\w'’-])")
PASTS = english.words("irregular_pasts") | {"found", "hurt", "left", "shot", "stolen"}
PARTICIPLE = re.compile(r"\w{3,}ed$")


def is_headline(sentence: str) -> bool:
    """Whether a sentence is written like a headline: a capital on each longer word, or capitals throughout, and no full stop."""
    said = sentence.strip()
    if not said or said[-1] in ".!?,;:…" or len(said) > LONGEST or not said[0].isupper():
        return False
    words = WORD.findall(said)
    if len(words) < LEAST:
        return False
    longer = [word for word in words if len(word) >= LONG_WORD]
    return len(longer) >= LEAST - 1 and all(word[0].isupper() for word in longer)


def needs_no_article(before: str, after: str) -> bool:
    """Whether a noun between these parts of a sentence without a full stop begins it as a headline's does.

    before, after: the sentence up to the noun and from it on.
    """
    if before.strip(" \"“‘'") or after.rstrip().endswith((".", "!", "?")):
        return False
    return GOES_ON.match(after) is not None or _does(after)


def _does(after: str) -> bool:
    """Whether a verb in the third person or a participle follows, and no name («Rabbi Wins», but not «Rabbi Williams»)."""
    match = NEXT.match(after)
    word = match[1].lower() if match is not None else ""
    if PARTICIPLE.match(word):
        return True
    if word in PASTS:
        return True
    return word not in people.first_names() and is_third_person(word)
