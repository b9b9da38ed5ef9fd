"""The words that name a group (the paper's list L, section 3.3)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from evenflow.transforms.text.names import first_names
from evenflow.transforms.text.shipped import data
from evenflow.wordlists.loader import WordList

GENDER_PATH = Path(__file__).with_name("gender_words.tsv")


@cache
def gender_words() -> frozenset[str]:
    """Gendered words besides those of the shipped word list, in lower case."""
    lines = data(GENDER_PATH).decode().splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def named(words: WordList) -> frozenset[str]:
    """The words that name a group of an attribute, in lower case.

    Returns:
        Its labels; for gender also the shipped gendered words.
    """
    own = frozenset(label.lower() for label in words.labels)
    return own | gender_words() if words.attribute == "gender" else own


def given_names(words: WordList) -> frozenset[str]:
    """Given names that count as naming a group, in lower case: first names, for gender only."""
    return frozenset(first_names()) if words.attribute == "gender" else frozenset()
