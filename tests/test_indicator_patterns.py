"""Phrases: none is missed for want of the words that are looked for first."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from re import _parser as grammar  # pyright: ignore[reportAttributeAccessIssue, reportPrivateUsage]
from typing import Any

import pytest

from evenflow.transforms.stereotyping.indicator_patterns import NEEDED
from evenflow.transforms.stereotyping.indicator_stance import DENYING, denies
from evenflow.transforms.stereotyping.indicator_tagging import token

SENTENCES = Path(__file__).parent / "data"
MARK = re.compile(r"(\w)([.!\"”])")  # a mark is a word of its own
SAMPLES = 3000  # of each pattern: some for every one of its words


def sample(parsed: Any, draw: random.Random) -> str:
    """A text that fits a pattern as `re` parsed it, but for what must not stand around it."""
    out = ""
    for kind, given in parsed:
        name = str(kind)
        if name == "LITERAL":
            out += chr(given)
        elif name == "BRANCH":
            out += sample(draw.choice(given[1]), draw)
        elif name == "SUBPATTERN":
            out += sample(given[-1], draw)
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            low, high, each = given
            out += "".join(sample(each, draw) for _ in range(draw.randint(low, min(high, low + 2))))
        elif name == "IN":
            letters = [chr(value) for part, value in given if str(part) == "LITERAL"]
            out += draw.choice(letters) if letters else "." if "CATEGORY_NOT_WORD" in str(given) else "x"
        elif name == "ANY":
            out += "x"
        else:
            assert name in ("AT", "ASSERT", "ASSERT_NOT"), name
    return out


@pytest.mark.parametrize("pattern", NEEDED, ids=lambda pattern: pattern.pattern[:30])
def test_every_phrase_has_a_word_that_it_needs(pattern: re.Pattern[str]) -> None:
    draw, parsed, needed = random.Random(0), grammar.parse(pattern.pattern), set(NEEDED[pattern])
    found = 0
    for _ in range(SAMPLES):
        match = pattern.search(MARK.sub(r"\1 \2", sample(parsed, draw)))
        if match is not None:
            found += 1
            assert not NEEDED[pattern].isdisjoint(match.group().split(" ")), match.group()
            needed -= {*match.group().split(" ")}
    assert found > SAMPLES / 10
    assert not needed, "words that no phrase has"


def test_denials_are_what_the_patterns_find() -> None:
    denied = 0
    for name in ("not_stereotypes", "stereotype_exam"):
        for line in (SENTENCES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            text = json.loads(line)["text"]
            joined = " ".join(token(text).findall(text)).lower().replace("’", "'")
            found = any(pattern.search(joined) for pattern in DENYING)
            assert denies(text) == found, text
            denied += found
    assert denied > 50
