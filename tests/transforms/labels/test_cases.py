"""Mentions of the shipped lists in short texts.

Each line of tests/data/label_cases.jsonl is a text, written for it, and its mentions as
“group:characters of the text”, in the text's order. A group's name stands for its attribute: no two
attributes share one.
"""

from __future__ import annotations

import json
import re

import pytest
from places import DATA

from evenflow.transforms.labels.finder import LabelFinder
from evenflow.wordlists.loader import SHIPPED, load

FINDER = LabelFinder([load(name) for name in SHIPPED])

# Words that look like parts of others; the list as published has them
PUBLISHED = [
    ("Don Juan wouldn't; the don's gone", "male:Don male:don"),
    ("“don” isn't “don't”", "male:don"),
    ("don\u0303a, doña, DOÑA, dona", "female:don\u0303a female:doña female:DOÑA"),
    ("don\\nman", "male:don"),
]
CASES = map(json.loads, (DATA / "label_cases.jsonl").read_text("ascii").splitlines())
GROUPS = "|".join(group for words in FINDER.lists for group in words.groups)


@pytest.mark.parametrize(
    ("finder", "text", "expected"),
    [
        *((FINDER, *case) for case in CASES),
        *((LabelFinder([load("gender-table12")]), *case) for case in PUBLISHED),
    ],
)
def test_a_text_mentions(finder: LabelFinder, text: str, expected: str) -> None:
    mentions = sorted(finder.find(text), key=lambda mention: (mention.start, -mention.end))
    found = [f"{mention.group}:{text[mention.start : mention.end]}" for mention in mentions]
    assert found == [part for part in re.split(rf" (?=(?:{GROUPS}):)", expected) if part]
