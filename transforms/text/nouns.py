"""Words that are nearly always common nouns, and those that one is given without an article
(“water”, “advice”).
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from evenflow.transforms.text import english

PATH = Path(__file__).with_name("nouns.json")
GIVEN = (
    english.words("given_things") | english.words("giving_words") | english.words("bringing_words")
)
ABSTRACT = (
    "tion",
    "sion",
    "ness",
    "ment",
    "ity",
    "ance",
    "ence",
    "ship",
    "ing",
    "ings",
    "dom",
    "ure",
    "s",
)


@cache
def shipped() -> frozenset[str]:
    """The common nouns beside this file, in small letters."""
    return frozenset(json.loads(PATH.read_text(encoding="utf-8"))["nouns"].split())


def needs_article(word: str) -> bool:
    """Whether a noun is one that nobody is given without an article: “gave her dog”, but not “gave
    her water”, “… hope”.
    """
    return word not in GIVEN and not word.endswith(ABSTRACT)
