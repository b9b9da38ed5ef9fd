"""Hides the words that name people of a group, so that a model judges the statement alone.

Each word that names a group of the attribute in question becomes a placeholder for its form
(`groups.yaml`). Words of other attributes stay:

    women cannot park, says the old man   (gender)   folks cannot park, says the old folk
    women cannot park, says the old man   (age)      women cannot park, says the folk

So the same sentence gives another question for each attribute: does it state a stereotype of the
placeholder's group?
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import yaml

from evenflow.wordlists.loader import WordList

PATH = Path(__file__).with_name("groups.yaml")
WIDE = Path(__file__).with_name("wide.yaml")
PEOPLE = "people"  # words for people in `WIDE`, before which its other words are found too
OTHERS = "others"  # the group of words that name a group which no word list has
ONE, SEVERAL = "folk", "folks"  # placeholders of a word that is not listed
CREED = "creed"  # placeholder of a faith
# Characters of a masked sentence: some 120 tokens, more than 99 in 100 sentences have
LONGEST = 500
BEFORE = 150  # of these, the characters before the first word of a group
Span = tuple[int, int, str]  # start and end in the sentence, attribute
# A masked question why a group is or does something, which takes that for granted: verb, group and
# the rest
WHY = re.compile(
    r"\W*why\s+(are|is|were|was|do|does|did|can|will|have|has|must|(?:are|is|do|does|ca|wo)n?['’]?t)"
    rf"\s+({SEVERAL})\s+([^?]+)\?*\W*",
    re.IGNORECASE,
)
# Words for the group of the sentence before, and their placeholders
THEY = {
    "they're": f"{SEVERAL} are",
    "theyre": f"{SEVERAL} are",
    "they": SEVERAL,
    "their": f"{SEVERAL}'",
    "these people": SEVERAL,
    "those people": SEVERAL,
}


def widened(words: WordList) -> WordList:
    """A word list with all words that name people of its attribute's groups."""
    if words.finder is not None:
        return words
    groups = list(words.groups)
    labels = {
        label if label in words.exact else _folded(label): group
        for label, group in words.labels.items()
    }
    for label, group in list(labels.items()):
        if label not in _listed_forms() and label not in words.exact and _form(label) == ONE:
            labels.setdefault(label + "s", group)
    for group, forms in _listed().get(words.attribute, {}).items():
        if group not in groups:
            groups.append(group)
        for every in forms.values():
            labels |= {_folded(word): groups.index(group) for word in every}
    for word in _wide().get(words.attribute, {}):
        labels.setdefault(word, labels.get(word, len(groups)))
    if max(labels.values(), default=0) == len(groups):
        groups.append(OTHERS)
    return replace(words, groups=tuple(groups), labels=labels, counterparts={})


def unlisted(names: Collection[str]) -> list[WordList]:
    """Lists of the groups that no word list has: race, nationality, disability and others."""
    return [
        WordList(name, (OTHERS,), dict.fromkeys(forms, 0), frozenset(), {}, "", "", str(WIDE))
        for name, forms in _wide().items()
        if name not in names
    ]


def mask(sentence: str, spans: Sequence[Span]) -> str:
    """The form of a sentence that a model reads.

    Returns the sentence with placeholders for these words, and one blank for each run of blanks and
    line breaks. Of a longer sentence, the LONGEST characters around the first placeholder. A
    question why a group is something becomes the statement that it is.
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
    if why := WHY.fullmatch(text):
        text = "{1} {0} {2}.".format(*why.groups())
    if len(text) > LONGEST:
        start = max(0, min(first, len(text)) - BEFORE)
        start = text.find(" ", start, start + BEFORE) + 1 or start if start else 0
        text = text[start : start + LONGEST]
    return text


def placeholder(word: str) -> str:
    """The placeholder of a word that names a group: its form decides, and not the group."""
    folded = _folded(word)
    return _forms().get(folded) or THEY.get(folded) or _form(word)


def is_pronoun(word: str) -> bool:
    """Whether a word stands for the group of the sentence before."""
    return _folded(word) in THEY


def has_creeds(attribute: str) -> bool:
    """Whether an attribute's groups have creeds, which are no people."""
    return any(CREED in forms for forms in _listed().get(attribute, {}).values())


def names_group(word: str) -> bool:
    """Whether a word names people of some group, or stands before people to name them ("black")."""
    return word in _forms() or any(f"{word} {each}" in _forms() for each in ("person", "people"))


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
    wide = {word: form for forms in _wide().values() for word, form in forms.items()}
    return wide | _listed_forms()


@cache
def _listed_forms() -> dict[str, str]:
    """Word → placeholder, over the attributes of `groups.yaml`."""
    return {
        _folded(word): form
        for groups in _listed().values()
        for forms in groups.values()
        for form, every in forms.items()
        for word in every
    }


@cache
def _wide() -> Mapping[str, Mapping[str, str]]:
    """Attribute → word → placeholder, of the groups that no word list has."""
    read = yaml.load(WIDE.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    people = [(noun, form) for form, nouns in read.pop(PEOPLE).items() for noun in nouns]
    out: dict[str, dict[str, str]] = {}
    for attribute, words in read.items():
        one, several = words.get(ONE, []), words.get(SEVERAL, [])
        before = [*words.get("adjective", []), *one]
        out[attribute] = {f"{word} {noun}": form for word in before for noun, form in people}
        # “the poor” is as long as “poor man”, and would win in “the poor man”
        short = [(noun, form) for noun, form in people if len(noun) <= len("the")]
        before = [word for word in several if word.startswith("the ")]
        out[attribute] |= {f"{word} {noun}": form for word in before for noun, form in short}
        out[attribute] |= dict.fromkeys(one, ONE)
        out[attribute] |= {word + "s": SEVERAL for word in one if _form(word) == ONE}
        out[attribute] |= dict.fromkeys(several, SEVERAL)
    return out
