"""Finds names of people, whom a later pronoun may refer to, and exchanges given names.

First names are those of the 1990 US census (public domain, `names.tsv`). This module does not
decide whether a sentence with a name may change: the encoder does. `name_pairs.tsv` pairs the most
frequent female name with the most frequent male one, and so on (Dolci et al. 2023, section 4.2.2,
pair names of US births in this way). Names of both sexes have no pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from evenflow.transforms.text import english, pronoun_model
from evenflow.transforms.text.shipped import data

NAMES_PATH = Path(__file__).with_name("names.tsv")
TITLE = (
    r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sen|Gov|Gen|Rep|Sir|Lord|Lady|Dame|President|Senator|King|Queen"
    r"|Prince|Princess|Pope|St)"
)
WORD = r"[A-Z][\w]*(?:['’-][A-Z]\w*)*"
NAME = re.compile(
    rf"(?<![\w'’@#-])(?:({TITLE})\.? )?({WORD}\.?(?: (?:(?:van|von|de|der|del|di|la|le|bin|al)"
    rf" )?{WORD}\.?)*)"
)
INITIAL = " \t\n\"“‘'«(–—-*>[.!?…:"  # characters before the first word of a sentence
# Words before a name that is not a person's (“in Paris”).
NO_PERSON_AFTER = english.words("before_places")
SMALL = re.compile(r"(?<![\w'’@#-])[a-z]{3,}(?![\w-])")
PAIRS_PATH = Path(__file__).with_name("name_pairs.tsv")
ONE_WORD = re.compile(WORD)
NEAR = 6  # characters before a name in which an article is looked for
ARTICLE = re.compile(r"\b(?:an?|the)\s+\Z", re.IGNORECASE)


class NameSpan(NamedTuple):
    """A name text[start:end]."""

    start: int
    end: int
    sex: str


@cache
def first_names() -> dict[str, str]:
    """First names in lower case.

    Returns:
        By name: f, m or e (either), with w appended where the name is also a common word.
    """
    lines = data(NAMES_PATH).decode("ascii").splitlines()
    return dict(line.split("\t") for line in lines if not line.startswith("#"))  # type: ignore[misc]


@cache
def _small_names() -> dict[str, str]:
    """First names that are no common word, so that they are names without a capital too."""
    words = english.words("irregular_pasts")
    return {
        name: sex for name, sex in first_names().items() if "w" not in sex and name not in words
    }


def find(text: str, start: int, end: int, caseless: bool = False) -> Iterator[NameSpan]:
    """Find the names of people in text[start:end].

    Args:
        caseless: Whether the text is written without capitals: then only names that are no common
            word are found.

    Yields:
        Each name, in the text's order.
    """
    if caseless:
        small = _small_names()
        for match in SMALL.finditer(text, start, end):
            if match[0] in small:
                yield NameSpan(match.start(), match.end(), small[match[0]][0])
        return
    known, common = first_names(), pronoun_model.shipped().classes
    for match in NAME.finditer(text, start, end):
        words, at = match[2].split(" "), match.start(2)
        before = text[max(0, match.start() - 12) : match.start()]
        begins = not match[1] and (not before.strip() or before.rstrip(" \"“‘'(")[-1:] in INITIAL)
        # The first word of a sentence always has a capital.
        if begins and len(words) > 1 and words[0].lower() not in known:
            at += len(words[0]) + 1
            words, begins = words[1:], False
        first = words[0].lower().rstrip(".")
        sex = known.get(first, "")
        if match[1] or (sex and ("w" not in sex or len(words) > 1)):
            yield NameSpan(match.start(), match.end(), sex[:1] or "e")
        elif (
            words == ["I"]
            or (begins and first in common)
            or (len(words) == 1 and words[0].isupper())
        ):
            continue
        elif (before.split() or [""])[-1].lower() not in NO_PERSON_AFTER:
            yield NameSpan(at, match.end(), "e")


@cache
def counterparts() -> dict[str, str]:
    """By given name in lower case the equally frequent one of the other sex."""
    lines = data(PAIRS_PATH).decode("ascii").splitlines()
    pairs = [line.split("\t") for line in lines if not line.startswith("#")]
    return {one: other for female, male in pairs for one, other in ((female, male), (male, female))}


def exchanged(text: str) -> Iterator[tuple[int, int, str]]:
    """Find the given names in a text that have a counterpart.

    Yields:
        Start, end and counterpart, in the text's order. A name behind a title alone (“Mr. James”)
        is a surname and stays. One behind an article (“a Florence Nightingale”) stands for what
        that person is known for, and stays too.
    """
    known = counterparts()
    for each in find(text, 0, len(text)):
        words = list(ONE_WORD.finditer(text, each.start, each.end))
        titled = len(words) > 1 and re.fullmatch(TITLE, words[0][0]) is not None
        own = words[1:] if titled else words
        if (
            not own
            or (titled and len(own) == 1)
            or ARTICLE.search(text[max(each.start - NEAR, 0) : each.start])
        ):
            continue
        said = own[0][0]
        other = known.get(said.lower())
        if other is not None:
            upper = len(said) > 1 and said.isupper()
            yield own[0].start(), own[0].end(), other.upper() if upper else other.capitalize()
