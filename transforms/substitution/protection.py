"""What substitution must not touch: finds in a sentence the patterns of `protection.yaml`, and quotations."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from evenflow.transforms.substitution.phrases import Phrases
from evenflow.transforms.substitution.wordsets import WordSets, words_of

RULES_PATH = Path(__file__).with_name("protection.yaml")
SENTENCE, PHRASE = "sentence", "phrase"
# A quotation in one paragraph. Longer than this (characters) it is more likely a forgotten mark than a quotation.
LONGEST_QUOTATION = 1500
# Each begins with its mark, so that a search leaps from mark to mark.
QUOTED = {
    "“": re.compile(rf"“[^“”]{{2,{LONGEST_QUOTATION}}}”"),
    '"': re.compile(rf"\"(?<![\w\"]\")(?=\S)(?:(?!\n\s*\n)[^\"]){{2,{LONGEST_QUOTATION}}}\"(?![\w\"])"),
    "«": re.compile(r"«[^«»]+»"),
}
# Of text whose words and marks are parted by blanks: which mark opens and which closes, only their order in the line says.
PARTED = re.compile(r"\"(?<!\S\")(?!\S)")


@dataclass(frozen=True, eq=False)
class Rule:
    """One kind of place that is left alone. weight: the confidence left. groups: None for all.

    caseless: the confidence that is left in a text without capitals, a comment or a chat.
    """

    reason: str
    scope: str
    weight: float
    groups: frozenset[str] | None
    caseless: float


@dataclass(frozen=True, eq=False)
class _Pattern:
    """A rule's patterns as one; number: of it; needs: a sentence without any of these words or signs has no match.

    capitals: whether one without capitals has none either. only: what else one has in all that is found, if that is said.
    """

    number: int
    rule: Rule
    whole: re.Pattern[str]
    needs: frozenset[str]
    capitals: bool
    only: re.Pattern[str] | None

    def may_be_in(self, said: str, small: bool) -> bool:
        """Whether a sentence that has one of the needs may have a match. small: whether it has no capitals."""
        return not (small and self.capitals) and (self.only is None or self.only.search(said) is not None)


class _Rules:
    """The rules of an attribute, indexed so that few of their patterns and phrases are tried on a sentence."""

    def __init__(self, attribute: str):
        stored: dict[str, Any] = yaml.safe_load(RULES_PATH.read_text(encoding="utf-8"))
        self.patterns: list[_Pattern] = []
        self.phrases: Phrases[Rule] = Phrases()
        for entry in stored["rules"]:
            if attribute not in entry.get("attributes", [attribute]):
                continue
            groups = frozenset(entry["groups"]) if "groups" in entry else None
            weight = float(entry["weight"])
            rule = Rule(entry["reason"], entry["scope"], weight, groups, float(entry.get("caseless", weight)))
            if "patterns" in entry:
                whole = re.compile("|".join(f"(?:{pattern})" for pattern in entry["patterns"]), re.IGNORECASE)
                needs = frozenset((*entry.get("words", "").split(), *entry.get("signs", "")))
                only = re.compile(entry["only"], re.IGNORECASE) if "only" in entry else None
                capitals = entry.get("capitals", False)
                self.patterns.append(_Pattern(len(self.patterns), rule, whole, needs, capitals, only))
            for phrase in filter(None, map(str.strip, entry.get("phrases", "").split(" | "))):
                self.phrases.add(phrase, rule)
        self.needs = frozenset(need for pattern in self.patterns for need in pattern.needs)
        self.needing = {need: [each for each in self.patterns if need in each.needs] for need in self.needs}
        signs = "".join(sorted(need for need in self.needs if not need[0].isalpha()))
        self.signs = re.compile(f"[{re.escape(signs)}]")


class Found(NamedTuple):
    """A place that a rule covers: a phrase's span, or the whole sentence's."""

    start: int
    end: int
    reason: str
    weight: float
    groups: frozenset[str] | None


@cache
def _rules(attribute: str) -> _Rules:
    return _Rules(attribute)


@cache
def label_weights(attribute: str) -> dict[str, tuple[float, str]]:
    """Confidence and reason by label, for labels that often have another sense or no fit counterpart."""
    stored: dict[str, Any] = yaml.safe_load(RULES_PATH.read_text(encoding="utf-8"))
    return {
        label: (float(entry["weight"]), entry["reason"])
        for entry in stored.get("labels", ())
        if entry["attribute"] == attribute
        for label in entry["labels"]
    }


def find(text: str, start: int, end: int, attribute: str, caseless: bool = False) -> list[Found]:
    """The places of a sentence text[start:end] that an attribute's rules cover."""
    said = text[start:end]
    return _find(said, start, _rules(attribute), words_of(said), caseless)


