"""Years beside somebody whom nothing else makes known: «In 2016 a septuagenarian on our street grew a pumpkin».

A year bars a sentence since it mostly tells of what has happened to somebody who can be found. Where the person is but «a …»,
the time is that of people alive, and no name, place or office stands in the sentence, it is everyday life.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenflow.transforms import english
from evenflow.transforms.substitution import leads, sets
from evenflow.transforms.substitution.protection import Found
from evenflow.transforms.substitution.sets import Item

LEFT = 0.55  # confidence that is left
EARLIEST = 1960
YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")
NUMBER = re.compile(r"\d+")
# Somebody who is met for the first time.
A = leads.after("an?|another|some|two|three|several", 3, but="of|in|on|at|by|with|from|and|or|who|that|to|for")
CAPITAL = re.compile(r"[^\W\d_][\w'’-]*")
NO_NAMES = english.words("capitals_of_no_names")


def is_everyday(text: str, start: int, end: int, item: Item, found: Sequence[Found], others: Sequence[Item]) -> bool:
    """Whether a sentence text[start:end] has a year beside an item and nothing else that makes the item known.

    found: what the rules find in the sentence. others: all items of the sentence, whose capitals name nobody.
    """
    if any(each.reason != sets.DATE and each.weight < LEFT for each in found):
        return False
    if A.search(text, max(start, item.start - 40), item.start) is None:
        return False
    years = [int(match[0]) for match in YEAR.finditer(text, start, end)]
    if not years or min(years) < EARLIEST or len(NUMBER.findall(text, start, end)) > len(years):
        return False
    labels = {place for each in others for place in range(each.start, each.end)}
    capitals = [match for match in CAPITAL.finditer(text, start, end) if match[0][0].isupper() and match.start() not in labels]
    return all(
        match[0] in NO_NAMES or (match is capitals[0] and not text[start : match.start()].strip("\"“‘' ")) for match in capitals
    )
