"""Words of a sentence and their parts of speech: a small bigram tagger, for the linguistic indicators.

The tags are those of the Penn Treebank, with everything rare as «X» and punctuation as «.». A word's tag is the best of a
first-order hidden Markov model (Brants 2000, "TnT", section 2): how often it has each tag, or for unknown words how often
words with its ending have it, times how often a tag follows the one before. The counts are those of UD English EWT, see
`indicator_tags.json`. A label is masked: its tag depends on its number and its place alone, never on which group it names.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

TAGS_PATH = Path(__file__).with_name("indicator_tags.json")
_WORDS = r"\d+(?:[.,]\d+)+|[^\W_]+(?:-[^\W_]+)*|[^\w\s]|_+"
# «don't» is two words, as in the treebank: what is said, and its denial. To look for it at every letter takes most of the time,
# and most sentences have no apostrophe.
_SHORTENED = re.compile(r"can(?=not\b)|[^\W_]+?(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|d|ll|m)\b|" + _WORDS, re.IGNORECASE)
_WHOLE = re.compile(r"can(?=not\b)|" + _WORDS, re.IGNORECASE)
LONGEST = 32  # characters of a word that are looked at: longer ones are no words
ENDING = 4  # characters of an ending at most
ENDS = '.!?:"“'  # behind them a capital says nothing
LEAST_SHARE = 1e-4  # of a tag that a word or place was not seen with

SINGULAR, PLURAL, PERSONAL, POSSESSIVE = "<one>", "<many>", "<who>", "<whose>"
# What a masked label may be, by its form alone.
MASKS: Mapping[str, dict[str, float]] = {
    SINGULAR: {"NN": 0.6, "JJ": 0.4},
    PLURAL: {"NNS": 1.0},
    PERSONAL: {"PRP": 1.0},
    POSSESSIVE: {"PRP$": 0.5, "PRP": 0.5},
}


class Token(NamedTuple):
    """A word or mark: text[start:end], its lower-case form, and its tag."""

    start: int
    end: int
    lower: str
    tag: str


class Tags(NamedTuple):
    """Log ratios: of a tag for a word or ending over the tag's own share; and of a tag after another."""

    words: dict[str, dict[str, float]]
    endings: dict[str, dict[str, float]]
    after: dict[str, dict[str, float]]


@cache
def shipped() -> Tags:
    """The counts beside this file. Raises FileNotFoundError where it is missing."""
    stored = json.loads(TAGS_PATH.read_text(encoding="utf-8"))
    share: dict[str, float] = stored["share"]
    kinds = {code: _ratios(_decode(code), share) for code in (*stored["words"], *stored["endings"])}
    return Tags(
        {word: kinds[code] for code, words in stored["words"].items() for word in words.split()},
        {ending: kinds[code] for code, endings in stored["endings"].items() for ending in endings.split()},
        {
            tag: {t: math.log(max(row.get(t, 0.0), LEAST_SHARE)) for t in share}
            for tag, row in ((tag, _decode(code)) for tag, code in stored["after"].items())
        },
    )


def _decode(code: str) -> dict[str, float]:
    """Shares from «NN=7,VB=3»."""
    counts = {tag: float(count) for tag, count in (part.rsplit("=", 1) for part in code.split(","))}
    total = sum(counts.values())
    return {tag: count / total for tag, count in counts.items()}


def _ratios(shares: Mapping[str, float], share: Mapping[str, float]) -> dict[str, float]:
    return {tag: math.log(max(p, LEAST_SHARE) / share[tag]) for tag, p in shares.items()}


@cache
def _masked() -> dict[str, dict[str, float]]:
    share = json.loads(TAGS_PATH.read_text(encoding="utf-8"))["share"]
    return {mask: _ratios(shares, share) for mask, shares in MASKS.items()}


def shape(word: str, first: bool) -> str:
    """A code for how a word is written: digits, capitals at the sentence's start or within it, a hyphen, or plain."""
    if not word[0].isalnum():
        return "."
    if any(c.isdigit() for c in word[:LONGEST]):
        return "9"
    if word.isupper() and len(word) > 1:
        return "A"
    if word[0].isupper():
        return "F" if first else "C"
    return "-" if "-" in word[:LONGEST] else "a"


@lru_cache(maxsize=65536)
def _guess(lower: str, shape_code: str) -> dict[str, float]:
    """Tags of a word that is not in the lexicon, from its longest known ending."""
    endings = shipped().endings
    for size in range(min(ENDING, len(lower)), -1, -1):
        found = endings.get(shape_code + "~" + lower[len(lower) - size :])
        if found:
            return found
    return endings["a~"]


def candidates(word: str, lower: str, first: bool) -> dict[str, float]:
    """Possible tags of a word with their log ratios; capitals within a sentence speak for a name."""
    return _candidates(word, lower, first) if len(word) <= LONGEST else _candidates.__wrapped__(word, lower, first)


@lru_cache(maxsize=65536)
def _candidates(word: str, lower: str, first: bool) -> dict[str, float]:
    code = shape(word, first)
    if code == "C":
        known = shipped().words.get("C~" + lower)
        return known or _guess(lower[:LONGEST], code)
    known = shipped().words.get(lower)
    if known is None and "-" in lower:
        known = shipped().words.get(lower.rsplit("-", 1)[1])
    return known or _guess(lower[-LONGEST:], code)


def token(text: str) -> re.Pattern[str]:
    """The pattern of a word or mark of a text."""
    return _SHORTENED if "'" in text or "’" in text else _WHOLE


def split(text: str) -> list[tuple[int, int]]:
    """Start and end of each word and mark of a text, in order."""
    return [match.span() for match in token(text).finditer(text)]


def tag(text: str, spans: Sequence[tuple[int, int]], masks: Mapping[int, str]) -> list[Token]:
    """The words with their tags. masks: place in spans → one of MASKS, for words whose text must not matter.

    Takes time in proportion to the number of words.
    """
    after, masked = shipped().after, _masked()
    best: dict[str, float] = {"<s>": 0.0}
    back: list[dict[str, str]] = []
    lowers: list[str] = []
    first = True
    for place, (start, end) in enumerate(spans):
        mask = masks.get(place)
        word = text[start:end]
        lower = (mask or word.lower()).replace("’", "'")
        lowers.append(lower)
        best, source = _next(best, masked[mask] if mask else candidates(word, lower, first), after)
        back.append(source)
        first = (first and not word[0].isalnum()) or word in ENDS
    tags: list[str] = []
    here = max(best, key=best.__getitem__) if spans else ""
    for source in reversed(back):
        tags.append(here)
        here = source[here]
    tags.reverse()
    return [Token(start, end, lower, tag) for (start, end), lower, tag in zip(spans, lowers, tags, strict=True)]


def _next(
    best: Mapping[str, float], own: Mapping[str, float], after: Mapping[str, Mapping[str, float]]
) -> tuple[dict[str, float], dict[str, str]]:
    """The best sum of each of a word's tags, and the tag before it that it has it with. best: of the tags before."""
    if len(best) == 1:
        [(at, value)] = best.items()
        row = after[at]
        return {tag: value + row[tag] + ratio for tag, ratio in own.items()}, dict.fromkeys(own, at)
    now: dict[str, float] = {}
    source: dict[str, str] = {}
    rows = [(before, value, after[before]) for before, value in best.items()]
    for tag, ratio in own.items():
        at, value = "", -math.inf
        for before, sum_before, row in rows:
            value_here = sum_before + row[tag]
            if value_here > value:
                at, value = before, value_here
        now[tag] = value + ratio
        source[tag] = at
    return now, source
