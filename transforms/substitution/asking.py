"""Questions and tasks on a text, as instruction data has them: whom they ask about the text has named, or labelled.

«W: …» and «M: …» are who speaks, so «What does the woman mean?» is no question of a man; «Which woman's bread grows mould?»
and «the last name of the person who wrote his own life» are answered by a name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenflow.transforms.substitution import leads, sets
from evenflow.transforms.substitution.chains import LEAST, Chain
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.wordsets import WordSets

LABELS = (re.compile(r"^\W*(?:M|Man)\s*:", re.MULTILINE), re.compile(r"^\W*(?:W|F|Woman)\s*:", re.MULTILINE))
SPEAKERS = frozenset(("man", "woman", "lady", "gentleman", "girl", "boy", "men", "women", "girls", "boys"))
SPOKEN_TO = frozenset(("sir", "madam", "ma'am", "madame", "miss", "sirs"))
POINTED = leads.after("the|this|that|these|both", 1)
ASKED_NAME = re.compile(
    r"\b(?:first|last|full|middle|sur|real)?\s?names?\s+of\s+(?:the|someone|somebody|\w+['’]s)\b", re.IGNORECASE
)
HAS_NAME = re.compile(r"['’]s?\s+(?:(?:first|last|full|middle|real)\s+)?names?\b")
WHO = re.compile(r"\W*(?:question(?:\s+\d+)?\s*[.:]\s*)?who\b", re.IGNORECASE)
WHICH = leads.after("which|what", 2, but="kind|sort|type|an?|the|of")
REACH = 40  # characters before a noun in which its determiner stands
LEFT = 0.3  # confidence that is left to whom a question asks about
NAMED = 2  # people with names among whom a «which» chooses


def leave(chains: Sequence[Chain], text: str, sentences: Sequence[tuple[int, int]], words: WordSets) -> None:
    """Lower the confidence of whom a task asks about. sentences: (start, end) in order."""
    labelled = any(mark in text for mark in ("W:", "F:", "Woman:", "W :")) and all(label.search(text) for label in LABELS)
    asks = "?" in text or "uestion" in text
    if not labelled and not asks:
        return
    asked = text.find("Question") if labelled else -1
    whole = words.whole
    who = "who" in whole
    names = "name" in whole or "names" in whole
    which = "which" in whole or "what" in whole
    for chain in chains:
        if chain.least < LEAST:
            continue
        first = chain.items[0]
        if labelled and any(_points(text, sentences, item) for item in chain.items):
            chain.lower(LEFT, sets.NAMED)
        elif 0 <= asked < first.start and all(item.kind == "pronoun" for item in chain.items):
            chain.lower(LEFT, sets.UNSURE)
        elif who and _goes_back_to_who(text, sentences, chain) and _have_names(words, len(sentences), 1):
            chain.lower(LEFT, sets.NAMED)
        elif names and any(_asks_name(text, sentences, item) for item in chain.items):
            if _have_names(words, len(sentences), 1):
                chain.lower(LEFT, sets.NAMED)
        elif which and first.kind == "noun" and _is_chosen(text, sentences, first) and _have_names(words, len(sentences), NAMED):
            chain.lower(LEFT, sets.NAMED)


def _asks_name(text: str, sentences: Sequence[tuple[int, int]], item: Item) -> bool:
    """Whether a sentence asks for somebody's name: «the last name of the person who … his», «the shy girl's name»."""
    start, _ = sentences[item.sentence]
    return HAS_NAME.match(text, item.end) is not None or ASKED_NAME.search(text, start, item.start) is not None


def _goes_back_to_who(text: str, sentences: Sequence[tuple[int, int]], chain: Chain) -> bool:
    """Whether a question's «who» is all that a pronoun goes back to: «Who has sold his farm?»."""
    if any(item.kind != "pronoun" or item.sentence != chain.items[0].sentence for item in chain.items):
        return False
    start, end = sentences[chain.items[0].sentence]
    return WHO.match(text, start, end) is not None


def _points(text: str, sentences: Sequence[tuple[int, int]], item: Item) -> bool:
    """Whether «the woman» is who a label says speaks."""
    first = max(sentences[item.sentence][0], item.start - REACH)
    return item.word in SPOKEN_TO or (item.word in SPEAKERS and POINTED.search(text, first, item.start) is not None)


def _is_chosen(text: str, sentences: Sequence[tuple[int, int]], item: Item) -> bool:
    start, end = sentences[item.sentence]
    return "?" in text[item.end : end] and WHICH.search(text, max(start, item.start - REACH), item.start) is not None


def _have_names(words: WordSets, count: int, fewest: int) -> bool:
    """Whether the text, of so many sentences, names somebody at least so many times."""
    found = 0
    for place in range(count):
        found += sum(each.sure for each in words.named(place))
        if found >= fewest:
            return True
    return False
