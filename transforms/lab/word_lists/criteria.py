"""Checks of words by the quality criteria Q1 to Q6 of the main paper, section 4.2.1.

A check warns and sorts; a person decides. Its probability is the rule's own guess and is not
calibrated.
"""

from __future__ import annotations

from collections.abc import Mapping
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


def check(word: str, context: KnownWords) -> list[Weakness]:
    """Check a word by all criteria.

    Q1, a category label: it refers to people, and a word that is seldom a noun does not. Q2,
    linguistically correct: what neither vectors nor corpus know may be misspelled. Q3, exclusive to
    its group. Q4, no association, such as a profession. Q5, no compound of a label and a neutral
    word. Q6, no proper name.
    """
    folded = spelling.fold(word)
    found: list[Weakness] = []
    last = folded.split()[-1]
    if wordclasses.is_known(last) and not wordclasses.is_noun(last):
        found.append(Weakness("Q1", "mostly no noun in English text", 0.7))
    if folded not in context.known and not context.mentions.get(folded):
        found.append(Weakness("Q2", "neither the corpus nor the vectors know this spelling", 0.5))
    if len(groups := context.groups.get(folded, frozenset())) > 1:
        found.append(Weakness("Q3", f"proposed for {' and '.join(sorted(groups))}", 0.8))
    if (attribute := context.associations.get(folded)) is not None:
        found.append(Weakness("Q4", f"a word of {attribute}", 0.6))
    parts = folded.replace("-", " ").split()
    if label := next((each for each in parts if len(parts) > 1 and each in context.groups), None):
        found.append(Weakness("Q5", f"holds {label!r}, a word of its own", 0.7))
    if (sex := names.first_names().get(folded)) is not None:
        common = sex.endswith("w")
        reason = "a first name, and a common word" if common else "a first name"
        found.append(Weakness("Q6", reason, 0.3 if common else 0.9))
    return sorted(found, key=lambda each: -each.probability)
