"""What kind of word a gendered label is: pronoun, title, adjective, noun, plural or other."""

from __future__ import annotations

import re
from functools import lru_cache

from evenflow.transforms.text import english, pronouns

TITLES = frozenset(("mr", "mrs", "ms"))
ADJECTIVES = frozenset(("female", "male", "feminine", "masculine"))
ABSTRACT = english.words("abstract")
# Words that are singular though they end in s
SINGULAR_S = frozenset(("alumnus", "sis", "mrs", "ms", "hers", "his"))
PLURALS = frozenset(("men", "women", "alumni", "alumnae"))
IN_LAWS = re.compile(r"\w+s-in-law")


@lru_cache(1 << 12)
def kind_of(word: str) -> str:
    """Find the kind of a label, as `sets.Item` has it.

    Args:
        word: The label in lower case.

    Returns:
        pronoun, title, adjective, noun, plural, or other (“motherhood”).
    """
    if word in pronouns.PRONOUNS:
        return "pronoun"
    if word in TITLES:
        return "title"
    if word in ADJECTIVES:
        return "adjective"
    if word in ABSTRACT:
        return "other"
    last = word.split(" ")[-1]
    if word in SINGULAR_S or last.endswith("ss"):
        return "noun"
    if last in PLURALS or last.endswith(("men", "s")) or IN_LAWS.match(last):
        return "plural"
    return "noun"
