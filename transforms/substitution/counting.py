"""Both sexes counted or told apart in sentences beside each other: neither changes, since the other would be said twice.

«There are 6 girls in the park. There are twice as many boys.», «Girls should get 15 mg. Boys should get 11 mg.»
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenflow.transforms import english
from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.wordsets import WordSets

PAIRS = {
    "girls": ("boys", "boy"),
    "boys": ("girls", "girl"),
    "women": ("men", "man"),
    "men": ("women", "woman"),
    "sisters": ("brothers", "brother"),
    "brothers": ("sisters", "sister"),
    "females": ("males", "male"),
    "males": ("females", "female"),
    "female": ("male", "males"),
    "male": ("female", "females"),
    "daughters": ("sons", "son"),
    "sons": ("daughters", "daughter"),
}
COUNTED = english.words("counting")
# Before people of a text, who are nobody's.
WHOSE = re.compile(r"\b(?:my|your|his|her|our|their|its)\s+(?:[\w-]+\s+){0,2}$|['’]s?\s+(?:[\w-]+\s+){0,2}$", re.IGNORECASE)
LEFT = 0.4  # confidence that is left to either
REACH = 40  # characters before a word in which it is said whose it is


def check(text: str, sentences: Sequence[tuple[int, int]], items: Sequence[Item], words: WordSets) -> None:
    """Lower the confidence of plurals and adjectives whose other sex is counted in a sentence beside theirs."""
    for item in items:
        others = PAIRS.get(item.word)
        if others is None or item.weight < LEFT or (item.kind == "plural" and _is_owned(text, item)):
            continue
        here = words[item.sentence]
        for place in (item.sentence - 1, item.sentence + 1):
            there = words[place] if 0 <= place < len(sentences) else here
            if item.word not in there and not there.isdisjoint(others) and _count(there) and _count(here):
                item.lower(LEFT, sets.COMPARED)
    counted = {(item.sentence, item.word) for item in items if item.reason == sets.COMPARED and item.weight <= LEFT}
    for item in items if counted else ():
        if (item.sentence, f"{item.word}s") in counted:  # «One of the brothers is half the age of the older brother.»
            item.lower(LEFT, sets.COMPARED)


def _is_owned(text: str, item: Item) -> bool:
    return WHOSE.search(text, max(0, item.start - REACH), item.start) is not None


def _count(words: frozenset[str]) -> bool:
    return not COUNTED.isdisjoint(words) or any(word[0].isdigit() for word in words)
