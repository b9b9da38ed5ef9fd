"""Whom a sentence speaks of: the category label, the phrase around it, and its form (indicators 1 to 5 of the scheme).

The phrase is found by the tags around a label: determiners, numbers and adjectives before it, nouns and «from …» behind it.
Without listed labels, people are found by word lists, endings and first names.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from evenflow.transforms import people
from evenflow.transforms.stereotyping import indicator_tagging as tagging
from evenflow.transforms.stereotyping.indicator_phrases import (
    FINITE,
    LONGEST_PHRASE,
    NEAR,
    VERBS,
    be_before,
    goes_on,
    left,
    right,
    run,
    subject_of,
    verb_after,
)
from evenflow.transforms.stereotyping.indicator_tagging import PERSONAL, PLURAL, POSSESSIVE, SINGULAR, Token
from evenflow.transforms.stereotyping.indicator_words import KEPT, is_calling, is_people, is_plural, valence, words

PRONOUNS = {
    **dict.fromkeys(("he", "she", "him", "himself", "herself"), PERSONAL),
    **dict.fromkeys(("her", "his", "hers"), POSSESSIVE),
}
THEY = frozenset(("they", "them"))
PLACES = 40  # people in a sentence that are weighed against each other: the target is among the first
PLURAL_VERBS = frozenset(("are", "were", "have", "do", "'re", "aren't"))


class Said(NamedTuple):
    """An indicator's value and the words (places in the sentence) that it rests on."""

    value: str
    places: tuple[int, ...] = ()


@dataclass(frozen=True)
class Target:
    """A label at words [at, stop), its phrase [start, end), and the scheme's answers about it.

    `head` is the noun of the phrase. `verb` is the word with which what is said of the target begins, -1 for none.
    `subject` is the first word of the phrase that the verb belongs to: where a label is said of somebody, it is theirs.
    """

    at: int
    stop: int
    start: int
    end: int
    head: int
    verb: int
    subject: int
    kind: str  # noun, adjective, pronoun or name
    plural: bool


def masks(text: str, spans: Sequence[tuple[int, int]], labels: Sequence[tuple[int, int, str]]) -> tuple[dict[int, str], set[int]]:
    """Which words must not show which group they name; and those of listed labels."""
    hidden: dict[int, str] = {}
    listed: set[int] = set()
    ordered = sorted((start, end) for start, end, _ in labels)
    at = 0
    first = True
    for place, (start, end) in enumerate(spans):
        word = text[start:end]
        while at < len(ordered) and ordered[at][1] <= start:
            at += 1
        mask = _mask(word, first) if end - start <= tagging.LONGEST else None
        if at < len(ordered) and ordered[at][0] < end and word[0].isalnum():
            listed.add(place)
            mask = mask or (PLURAL if is_plural(word.lower()) else SINGULAR)
        if mask is not None:
            hidden[place] = mask
        first = (first and not word[0].isalnum()) or word in ".!?"
    return hidden, listed


@lru_cache(maxsize=KEPT)
def _mask(word: str, first: bool) -> str | None:
    """What stands for a word that no label is in: None where it names nobody."""
    lower = word.lower()
    if lower in PRONOUNS:
        return PRONOUNS[lower]
    if word[0].isalpha() and is_people(word, lower, first):
        return PLURAL if is_plural(lower) else SINGULAR
    return None


@cache
def _names() -> frozenset[str]:
    lines = people.NAMES_PATH.read_text(encoding="utf-8").splitlines()
    return frozenset(line.split("\t")[0] for line in lines if not line.startswith("#") and "w" not in line.split("\t")[1])


def _is_name(text: str, token: Token) -> bool:
    return text[token.start].isupper() and token.tag in ("NNP", "NN") and token.lower in _names()


def _places(text: str, tokens: Sequence[Token], hidden: dict[int, str], listed: set[int]) -> list[int]:
    if listed:
        return sorted(listed)[:PLACES]
    found = [place for place in hidden if hidden[place] != POSSESSIVE]
    for place, token in enumerate(tokens):
        if place in hidden or not token.lower[0].isalpha():
            continue
        if (
            _is_name(text, token)
            or (_stands_as_noun(tokens, place) and is_calling(token.lower))
            or (token.lower in words("describing") and _describes_people(tokens, place))
            or token.lower in THEY
        ):
            found.append(place)
    found += _unknown_name(tokens)
    return sorted({*found})[:PLACES] or sorted(hidden)[:1] or _unknown_group(tokens)


