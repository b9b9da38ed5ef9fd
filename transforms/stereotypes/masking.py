"""Hides the words that name people of a group, so that a model judges the statement alone.

Each word that names a group of the attribute in question becomes a placeholder for its form
(`groups.yaml`). Words of other attributes stay:

    women cannot park, says the old man   (gender)   folks cannot park, says the old folk
    women cannot park, says the old man   (age)      women cannot park, says the folk

So the same sentence gives another question for each attribute: does it state a stereotype of the
placeholder's group?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import yaml

from evenflow.wordlists.loader import WordList

PATH = Path(__file__).with_name("groups.yaml")
ONE, SEVERAL = "folk", "folks"  # placeholders of a word that is not listed
# Characters of a masked sentence: some 120 tokens, more than 99 in 100 sentences have
LONGEST = 500
BEFORE = 150  # of these, the characters before the first word of a group
Span = tuple[int, int, str]  # start and end in the sentence, attribute


def widened(words: WordList) -> WordList:
    """A word list with all words that name people of its attribute's groups.

    Args:
        words: A word list.

    Returns:
        The list with its labels, their plurals and the words of `groups.yaml`, without
        counterparts. Groups of `groups.yaml` that the list lacks come after its own. An attribute
        without words in `groups.yaml` has its labels and plurals.
    """
    groups = list(words.groups)
    labels = {
        label if label in words.exact else _folded(label): group
        for label, group in words.labels.items()
    }
    for label, group in list(labels.items()):
        if label not in _forms() and label not in words.exact and _form(label) == ONE:
            labels.setdefault(label + "s", group)
    for group, forms in _listed().get(words.attribute, {}).items():
        if group not in groups:
            groups.append(group)
        for every in forms.values():
            labels |= {_folded(word): groups.index(group) for word in every}
    return replace(words, groups=tuple(groups), labels=labels, counterparts={})


def mask(sentence: str, spans: Sequence[Span]) -> str:
    """The form of a sentence that a model reads.

    Args:
        sentence: The sentence as it stands in its document.
        spans: The words of one attribute's groups in it, in order; may be empty.

    Returns:
        The sentence with placeholders for these words, and one blank for each run of blanks and
        line breaks. Of a longer sentence, the LONGEST characters around the first placeholder.
    """
    parts: list[str] = []
    at = 0
    first = 0
    for start, end, _ in spans:
        parts += (sentence[at:start], placeholder(sentence[start:end]))
        first = first or sum(map(len, parts))
        at = end
        if at > LONGEST and sum(map(len, parts)) > LONGEST + BEFORE + first:
            break  # what follows is not shown
    text = " ".join("".join((*parts, sentence[at : at + 2 * LONGEST])).split())
    if len(text) > LONGEST:
        start = max(0, min(first, len(text)) - BEFORE)
        start = text.find(" ", start, start + BEFORE) + 1 or start if start else 0
        text = text[start : start + LONGEST]
    return text


def placeholder(word: str) -> str:
    """The placeholder of a word that names a group: its form decides, and not the group."""
    return _forms().get(_folded(word)) or _form(word)


def _form(word: str) -> str:
    """The placeholder of a word that `groups.yaml` does not list, by its ending."""
    lower = word.casefold()
    return SEVERAL if lower.endswith("s") and not lower.endswith("ss") else ONE


def _folded(word: str) -> str:
    """A word without case, with straight apostrophes and single blanks."""
    return " ".join(word.casefold().replace("’", "'").split())


@cache
def _listed() -> Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]:
    """Attribute → group → placeholder → words."""
    # The base loader reads "no" and "on" as words
    return yaml.load(PATH.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)


@cache
def _forms() -> Mapping[str, str]:
    """Word → placeholder, over all attributes."""
    return {
        _folded(word): form
        for groups in _listed().values()
        for forms in groups.values()
        for form, every in forms.items()
        for word in every
    }
