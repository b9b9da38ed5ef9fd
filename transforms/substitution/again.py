"""Persons of whom a text tells again further on: «my son … her son», «the widow … the widow», «Father: …», each one story.

Words for one person, each with what says whose or which one is meant, go into one chain where nothing says that they are
different people: «her brother» and «his brother» may be two, «the brother» is whichever was told of. Where it is unsure, they
change together too: who changes without need is even as well, who changes halfway is nonsense.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from evenflow.transforms.substitution import leads, sets
from evenflow.transforms.substitution.capitals import CALLED_SO
from evenflow.transforms.substitution.chains import LEAST, Chain
from evenflow.transforms.substitution.introducing import is_label
from evenflow.transforms.substitution.sets import Item

# What is said of nobody in particular, or keeps its word whoever is meant.
NOBODY = frozenset((sets.SENSE, sets.IDIOM, sets.GENERIC, sets.EVEN, sets.COMPARED, sets.FOREIGN, sets.LONG, sets.ADDRESS))
# Words for the same relative; any other word is its own.
SAME = {
    **dict.fromkeys(("mom", "mum", "mommy", "mummy", "momma", "mama", "ma"), "mother"),
    **dict.fromkeys(("dad", "daddy", "pa", "papa", "pop"), "father"),
    **dict.fromkeys(("grandma", "granny", "nana"), "grandmother"),
    **dict.fromkeys(("grandpa", "granddad", "gramps"), "grandfather"),
    **dict.fromkeys(("bro",), "brother"),
    **dict.fromkeys(("hubby",), "husband"),
}
WHOSE = re.compile(
    rf"(?:\b(the|this|that|same|{leads.POSSESSIVES})|([^\W\d_]+(?:\s?['’]s|s['’])))\s+(?:(?!(?:of|in|on|at|to|and|or|but|for|with|"
    r"by|from|who|that|is|was|are|were)\b)[\w-]+,?\s+){0,3}(?:(?:ex|step|half|great|god)-)?$",
    re.IGNORECASE,
)
ONE = leads.after("an?|one", 3, but="of|in|on|at|to|and|or|but|for|with|by|from|who|that|is|was|are|were")
ONE_OF_MANY = "a"
POINTING = frozenset(("the", "this", "that", "same"))
SPOKEN = frozenset(("my", "your", "our"))  # one of these may be another's word for the same relative, where there are speakers
REACH = 45  # characters before a noun within which it is said whose or which one it is
NEAR = 12  # sentences within which «the woman» is the one before


class _Told:
    """Mentions of most likely one person. last: the last of them. whose: of the last that was not merely pointed at, lower
    case; empty: not said.
    """

    __slots__ = ("last", "whose")

    def __init__(self, last: Item, whose: str):
        self.last, self.whose = last, whose


def join(text: str, sentences: Sequence[tuple[int, int]], items: Iterable[Item], chains: list[Chain]) -> list[Chain]:
    """The chains, those of the same person made one. items: in the text's order, each in one of the chains."""
    nouns = [item for item in items if item.kind == "noun"]
    said = Counter(map(_key, nouns))
    if not said or max(said.values()) == 1:
        return chains
    chain_of = {id(item): chain for chain in chains for item in chain.items}
    gone: set[int] = set()
    told: dict[tuple[str, str], list[_Told]] = {}
    dialogue = any(is_label(text, item) for item in nouns)
    for item in nouns:
        key = _key(item)
        if said[key] == 1 or (item.weight < LEAST and item.reason in NOBODY):
            continue
        chain = chain_of[id(item)]
        whose = _whose(text, sentences[item.sentence][0], item)
        if whose is None or (chain.least < LEAST and chain.reason in NOBODY):
            continue
        known = told.setdefault(key, [])
        same = (each for each in reversed(known) if _may_be_one(each, whose, item, dialogue))
        before = next(same, None) if whose != ONE_OF_MANY else None
        if before is None:
            known.append(_Told(item, whose))
            continue
        first = chain_of[id(before.last)]
        if first is not chain:
            gone.add(id(chain))
            for each in chain.items:
                chain_of[id(each)] = first
            first.take(chain)
        before.last = item
        if whose not in POINTING:
            before.whose = whose
    return [chain for chain in chains if id(chain) not in gone]


def _key(item: Item) -> tuple[str, str]:
    return item.group, SAME.get(item.word, item.word)


def _whose(text: str, start: int, item: Item) -> str | None:
    """What says whose or which one a noun is, «a» for one of many, empty for a name within the family; None: nothing."""
    if is_label(text, item):
        return ""
    first = max(start, item.start - REACH)
    found = WHOSE.search(text, first, item.start)
    if found is not None:
        return (found[1] or found[2]).lower()
    if ONE.search(text, first, item.start):
        return ONE_OF_MANY
    named = item.word in CALLED_SO and (text[item.start].isupper() or SAME.get(item.word, item.word) != item.word)
    return "" if named else None


def _may_be_one(told: _Told, whose: str, item: Item, dialogue: bool) -> bool:
    """Whether somebody told of before may be the one who is meant."""
    near = item.sentence - told.last.sentence <= NEAR
    if told.whose == ONE_OF_MANY:
        return whose in POINTING and near
    if told.whose in POINTING or whose in POINTING:
        return near
    if told.whose == whose or not told.whose or not whose:
        return True
    return dialogue and whose in SPOKEN and told.whose in SPOKEN