def _find(said: str, start: int, rules: _Rules, words: frozenset[str], caseless: bool) -> list[Found]:
    out: list[Found] = []
    known: set[int] = set()  # rules of whole sentences are said once

    def add(rule: Rule, match: re.Match[str]) -> None:
        weight = rule.caseless if caseless else rule.weight
        if rule.scope == PHRASE:
            out.append(Found(start + match.start(), start + match.end(), rule.reason, weight, rule.groups))
        elif caseless and "\n" in said:  # each line is a remark of its own there
            first = said.rfind("\n", 0, match.start()) + 1
            last = said.find("\n", match.end())
            out.append(Found(start + first, start + (last if last >= 0 else len(said)), rule.reason, weight, rule.groups))
        elif id(rule) not in known:
            known.add(id(rule))
            out.append(Found(start, start + len(said), rule.reason, weight, rule.groups))

    folded = said.lower()
    there = (rules.needs & words).union(rules.signs.findall(said))
    tried = {pattern for need in there for pattern in rules.needing[need] if pattern.may_be_in(said, said == folded)}
    for pattern in sorted(tried, key=attrgetter("number")) if tried else ():
        for match in pattern.whole.finditer(said):
            add(pattern.rule, match)
            if id(pattern.rule) in known:
                break
    if len(folded) != len(said):  # a letter that is longer in lower case
        folded = "".join(character.lower()[:1] for character in said)
        words = words_of(folded)
    # Their order decides between equal reasons.
    for word, phrases in groupby(rules.phrases.possible(folded, words), itemgetter(0)):
        here = [phrase for *_, phrase in phrases]
        for place in _places(folded, word):
            for phrase in here:
                match = phrase.whole.match(said, place) if id(phrase.rule) not in known else None
                if match is not None:
                    add(phrase.rule, match)
    return out


def _places(folded: str, word: str) -> list[int]:
    """Where a word begins in a text, as a whole word."""
    out: list[int] = []
    at = folded.find(word)
    while at >= 0:
        end = at + len(word)
        beside = folded[max(0, at - 1) : at] + folded[end : end + 1]
        if "_" not in beside and not any(map(str.isalnum, beside)):
            out.append(at)
        at = folded.find(word, at + 1)
    return out


class Finds:
    """What an attribute's rules cover in the sentences of one text, each sentence looked at once and only if asked for."""

    def __init__(self, text: str, sentences: Sequence[tuple[int, int]], attribute: str, words: WordSets):
        self._text = text
        self._sentences = sentences
        self._words = words
        self._rules = _rules(attribute)
        # A review in small letters is edited text: whom it tells of beside politics is known.
        self._remarks = words.caseless and not (attribute == "gender" and words.of_work)
        self._known: dict[int, list[Found]] = {}

    def __getitem__(self, place: int) -> list[Found]:
        if place not in self._known:
            start, end = self._sentences[place]
            self._known[place] = _find(self._text[start:end], start, self._rules, self._words[place], self._remarks)
        return self._known[place]


def quotations(text: str) -> list[tuple[int, int]]:
    """Start and end of each quotation in a text, in its order."""
    found = [match.span() for mark, pattern in QUOTED.items() if mark in text for match in pattern.finditer(text)]
    if ' " ' in text:
        found += _parted(text)
    spans: list[tuple[int, int]] = []
    for span in sorted(found):
        if not spans or spans[-1][1] <= span[0]:  # else it stands within another
            spans.append(span)
    whole = len(spans) == 1 and not text[: spans[0][0]].strip() and not text[spans[0][1] :].strip()
    return [] if whole else spans  # a text that is all in marks quotes nobody


def _parted(text: str) -> list[tuple[int, int]]:
    """The quotations of a text whose marks stand between blanks, in lines where each mark has another."""
    out: list[tuple[int, int]] = []
    reached = 0
    for line in text.split("\n"):
        count = line.count('"')
        if count and count % 2 == 0:  # most lines have none
            marks = [match.start() + reached for match in PARTED.finditer(line)]
            if len(marks) == count:
                out += [(first, last + 1) for first, last in zip(marks[::2], marks[1::2], strict=True)]
        reached += len(line) + 1
    return out


def around(spans: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int] | None:
    """The span that text[start:end] lies within, of spans that are in order and do not overlap; None if in none."""
    at = bisect_right(spans, (start, len(spans) and 1 << 62)) - 1
    return spans[at] if at >= 0 and spans[at][0] <= start and end <= spans[at][1] else None


def within(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether text[start:end] lies within one of the spans, which are in order and do not overlap."""
    return around(spans, start, end) is not None