def _stands_as_noun(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word is a noun by its tag, or, where the tagger took it for a verb, by the article before it."""
    return tokens[place].tag in ("NN", "NNS") or (place > 0 and tokens[place - 1].tag in ("DT", "PRP$"))


def _unknown_group(tokens: Sequence[Token]) -> list[int]:
    """The first plural that no treebank text had and that a finite verb follows, where nobody else is named."""
    known = tagging.shipped().words
    for place, (token, after) in enumerate(pairwise(tokens)):
        if token.tag == "NNS" and after.tag in FINITE and token.lower not in known:
            return [place]
    return []


def _unknown_name(tokens: Sequence[Token]) -> list[int]:
    """The first name that does something, listed or not: no list of first names holds those of all the world."""
    for place, (token, after) in enumerate(pairwise(tokens)):
        if token.tag == "NNP" and after.tag in FINITE and token.lower not in people.NOT_NAMES:
            return [place]
    return []


def _describes_people(tokens: Sequence[Token], place: int) -> bool:
    """Whether an adjective stands for people («the elderly have») or is said of somebody («she is black»)."""
    before = tokens[place - 1].lower if place else ""
    return tokens[place].tag in ("JJ", "NN") or before in ("the", "a", "an") or before in words("being")


def find(text: str, tokens: Sequence[Token], hidden: dict[int, str], listed: set[int]) -> Target | None:
    """The target that a sentence says most of, or None where it names nobody.

    A word for a group that only describes a thing («a German meal») is no category label (example 8 of the guideline), unless
    it is a listed one.
    """
    best: Target | None = None
    best_weight = -100.0
    for place in _places(text, tokens, hidden, listed):
        if best is not None and best.start <= place < best.end and best.head == place:
            continue
        target = _target(text, tokens, hidden, place)
        weight = _weight(target, tokens)
        if weight > best_weight:
            best, best_weight = target, weight
    return None if best is not None and not listed and _no_label(tokens, best) else best


def _weight(target: Target, tokens: Sequence[Token]) -> float:
    """How much a phrase is what the sentence is about: the subject, a group rather than a person, a noun, early."""
    weight = 3.0 * (target.verb >= 0) + 2.0 * (target.plural and target.kind == "noun")
    weight += {"noun": 2.5, "adjective": 2.0, "name": 1.0, "pronoun": 0.0}[target.kind]
    if target.kind == "pronoun" and tokens[target.at].tag == "PRP$":
        weight -= 2.0
    if tokens[target.start].tag == "PRP$":
        weight -= 1.0
    if _speaks(tokens, target):
        weight -= 4.0
    return weight - 1.5 * _is_thing(tokens, target) - 0.02 * min(target.start, 50)


def _is_thing(tokens: Sequence[Token], target: Target) -> bool:
    """Whether a label only describes the noun of its phrase, which names no people."""
    return target.kind == "noun" and target.head != target.at and not _is_person(tokens[target.head].lower)


def _no_label(tokens: Sequence[Token], target: Target) -> bool:
    """Whether what was found is a thing for sure, by a longer list of nouns for people."""
    head = tokens[target.head].lower
    known = {head, head.removesuffix("s")} & (people.PERSON_NOUNS | people.RELATED)
    return _is_thing(tokens, target) and tokens[target.at].tag != "NNS" and not known


def _is_person(lower: str) -> bool:
    """Whether the noun that a label describes is one for people: «Chinese students», not «a Chinese game»."""
    return lower.startswith("<") or lower in words("people") or lower in words("group_nouns") or is_calling(lower)


def _speaks(tokens: Sequence[Token], target: Target) -> bool:
    """Whether the target says something of others («her boss wrote that …»): then those others are spoken of."""
    for place in range(target.verb, min(len(tokens), target.verb + NEAR) if target.verb >= 0 else 0):
        if tokens[place].lower in words("saying"):
            return place == target.verb or tokens[place - 1].lower not in words("being")
        if tokens[place].tag not in VERBS | {"RB", "TO"}:
            return False
    return False


def _target(text: str, tokens: Sequence[Token], hidden: dict[int, str], place: int) -> Target:
    token = tokens[place]
    mask = hidden.get(place)
    if mask in (PERSONAL, POSSESSIVE) or token.lower in THEY:
        verb = -1 if mask == POSSESSIVE or token.lower == "them" else verb_after(tokens, place + 1)
        return Target(place, place + 1, place, place + 1, place, verb, place, "pronoun", token.lower in THEY)
    proper = _is_name(text, token) or token.tag == "NNP"
    if mask is None and proper and (place == 0 or tokens[place - 1].tag not in ("DT", "PRP$")):
        end = run(tokens, place + 1, ("NNP",))
        return Target(place, end, place, end, end - 1, verb_after(tokens, end), place, "name", False)
    head = place
    if mask != PLURAL:
        while head + 1 < len(tokens) and head - place < LONGEST_PHRASE and goes_on(tokens, head):
            head += 1
    start = left(tokens, place)
    end = right(tokens, head + 1)
    plural = mask == PLURAL if head == place and mask else tokens[head].tag in ("NNS", "NNPS")
    verb = verb_after(tokens, end)
    if not plural and verb >= 0 and tokens[verb].lower in PLURAL_VERBS and tokens[start].lower not in ("a", "an"):
        plural = True
    be = be_before(tokens, start)
    described = head == place and token.tag == "JJ" and not plural and tokens[start].tag not in ("DT", "PDT")
    if be >= 0:
        subject = subject_of(tokens, be)
        if subject >= 0:
            kind = "adjective" if described else "noun"
            return Target(place, head + 1, start, end, head, be, subject, kind, _many(tokens, subject, be))
    return Target(place, head + 1, start, end, head, verb, start, "adjective" if described else "noun", plural)


def _many(tokens: Sequence[Token], subject: int, be: int) -> bool:
    return any(token.tag in ("NNS", "NNPS") for token in tokens[subject:be])


def connotation(tokens: Sequence[Token], target: Target, hidden: Container[int]) -> Said:
    """Negative, positive or neutral, and the words that make the label so. What the group is called decides nothing."""
    said = [
        (place, valence().get(tokens[place].lower, 0))
        for place in range(target.start, target.end)
        if place not in hidden and tokens[place].tag != "DT"
    ]
    total = sum(value for _, value in said)
    if total == 0:
        return Said("neutral")
    places = tuple(place for place, value in said if value * total > 0)
    return Said("positive" if total > 0 else "negative", places)
