"""Pairs that are even already: «he or she», «men and women», «his mother and father»."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from evenflow.transforms.substitution import leads, sets
from evenflow.transforms.substitution.sets import Item
from evenflow.wordlists import spelling

COORDINATED = re.compile(
    r"\s*(?:(?:,|\()?\s*(?:and/or|and|or|nor|&|\+|vs\.?|versus)\s+|\s?/\s?|,\s*)"
    r"(?:(?:both|either|neither|of|to|for|by|with|from|the|an?|my|your|his|her|their|our|its|some|all|no|any|that|this|these|"
    r"those|old|young|little|other|for|\d[\d,.]*%?|one|two|three|four|five|six|seven|eight|nine|ten|many|fewer|more)\s+){0,3}",
    re.IGNORECASE,
)
# Plural words of either side that make an even pair with each other.
PEOPLE_PLURAL = frozenset(
    (
        *("men", "women", "ladies", "gentlemen", "guys", "gals", "girls", "boys", "males", "females", "gents", "fellas"),
        *("dudes", "chicks", "lads", "lasses", "blokes"),
    )
)
SHARE = re.compile(r"\d\s?(?:%|per ?cent\b)|\b(?:one|two|three) (?:in|out of) (?:\w+)\b", re.IGNORECASE)
EVERY = leads.after("every|any|each|all|no", 1, r"\w+")
THE = leads.after("the", 1, r"\w+")
PEOPLE_SINGULAR = frozenset(
    ("man", "woman", "lady", "gentleman", "guy", "gal", "girl", "boy", "male", "female", "dude", "chick", "bloke", "lad", "lass")
)
# What sets one side against the other between them, and at the start of a sentence that goes on from the one before.
COMPARES = re.compile(
    r"\b(?:than|versus|vs|unlike|outnumber\w*|outlive\w*|outperform\w*|out-?earn\w*|whereas|(?:as )?compared (?:to|with)|"
    r"as (?:much|many|often|likely|well|good|big|tall|old|long) as)\b",
    re.IGNORECASE,
)
CONTRASTS = re.compile(
    r"\W*(?:but|not|however|whereas|while|unlike|by contrast|in contrast|meanwhile|though|although|conversely|compared)\b",
    re.IGNORECASE,
)
SEXES = frozenset(("male", "female"))
# Whom people in general have («men … their wives»), couples of one home, and what one side does to the other.
PARTNERS = frozenset(("wives", "husbands", "girlfriends", "boyfriends"))
COUPLES = (
    *(("husband", "wife"), ("boyfriend", "girlfriend"), ("mother", "father"), ("mom", "dad"), ("mum", "dad")),
    ("bride", "groom"),
)
OWNED = leads.after("their|his|her|the", 2)
FORCED = re.compile(r"\b(?:rap(?:e|es|ed|ing)|molest\w*|grop(?:e|es|ed|ing)|catcall\w*|sexually)\b", re.IGNORECASE)
# Of each pronoun but «her», which has two.
CASES = {
    **dict.fromkeys(("she", "he", "shes", "hes"), "subject"),
    **dict.fromkeys(("him", "himself", "herself"), "object"),
    **dict.fromkeys(("his", "hers"), "possessive"),
    "her": "",
}
LINKS = re.compile(r"\b(?:and|or|nor)\b|&")
# Characters between two words that «and» links, and that «than» does.
LONGEST_LINK, LONGEST_COMPARISON = 40, 100
COMPARED = 0.45  # confidence that is left to groups that are compared


def bar_even(text: str, items: Sequence[Item], pair: dict[str, str], sentences: Sequence[tuple[int, int]]) -> None:
    """Bar the items, in the text's order, that name both sides together.

    pair: folded label -> its counterpart. sentences: (start, end) in order.
    """
    for first, second in pairwise(items):
        apart = second.start - first.end
        if first.group == second.group or first.sentence != second.sentence or apart > LONGEST_COMPARISON:
            continue
        between = text[first.end : second.start]
        if apart <= LONGEST_LINK and COORDINATED.fullmatch(between) is not None:
            comma = between.strip().startswith(",") and not LINKS.search(between)
            together = not comma or first.kind == second.kind == "plural"
        else:
            together = "pronoun" not in (first.kind, second.kind) and COMPARES.search(between) is not None
        if together and _same_role(first, second, pair):
            first.lower(0.0, sets.EVEN)
            second.lower(0.0, sets.EVEN)
    _bar_compared(text, items, sentences)
    _bar_one_deed(text, items, sentences)


def _bar_compared(text: str, items: Sequence[Item], sentences: Sequence[tuple[int, int]]) -> None:
    """Bar men and women in general where the other side is spoken of too, in the sentence or beside it, or where shares are."""
    named: dict[int, set[str]] = {}
    for item in items:
        if item.word in PEOPLE_PLURAL:
            named.setdefault(item.sentence, set()).add(item.group)

    def others(item: Item, step: int) -> bool:
        """Whether the other side is spoken of so many sentences on."""
        there = named.get(item.sentence + step)
        return there is not None and there != {item.group}

    for item in items if named else ():
        if item.weight <= COMPARED:  # nothing below could lower it
            continue
        plural = item.word in PEOPLE_PLURAL
        if not plural and not (item.word in PEOPLE_SINGULAR and EVERY.search(text, max(0, item.start - 20), item.start)):
            continue
        if (
            others(item, 0)
            or (plural and SHARE.search(text, max(0, item.start - 60), item.end + 30))
            or ((others(item, -1) or others(item, 1)) and THE.search(text, max(0, item.start - 20), item.start))
        ):
            item.lower(COMPARED, sets.COMPARED)
    if named:
        _bar_contrasted(text, items, sentences)


def _bar_contrasted(text: str, items: Sequence[Item], sentences: Sequence[tuple[int, int]]) -> None:
    """Bar men and women in general where the next sentence sets the other side against them («Not so much for women»)."""
    said: dict[int, list[Item]] = {}
    for item in items:
        if item.word in PEOPLE_PLURAL or item.word in SEXES:
            said.setdefault(item.sentence, []).append(item)
    for place, here in said.items():
        before = said.get(place - 1)
        if before is None or CONTRASTS.match(text, *sentences[place]) is None:
            continue
        both = [*before, *here]
        if len({item.group for item in both}) > 1:
            for item in both:
                item.lower(COMPARED, sets.COMPARED)


def _bar_one_deed(text: str, items: Sequence[Item], sentences: Sequence[tuple[int, int]]) -> None:
    """Bar both sides where one sentence tells what the one does to the other («men … beat their wives», «a husband … his wife»).

    Turned round they would have to be both at once.
    """
    by_place: dict[int, list[Item]] = {}
    for first, second in pairwise(items):
        if first.sentence == second.sentence and first.group != second.group and first.sentence not in by_place:
            by_place[first.sentence] = []
    for item in items if by_place else ():
        if item.sentence in by_place:
            by_place[item.sentence].append(item)
    for place, here in by_place.items():
        general = [item for item in here if item.word in PEOPLE_PLURAL and not _has(THE, text, item)]
        done = {item.group for item in general}
        partnered = any(item.group not in done and item.word in PARTNERS and _has(OWNED, text, item) for item in here)
        if done and (partnered or FORCED.search(text, *sentences[place])):
            _bar(here)
        else:
            said = {item.word: item for item in here if item.kind == "noun"}
            for one, other in COUPLES:
                if one in said and other in said:
                    second = max(said[one], said[other], key=lambda item: item.start)
                    if _has(OWNED, text, second):
                        _bar([said[one], said[other]])


def _bar(items: Sequence[Item]) -> None:
    for item in items:
        item.lower(COMPARED, sets.COMPARED)


def _has(lead: re.Pattern[str], text: str, item: Item) -> bool:
    return lead.search(text, max(0, item.start - 30), item.start) is not None


def _same_role(first: Item, second: Item, pair: dict[str, str]) -> bool:
    """Whether two words of different sides are each other's counterpart, or as good as that."""
    words = {first.word, second.word}
    if first.kind == second.kind == "pronoun":
        return CASES[first.word] == CASES[second.word] or "her" in words  # not «I saw him and she saw me»
    if spelling.fold(pair.get(first.word, "")) == second.word or spelling.fold(pair.get(second.word, "")) == first.word:
        return True
    if words <= PEOPLE_PLURAL or words <= PEOPLE_SINGULAR:
        return True
    families = (
        {"mother", "mom", "mum", "mommy", "mummy", "mama", "father", "dad", "daddy", "papa"},
        {"wife", "husband", "bride", "groom", "man"},
        {"grandma", "granny", "grandmother", "grandpa", "grandfather"},
        {"mothers", "moms", "mums", "fathers", "dads"},
        {"lord", "lady", "lords", "ladies", "king", "queen", "prince", "princess"},
    )
    return any(words <= family for family in families)
