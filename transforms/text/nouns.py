"""Words that are nearly always common nouns, and nouns that need no article (“water”, “advice”)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from evenflow.transforms.text import english
from evenflow.transforms.text.shipped import data

PATH = Path(__file__).with_name("nouns.json")
GIVEN = (
    english.words("given_things") | english.words("giving_words") | english.words("bringing_words")
)
# Endings of abstract nouns and plurals
ABSTRACT = ("tion", "sion", "ness", "ment", "ity", "ance", "ence", "ship", "ing", "ings", "dom")
ABSTRACT += ("ure", "s")


@cache
def shipped() -> frozenset[str]:
    """The common nouns of `nouns.json`, in lower case."""
    return frozenset(json.loads(data(PATH))["nouns"].split())


def needs_article(word: str) -> bool:
    """Whether a noun needs an article: “gave her dog” is wrong, “gave her water” is not."""
    return word not in GIVEN and not word.endswith(ABSTRACT)
