"""Word classes of the linguistic indicators, from `indicator_words.yaml`, and words of praise and blame."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

import yaml

WORDS_PATH = Path(__file__).with_name("indicator_words.yaml")
SENTIMENT_PATH = Path(__file__).with_name("indicator_sentiment.json")
# A people's name that no list holds: «Sudanese», «norwegians». Lower case is common in what people write.
PEOPLE_ENDING = re.compile(r"\w{3,30}(?:ians?|nese|lese|rese|icans?)")
# With a capital within a sentence, less is needed: «Kuwaiti», «Flemish», «Moroccan».
CAPITAL_ENDING = re.compile(r"\w{2,30}(?:[aei]ans?|cans?|ese|ish|[aw]is?|stan|land|ia)")
CALLING_ENDING = re.compile(r"\w{3,30}(?:er|or|ist|ian|ant|eer|man|woman|person)s?|\w{3,30}(?:men|women|wife|wives)")

KEPT = 65536  # words, of bounded length, whose answers are kept: those of some thousand sentences


@cache
def _stored() -> dict[str, str]:
    # The base loader reads «no» and «on» as the words that they are.
    return yaml.load(WORDS_PATH.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)


@cache
def words(name: str) -> frozenset[str]:
    """The words of a class, in lower case. Raises KeyError for a class that there is none of."""
    return frozenset(_stored()[name].split())


@cache
def phrases(name: str) -> re.Pattern[str]:
    """A pattern for the phrases of a class, between spaces. Raises KeyError for a class that there is none of."""
    return re.compile(r"(?<!\S)(?:" + "|".join(re.escape(p.replace("_", " ")) for p in _stored()[name].split()) + r")(?!\S)")


@cache
def valence() -> dict[str, int]:
    """1 for a word of praise, -1 for one of blame (Hu and Liu 2004, and own ones for people)."""
    stored = json.loads(SENTIMENT_PATH.read_text(encoding="utf-8"))
    found = {word: value for side, value in (("positive", 1), ("negative", -1)) for word in stored[side].split()}
    return found | dict.fromkeys(words("praise"), 1) | dict.fromkeys(words("blame"), -1)


def is_plural(lower: str) -> bool:
    """Whether a label's form is that of several people: «women», «Hindus», «the police», not «Swiss» or «Jesus»."""
    if lower in words("plural_forms") or lower.endswith(("men", "people", "folk")):
        return True
    return lower.endswith("s") and not lower.endswith("ss") and (not lower.endswith("us") or lower[:-1] in words("nations"))


def is_people(word: str, lower: str, first: bool) -> bool:
    """Whether a word names people, or a people's origin or faith, by the lists and endings; first: at a sentence's start."""
    if lower in words("people") or lower in words("nations") or lower in words("described"):
        return True
    if lower in words("not_people"):
        return False
    if PEOPLE_ENDING.fullmatch(lower):
        return True
    return not first and word[0].isupper() and CAPITAL_ENDING.fullmatch(lower) is not None


def is_calling(lower: str) -> bool:
    """Whether a noun names people by what they do."""
    if lower in words("no_callings"):
        return False
    return lower in words("callings") or CALLING_ENDING.fullmatch(lower) is not None


CLAUSE_END = frozenset((",", ";", ":", ".", "but", "because", "since", "so", "-", "–"))


def signed(lowers: Sequence[str]) -> list[int]:
    """1 or -1 for each word of praise or blame, turned round behind a negation up to the clause's end, 0 for others."""
    values, sign = [], 1
    for lower in lowers:
        if lower in words("negation"):
            sign = -1
        elif lower in CLAUSE_END:
            sign = 1
        values.append(sign * valence().get(lower, 0))
    return values


ENDINGS = (
    "ations",
    "ation",
    "ingly",
    "edly",
    "ness",
    "ings",
    "ing",
    "ied",
    "ies",
    "iers",
    "ers",
    "er",
    "ed",
    "es",
    "ly",
    "s",
    "y",
    "e",
)
LEAST_STEM = 3  # characters that must be left of a word


@lru_cache(maxsize=KEPT)
def stem(lower: str) -> str:
    """A word without its ending, roughly: «thieving» and «thieves» need not meet, «steals» and «stealing» should."""
    for ending in ENDINGS:
        if lower.endswith(ending) and len(lower) - len(ending) >= LEAST_STEM:
            return lower[: -len(ending)]
    return lower
