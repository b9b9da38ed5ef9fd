"""Puts given names in the place of equally frequent ones of the other sex.

The names are those of the 1990 US census (public domain). `name_pairs.tsv` pairs the most frequent
female name with the most frequent male one, and so on (Dolci et al. 2023, section 4.2.2, pair names
of US births in this way). Names of both sexes have no pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from evenflow.transforms.text import names
from evenflow.transforms.text.shipped import data

PAIRS_PATH = Path(__file__).with_name("name_pairs.tsv")
WORD = re.compile(names.WORD)
NEAR = 6  # characters before a name in which an article is looked for
ARTICLE = re.compile(r"\b(?:an?|the)\s+\Z", re.IGNORECASE)


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
    for each in names.find(text, 0, len(text)):
        words = list(WORD.finditer(text, each.start, each.end))
        titled = len(words) > 1 and re.fullmatch(names.TITLE, words[0][0]) is not None
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
