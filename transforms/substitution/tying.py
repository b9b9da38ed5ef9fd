"""Nouns of one sentence that change together or not at all, though each has a chain of its own.

«a troubled father and son» share their article; in a comment «some girls … this girl … black girls» are one claim, and «the guy»
beside «he» is most likely the same person.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from evenflow.transforms.substitution import leads, sets
from evenflow.transforms.substitution.chains import LEAST, Chain
from evenflow.transforms.substitution.sets import Item

AND = re.compile(r"\s+(?:and|&)\s+(?:[\w-]+\s+)?")
POINTED = leads.after("the|this|that", 2)
DETERMINERS = frozenset(
    ("a", "an", "the", "my", "your", "his", "her", "our", "their", "its", "some", "this", "that", "no", "two")
)
ONE_OF = {"men": "man", "women": "woman", "guys": "guy", "girls": "girl", "boys": "boy", "ladies": "lady", "dudes": "dude"}
OF_DOUBT = frozenset((sets.UNSURE, sets.REFERS, sets.NAMED, sets.WORK, sets.COMPARED, sets.BOUND, sets.DOUBTED))
TIED = 0.45
NOUNS = ("noun", "plural")
LONGEST_AND = 30  # characters between two nouns that «and» joins
REACH = 40  # characters before a noun within which its determiner stands


def tie(text: str, items: Sequence[Item], chains: Sequence[Chain], caseless: bool) -> None:
    """Bar what hangs together with a barred noun of its sentence. items: in the text's order, each in one of the chains."""
    chain_of = {id(item): chain for chain in chains for item in chain.items}
    for first, second in pairwise(items):
        if first.sentence == second.sentence and first.group == second.group and _are_joined(text, first, second):
            _together((chain_of[id(first)], chain_of[id(second)]))
    if not caseless:
        return
    by_place: dict[tuple[int, str], list[Item]] = {}
    for item in items:
        by_place.setdefault((item.sentence, item.group), []).append(item)
    for here in by_place.values():
        if len(here) > 1:
            _tie_claims(here, chain_of)
            _tie_pointed(text, here, chain_of)


def _are_joined(text: str, first: Item, second: Item) -> bool:
    """Whether «and» joins two nouns under one article («a troubled father and son»)."""
    if first.kind not in NOUNS or second.kind not in NOUNS or second.start - first.end > LONGEST_AND:
        return False
    between = text[first.end : second.start]
    return AND.fullmatch(between) is not None and DETERMINERS.isdisjoint(between.lower().split())


def _tie_claims(here: Iterable[Item], chain_of: dict[int, Chain]) -> None:
    """Of the words for the same people none changes where one does not."""
    same: dict[str, list[Chain]] = {}
    for item in here:
        if item.kind in NOUNS and (item.word in ONE_OF or item.word in ONE_OF.values()):
            same.setdefault(ONE_OF.get(item.word, item.word), []).append(chain_of[id(item)])
    for chains in same.values():
        _together(chains)


def _tie_pointed(text: str, here: Iterable[Item], chain_of: dict[int, Chain]) -> None:
    """Bar «the guy» beside a «he» that is barred for whom it may mean."""
    if not any(item.kind == "pronoun" and _is_doubted(chain_of[id(item)]) for item in here):
        return
    for item in here:
        if item.kind == "noun" and POINTED.search(text, max(0, item.start - REACH), item.start):
            chain_of[id(item)].lower(TIED, sets.UNSURE)


def _together(chains: Sequence[Chain]) -> None:
    if any(_is_doubted(chain) for chain in chains):
        for chain in chains:
            chain.lower(TIED, sets.UNSURE)


def _is_doubted(chain: Chain) -> bool:
    """Whether a chain stays for whom it may mean, not for a word that is another's («lady luck»)."""
    if chain.weight < LEAST:
        return chain.reason in OF_DOUBT
    return any(item.weight < LEAST and item.reason in OF_DOUBT for item in chain.items)
