"""Named people in a text: to whom a pronoun may go back that is nobody's to change.

First names are those of the 1990 US census (public domain, `names.tsv`). Whether a sentence may
change because of a name is not decided here: that is the encoder's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from evenflow.transforms.text import english, pronouns

NAMES_PATH = Path(__file__).with_name("names.tsv")
TITLE = r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sen|Gov|Gen|Rep|Sir|Lord|Lady|Dame|President|Senator|King|Queen|Prince|Princess|Pope|St)"
WORD = r"[A-Z][\w]*(?:['’-][A-Z]\w*)*"
NAME = re.compile(
    rf"(?<![\w'’@#-])(?:({TITLE})\.? )?({WORD}\.?(?: (?:(?:van|von|de|der|del|di|la|le|bin|al)"
    rf" )?{WORD}\.?)*)"
)
INITIAL = " \t\n\"“‘'«(–—-*>[.!?…:"  # what stands before a sentence's first word
NO_PERSON_AFTER = frozenset(
    (
        "the",
        "a",
        "an",
        "in",
        "at",
        "from",
        "to",
        "near",
        "of",
        "on",
        "into",
        "through",
        "across",
        "this",
    )
)
SMALL = re.compile(r"(?<![\w'’@#-])[a-z]{3,}(?![\w-])")


class Name(NamedTuple):
    """A name text[start:end] with the sex that its first name says: f, m, or e where it says none."""

    start: int
    end: int
    sex: str


@cache
def first_names() -> dict[str, str]:
    """First names in lower case: f, m or e, with w after it where the name is a common word too."""
    lines = NAMES_PATH.read_text(encoding="ascii").splitlines()
    return dict(line.split("\t") for line in lines if not line.startswith("#"))  # type: ignore[misc]


@cache
def _sure_small() -> dict[str, str]:
    """First names that are no common word, so that they are names without a capital too."""
    words = english.words("irregular_pasts")
    return {
        name: sex for name, sex in first_names().items() if "w" not in sex and name not in words
    }


def find(text: str, start: int, end: int, caseless: bool = False) -> Iterator[Name]:
    """The names of people in text[start:end].

    Args: text: The document. start: Where to begin. end: Where to stop. caseless: Whether the text
        is written without capitals: then only names that are no common word are found.

    Yields:
        Each name, in the text's order.
    """
    if caseless:
        small = _sure_small()
        for match in SMALL.finditer(text, start, end):
            if match[0] in small:
                yield Name(match.start(), match.end(), small[match[0]][0])
        return
    known, common = first_names(), pronouns.shipped().classes
    for match in NAME.finditer(text, start, end):
        words, at = match[2].split(" "), match.start(2)
        before = text[max(0, match.start() - 12) : match.start()]
        begins = not match[1] and (not before.strip() or before.rstrip(" \"“‘'(")[-1:] in INITIAL)
        # The capital of the sentence's first word
        if begins and len(words) > 1 and words[0].lower() not in known:
            at += len(words[0]) + 1
            words, begins = words[1:], False
        first = words[0].lower().rstrip(".")
        sex = known.get(first, "")
        if match[1] or (sex and ("w" not in sex or len(words) > 1)):
            yield Name(match.start(), match.end(), sex[:1] or "e")
        elif (
            words == ["I"]
            or (begins and first in common)
            or (len(words) == 1 and words[0].isupper())
        ):
            continue
        elif (before.split() or [""])[-1].lower() not in NO_PERSON_AFTER:
            yield Name(at, match.end(), "e")
