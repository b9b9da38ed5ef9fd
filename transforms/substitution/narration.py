"""Stories with dialogue, as novels have it: whom they point at («the widow», «her daughter», «he») has a name, here or elsewhere.

«A young lady … she» and «many women» may change as anywhere; «"Alas!" replied the widow» may not where others speak by name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from evenflow.transforms.substitution import leads, sets
from evenflow.transforms.substitution.chains import LEAST, Chain
from evenflow.transforms.substitution.sets import Item

SHORT = 1200  # characters up to which a text is not taken for a piece of a novel: whom it names nowhere has no name
LEFT = 0.45  # confidence that is left to whom a story points at
REACH = 45  # characters before a noun in which its determiner stands
# What stories say for «said»; news hardly does.
TELLING = (
    "replied|cried|exclaimed|answered|whispered|observed|returned|rejoined|inquired|enquired|murmured|muttered|ejaculated|"
    "interrupted|shouted|demanded|remarked|sobbed|sighed|began|groaned|pursued|laughed"
)
WHO = r"(?:I|he|she|(?:Mr|Mrs|Miss|Sir|Lady)\.?\s+\w+|[A-Z][a-z]+)"
SPOKEN = re.compile(rf"[”\"]\s+(?:(?P<told>{TELLING})|{WHO}\s+(?P<so>{TELLING})|said|{WHO}\s+(?:said|asked|added))\b")
TOLD, SAID = 2, 3  # the fewest that a story has of TELLING, or of all
NAMED_SPEAKER = re.compile(
    rf"\b(?:said|asked|{TELLING})\s+(?:(?:Mr|Mrs|Miss|Sir|Lady|the)\.?\s+)?[A-Z][a-z]|\b(?:Mr|Mrs|Miss)\.?\s+[A-Z]"
)
TITLES = ("Mr", "Mrs")
TITLED = 6  # the fewest titles that a piece without dialogue has, those of both sexes among them
# Nobody certain: somebody who comes in, or one of many.
ANY = leads.after(
    r"an?|any|every|each|no|some|one|another|other|many|what|which|such\s+an?", 4, but="of|the|his|her|my|their|who|that"
)
ANYBODY = re.compile(r"\b(?:an?|any|every|each|another|some|whoever|(?:any|every|some|no)(?:one|body)|one|who)\s", re.IGNORECASE)
POINTED = leads.after_possessor(
    r"the|this|that|these|those|both|" + leads.POSSESSIVES, 4, but="of|in|on|at|to|and|or|but|for|with|a|an"
)


def is_story(text: str) -> bool:
    """Whether a text, written with capitals, is a piece of a story whose people speak and have names."""
    if len(text) <= SHORT:
        return False
    found = list(islice(SPOKEN.finditer(text), 4 * SAID)) if "”" in text or '"' in text else []
    told = sum(1 for match in found if match["told"] or match["so"])
    if told >= TOLD or len(found) >= SAID:
        return NAMED_SPEAKER.search(text) is not None
    return all(f"{title}. " in text for title in TITLES) and sum(text.count(f"{title}. ") for title in TITLES) >= TITLED


def leave(chains: Sequence[Chain], text: str, sentences: Sequence[tuple[int, int]]) -> None:
    """Lower the confidence of whom a story points at. sentences: (start, end) in order."""
    for chain in chains:
        if chain.least >= LEAST and not _is_new(chain, text, sentences):
            chain.lower(LEFT, sets.UNSURE)


def _is_new(chain: Chain, text: str, sentences: Sequence[tuple[int, int]]) -> bool:
    """Whether a chain's people come in without a name, or are people in general."""
    if chain.unnamed:  # «any doctor … his», but not «the professor … his»
        first = chain.items[0]
        return ANYBODY.search(text, sentences[first.sentence][0], first.start) is not None
    nouns = [item for item in chain.items if item.kind != "pronoun"]
    return bool(nouns) and not _is_known(nouns[0], text, sentences)


def _is_known(item: Item, text: str, sentences: Sequence[tuple[int, int]]) -> bool:
    first = max(sentences[item.sentence][0], item.start - REACH)
    if item.kind == "title":
        return True
    if item.kind not in ("noun", "plural"):
        return False
    return ANY.search(text, first, item.start) is None and (
        item.kind == "noun" or POINTED.search(text, first, item.start) is not None
    )
