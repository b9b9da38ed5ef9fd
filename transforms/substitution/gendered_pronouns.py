"""Who a pronoun may mean that is nobody: God, a ship, a country, and organisations that have one in their name."""

from __future__ import annotations

import re

from evenflow.transforms import english
from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.said import Said, is_shouted
from evenflow.transforms.substitution.sets import Item

AROUND = 300  # characters about a pronoun in which a deity may be meant by it
DEITIES = english.words("deities")
DEITY = re.compile(rf"\b(?:{'|'.join(sorted(map(str.capitalize, DEITIES)))})\b")
# In a text without capitals: a deity before «he», unless it is but an exclamation.
ANY_DEITY = re.compile(
    rf"(?<!my )(?<!omg )(?<!for )(?<!thank )\b(?:{'|'.join(sorted(DEITIES - {'lord'}))})\b"
    r"(?! (?:damn|sake|knows|bless|i|you|do|how|what)\b)",
    re.IGNORECASE,
)
VESSELS = english.words("vessels")
VESSEL = re.compile(rf"\b(?:{'|'.join(sorted(VESSELS))})\b(?! that\b)", re.IGNORECASE)
NOT_VESSEL = re.compile(r"\s*(?:[.,;!?]|$)")  # «named the boat after her»
# «She Should Run»: behind a subject no word of a sentence has a capital, and no name stands.
NAMED_SO = re.compile(r"(?:\s+[A-Z][a-z]+){2}|\s+[A-Z][a-z]+\s+(?:was|is|has|had|are|were|got|gets|won|opens|opened|came)\b")


# Whom a sentence is about that is an animal or a figure: «My dog buried his bone», «The old mare …, and she …»
OWNED = re.compile(r"\s+([a-z]+)(?:\s+([a-z]+))?", re.IGNORECASE)
OF_BEASTS = english.words("of_beasts")
BEASTS = english.words("beasts")
BEAST = re.compile(
    r"[\s\"“‘'(]*(?:(?:and|but|then|when|while|once|so)\s+)?"
    r"(?:the|my|our|your|their|an?|this|that|every|each|one|his|her)\s+(?:[\w-]+,?\s+){0,2}?([a-z]+)(?=\s+(?!and\b|or\b)[a-z]|,)",
    re.IGNORECASE,
)


# «should he faithfully adhered to»: a «be» that was misread.
MISREAD = re.compile(r"\b(?:to|should|shall|must|will|would|can|could|may|might)\s+(?:not\s+)?$", re.IGNORECASE)
PARTICIPLE = re.compile(
    r"\s+(?:[a-z]+ly\s+)?(?:[a-z]{2,}(?<!e)(?<!sh)(?<!mb)(?<!w)ed|made|given|done|taken|found|held|kept|known|seen|shown)\b"
)


def check(said: Said, item: Item, male: bool, first_female: int, beside: bool = False) -> None:
    """Lower the confidence of a pronoun that may be nobody's.

    first_female: where the sentence's first female word begins. beside: whether somebody of its group is told of shortly
    before it.
    """
    if male:
        _check_deity(said, item)
    elif not VESSELS.isdisjoint(said.words) and _may_be_vessel(said, item, first_female):
        item.lower(0.45, sets.SENSE)
    if not beside and not BEASTS.isdisjoint(said.words) and _may_be_beast(said, item):
        item.lower(0.3, sets.SENSE)
    if item.word == "he" and PARTICIPLE.match(said.after(item.end)) and MISREAD.search(said.before(item.start)):
        item.lower(0.0, sets.SENSE)
    if item.word in ("she", "he") and said.capitals and NAMED_SO.match(said.text, item.end) and not said.headline:
        form = said.text[item.start : item.end]
        if form.istitle():
            item.lower(0.2, sets.WORK)


def _may_be_beast(said: Said, item: Item) -> bool:
    """Whether a pronoun goes on with an animal that its sentence begins with."""
    lead = BEAST.match(said.text, said.start, item.start)
    if lead is None or lead[1].lower() not in BEASTS:
        return False
    if item.word in ("she", "he", "herself", "himself"):
        return True
    owned = OWNED.match(said.text, item.end)  # «the dog wagged his tail», not «the dog followed him», «chewed his slippers»
    return owned is not None and not OF_BEASTS.isdisjoint((owned[1].lower(), (owned[2] or "").lower()))


def _may_be_vessel(said: Said, item: Item, first_female: int) -> bool:
    """Whether a «she» may be a ship or a country: one that was there before any woman."""
    return not NOT_VESSEL.match(said.text, item.end) and VESSEL.search(said.text, said.start, max(first_female, 0)) is not None


def _check_deity(said: Said, item: Item) -> None:
    text, form = said.text, said.text[item.start : item.end]
    if form[0].isupper() and not is_shouted(form):
        before = said.before(item.start)
        previous = before.rstrip()[-1:]
        mid = previous and previous not in '.!?:"”“…' and not said.begins(item.start, before)
        if mid and not (said.headline and item.group in said.introduced):
            item.lower(0.1, sets.DOCTRINE)
            return
    if DEITIES.isdisjoint(said.words):
        return
    if DEITY.search(text, max(said.start, item.start - AROUND), min(said.end, item.end + AROUND)):
        item.lower(0.3, sets.DOCTRINE)
    if not said.capitals and ANY_DEITY.search(text, said.start, item.start):
        item.lower(0.3, sets.DOCTRINE)
