"""Checks of words by the quality criteria Q1 to Q6 of the main paper, section 4.2.1.

A check warns and sorts; a person decides. Its probability is the rule's own guess and is not
calibrated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from evenflow.transforms.text import english, names, nouns, wordclasses
from evenflow.wordlists import loader, spelling
from evenflow.wordlists.loader import WordList


@dataclass(frozen=True)
class Weakness:
    """A criterion that a word may fail."""

    criterion: str
    reason: str
    probability: float


@dataclass(frozen=True)
class KnownWords:
    """What the checks know beside the word."""

    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    mentions: Mapping[str, int] = field(default_factory=dict)
    associations: Mapping[str, str] = field(default_factory=dict)


def associations(attribute: str) -> dict[str, str]:
    """Words of shipped lists of other attributes, which a word of this one may merely suggest."""
    return {
        spelling.fold(label): name
        for name in loader.NAMED
        if (words := loader.load(name)).attribute != attribute
        for label in words.labels
    }


def category(word: str, context: KnownWords) -> Weakness | None:
    """Q1: a category label, which refers to people; a word that is seldom a noun does not."""
    last = word.split()[-1]
    if wordclasses.is_known(last) and not wordclasses.is_noun(last):
        return Weakness("Q1", "mostly no noun in English text", 0.7)
    return None


def spelled(word: str, context: KnownWords) -> Weakness | None:
    """Q2: linguistically correct; a word that neither vectors nor corpus know may be misspelled."""
    if word not in context.known and not context.mentions.get(word):
        return Weakness("Q2", "neither the corpus nor the vectors know this spelling", 0.5)
    return None


def unambiguous(word: str, context: KnownWords) -> Weakness | None:
    """Q3: exclusive to its group."""
    groups = context.groups.get(word, frozenset())
    if len(groups) > 1:
        return Weakness("Q3", f"proposed for {' and '.join(sorted(groups))}", 0.8)
    return None


def free_of_association(word: str, context: KnownWords) -> Weakness | None:
    """Q4: no association, such as a profession."""
    attribute = context.associations.get(word)
    return None if attribute is None else Weakness("Q4", f"a word of {attribute}", 0.6)


def simple(word: str, context: KnownWords) -> Weakness | None:
    """Q5: no compound of a label and a neutral word."""
    parts = word.replace("-", " ").split()
    label = next((each for each in parts if len(parts) > 1 and each in context.groups), None)
    return None if label is None else Weakness("Q5", f"holds {label!r}, a word of its own", 0.7)


def no_name(word: str, context: KnownWords) -> Weakness | None:
    """Q6: no proper name."""
    sex = names.first_names().get(word)
    if sex is None:
        return None
    if sex.endswith("w"):
        return Weakness("Q6", "a first name, and a common word", 0.3)
    return Weakness("Q6", "a first name", 0.9)


@cache
def _stops() -> frozenset[str]:
    """The words of closed classes that are no labels of gender."""
    own = {spelling.fold(label) for label in loader.load("gender").labels}
    return (wordclasses.NO_NOUN | english.words("objects")) - own


def is_stop(word: str) -> bool:
    """Whether a word is of a closed class (“the”, “us”) and names no group, unlike “she”."""
    return spelling.fold(word) in _stops()


def common_words(words: WordList) -> dict[str, str]:
    """Find labels that are frequent words too where they are not written in capitals."""
    lower = {label: label.lower() for label in words.labels if label not in words.exact}
    return {
        label: other
        for label, other in lower.items()
        if other != label
        and (is_stop(other) or wordclasses.is_verb(other) or other in nouns.shipped())
    }


CHECKS: tuple[Callable[[str, KnownWords], Weakness | None], ...] = (
    category,
    spelled,
    unambiguous,
    free_of_association,
    simple,
    no_name,
)


def check(word: str, context: KnownWords) -> list[Weakness]:
    """Check a word by all criteria."""
    folded = spelling.fold(word)
    found = [each for rule in CHECKS if (each := rule(folded, context)) is not None]
    return sorted(found, key=lambda each: -each.probability)
