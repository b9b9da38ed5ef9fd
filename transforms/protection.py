"""What substitution must not touch: finds in a sentence the patterns of `protection.yaml`, and quotations."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

RULES_PATH = Path(__file__).with_name("protection.yaml")
WORD = re.compile(r"\w+")
SENTENCE, PHRASE = "sentence", "phrase"
# A quotation in one paragraph. Longer than this (characters) it is more likely a forgotten mark than a quotation.
LONGEST_QUOTATION = 1500
QUOTED = re.compile(
    rf"“[^“”]{{2,{LONGEST_QUOTATION}}}”|(?<![\w\"])\"(?=\S)(?:(?!\n\s*\n)[^\"]){{2,{LONGEST_QUOTATION}}}\"(?![\w\"])|«[^«»]+»"
)


@dataclass(frozen=True, eq=False)
class Rule:
    """One kind of place that is left alone. weight: the confidence left. groups: None for all."""

    reason: str
    scope: str
    weight: float
    groups: frozenset[str] | None


class _Rules:
    """The rules of an attribute, indexed so that at a word only the phrases that begin like it are tried."""

    def __init__(self, attribute: str):
        stored: dict[str, Any] = yaml.safe_load(RULES_PATH.read_text(encoding="utf-8"))
        self.patterns: list[tuple[Rule, re.Pattern[str]]] = []
        self.phrases: dict[str, list[tuple[Rule, re.Pattern[str]]]] = {}
        for entry in stored["rules"]:
            if attribute not in entry.get("attributes", [attribute]):
                continue
            groups = frozenset(entry["groups"]) if "groups" in entry else None
            rule = Rule(entry["reason"], entry["scope"], float(entry["weight"]), groups)
            if "patterns" in entry:
                whole = re.compile("|".join(f"(?:{pattern})" for pattern in entry["patterns"]), re.IGNORECASE)
                self.patterns.append((rule, whole))
            for phrase in filter(None, map(str.strip, entry.get("phrases", "").split(" | "))):
                compiled = re.compile(rf"(?:{phrase})(?!\w)", re.IGNORECASE)
                for start in _starts(phrase):
                    self.phrases.setdefault(start, []).append((rule, compiled))


def _starts(phrase: str) -> list[str]:
    """The letters that a phrase may begin with, at most three; one empty text where that cannot be said."""
    group = re.match(r"\(\?:([^()|]+(?:\|[^()|]+)*)\)(?![?*{])(.*)", phrase)
    begins = [option + group[2] for option in group[1].split("|")] if group else [phrase]
    out: set[str] = set()
    for each in begins:
        match = re.match(r"[a-z]+", each)
        letters = match[0] if match else ""
        if each[len(letters) : len(letters) + 1] in ("?", "*", "{"):
            letters = letters[:-1]
        out.add(letters[:3])
    return [""] if "" in out else sorted(out)


@dataclass(frozen=True)
class Found:
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


def find(text: str, start: int, end: int, attribute: str) -> list[Found]:
    """The places of a sentence text[start:end] that an attribute's rules cover."""
    said = text[start:end]
    rules = _rules(attribute)
    out: list[Found] = []
    known: set[int] = set()  # rules of whole sentences are said once

    def add(rule: Rule, match: re.Match[str]) -> None:
        if rule.scope == PHRASE:
            out.append(Found(start + match.start(), start + match.end(), rule.reason, rule.weight, rule.groups))
        elif id(rule) not in known:
            known.add(id(rule))
            out.append(Found(start, end, rule.reason, rule.weight, rule.groups))

    for rule, pattern in rules.patterns:
        for match in pattern.finditer(said):
            add(rule, match)
            if rule.scope == SENTENCE:
                break
    folded = said.lower()
    if len(folded) != len(said):  # a letter that is longer in lower case
        folded = "".join(character.lower()[:1] for character in said)
    for word in WORD.finditer(said):
        at = word.start()
        for size in (3, 2, 1, 0):
            for rule, pattern in rules.phrases.get(folded[at : at + size], ()):
                if id(rule) not in known:
                    match = pattern.match(said, at)
                    if match is not None:
                        add(rule, match)
    return out


def quotations(text: str) -> list[tuple[int, int]]:
    """Start and end of each quotation in a text, in its order."""
    if '"' not in text and "“" not in text and "«" not in text:
        return []
    spans = [match.span() for match in QUOTED.finditer(text)]
    whole = len(spans) == 1 and not text[: spans[0][0]].strip() and not text[spans[0][1] :].strip()
    return [] if whole else spans  # a text that is all in marks quotes nobody


def within(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether text[start:end] lies within one of the spans, which are in order and do not overlap."""
    at = bisect_right(spans, (start, len(spans) and 1 << 62)) - 1
    return at >= 0 and spans[at][0] <= start and end <= spans[at][1]
