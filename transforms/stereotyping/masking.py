"""Hides which group a sentence names, so that a model judges what is said of it and not of whom.

Words of the attribute's groups become one placeholder for each form (`groups.yaml`), other attributes' words stay:

    women cannot park, says the old man   (gender)   folks cannot park, says the old folk
    women cannot park, says the old man   (age)      women cannot park, says the folk

So the same sentence is another question for each attribute: is a stereotype of the placeholder's group stated?
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from evenflow.transforms.labels import LabelFinder
from evenflow.wordlists import loader
from evenflow.wordlists.loader import WordList

PATH = Path(__file__).with_name("groups.yaml")
ONE, SEVERAL = "folk", "folks"  # placeholders of a word whose form is not listed
LONGEST = 500  # characters of a prepared sentence: some 120 tokens, more than 99 in 100 sentences have
BEFORE = 150  # of these, characters before the first word of a group


class Named(NamedTuple):
    """A word of a group in a text: text[start:end], its attribute and group, and the word in its place."""

    start: int
    end: int
    attribute: str
    group: str
    placeholder: str


@dataclass(frozen=True)
class _Forms:
    """The words of an attribute: a list to search with, and the placeholder of each word."""

    words: WordList
    placeholders: Mapping[str, str]


class GroupWords:
    """Finds words of groups. lists: the word lists of the attributes; the words of `groups.yaml` come on top.

    Labels that are not listed there count with their plurals, so an attribute of the user's own needs nothing more.
    """

    def __init__(self, lists: Sequence[WordList]):
        forms = [_forms(words) for words in lists]
        self._finder = LabelFinder([each.words for each in forms])
        self._placeholders = {each.words.attribute: each.placeholders for each in forms}

    def find(self, text: str) -> list[Named]:
        """The words of all attributes' groups in a text, in its order."""
        return sorted(
            Named(each.start, each.end, each.attribute, each.group, self._placeholders[each.attribute][each.label])
            for each in self._finder.find(text)
        )


def prepared(sentence: str, named: Iterable[Named]) -> str:
    """What a model is shown of a sentence.

    Args:
        sentence: As it stands in its document.
        named: The words of one attribute's groups in it, in order; offsets are the sentence's.

    Returns:
        The sentence with their placeholders, blanks and line breaks as single blanks; of one longer than LONGEST what
        stands around the first of them.
    """
    parts: list[str] = []
    at = 0
    first = None
    for each in named:
        parts += (sentence[at : each.start], each.placeholder)
        first = sum(map(len, parts)) if first is None else first
        at = each.end
    text = "".join((*parts, sentence[at:]))
    if len(text) > LONGEST:
        start = max(0, (first or 0) - BEFORE)
        start = text.find(" ", start, start + BEFORE) + 1 or start if start else 0
        text = text[start : start + LONGEST]
    return " ".join(text.split())


@cache
def shipped() -> GroupWords:
    """Words of the groups of the attributes that ship with the package."""
    return GroupWords([loader.load(name) for name in loader.SHIPPED])


@cache
def _listed() -> Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]:
    """attribute → group → placeholder → words."""
    return yaml.safe_load(PATH.read_text(encoding="utf-8"))


def _forms(words: WordList) -> _Forms:
    """All words of an attribute's groups, those of its list and their plurals among them."""
    groups = list(words.groups)
    labels: dict[str, int] = {}
    placeholders: dict[str, str] = {}
    listed = _listed().get(words.attribute, {})
    for group, forms in listed.items():
        if group not in groups:
            groups.append(group)
        for placeholder, every in forms.items():
            for word in every:
                labels[word] = groups.index(group)
                placeholders[word] = placeholder
    known = {word.casefold() for word in labels}
    for label, group in words.labels.items():
        folded = label.casefold()
        if folded in known:
            continue
        several = folded.endswith("s") and not folded.endswith("ss")
        for word, placeholder in ((label, SEVERAL if several else ONE), *(() if several else ((label + "s", SEVERAL),))):
            if word.casefold() not in known:
                known.add(word.casefold())
                labels[word] = group
                placeholders[word] = placeholder
    return _Forms(WordList(words.attribute, tuple(groups), labels, frozenset(), {}, words.source, words.licence, words.path), placeholders)
