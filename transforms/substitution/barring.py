"""Lowers the confidence of items: what the rules of `protection.yaml`, quotations, another language or another attribute bar."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from evenflow.transforms import english
from evenflow.transforms.substitution import dates, leads, pronouns, protection, sets, studies
from evenflow.transforms.substitution.protection import Finds, Found
from evenflow.transforms.substitution.quoting import Quoting
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.wordsets import WordSets

SURELY = 0.1  # what a rule that is for some groups leaves at most if it tells of their neighbours too
LONGEST_SENTENCE = 5000  # characters; beyond, it is a table or a list, and grammar says little
# Words that some sentence of six or more English words has one of.
ENGLISH = english.words("english")
LETTERS = re.compile(r"[^\W\d_]+")
RUNNING = 0.1  # confidence that a rule leaves at most, from which it is looked whether the text is on that for long
# «my boyfriend»: whom a speaker knows he speaks of, whatever the others are on.
SPEAKERS = leads.after("my|our", 2)
REACH = 30  # characters before a word in which that stands
SEXES = frozenset(("male", "female", "males", "females"))


def bar(
    text: str,
    sentences: Sequence[tuple[int, int]],
    items: Sequence[Item],
    attribute: str,
    others: Sequence[tuple[int, int]],
    words: WordSets,
) -> None:
    """Lower the confidence of the items that the rules cover.

    sentences: (start, end) in order. others: start and end of mentions of other attributes. words: of the sentences.
    """
    quoting = Quoting(text, sentences, words)
    weights = protection.label_weights(attribute)
    finds = Finds(text, sentences, attribute, words)
    edited = attribute != "gender" and not words.caseless
    by_sentence: dict[int, list[Item]] = {}
    for item in items:
        by_sentence.setdefault(item.sentence, []).append(item)
    for place, here in by_sentence.items():
        start, end = sentences[place]
        if end - start > LONGEST_SENTENCE or (ENGLISH.isdisjoint(words[place]) and not is_english(text[start:end])):
            for item in here:
                item.lower(0.0, sets.LONG if end - start > LONGEST_SENTENCE else sets.FOREIGN)
            continue
        for found in finds[place] if any(item.weight for item in here) else ():
            runs = words.caseless and found.weight <= RUNNING and _runs_through(finds, place, found, len(sentences))
            for item in here:
                beside = item.start < found.end and found.start < item.end
                if not beside and runs:
                    beside = SPEAKERS.search(text, max(start, item.start - REACH), item.start) is None
                if beside and (not found.groups or item.group in found.groups):
                    dated = edited and found.reason == sets.DATE
                    everyday = dated and dates.is_everyday(text, start, end, item, finds[place], here)
                    item.lower(dates.LEFT if everyday else found.weight, found.reason)
        _bar_by_neighbours(sentences, place, here, attribute, finds, edited)
        if attribute == "gender" and not words.caseless:
            studies.check(text, place, here, words, sentences)
        if attribute == "age" and not words.caseless:
            studies.check_ages(text, place, here, words, sentences)
        for item in here:
            if item.word in weights and not item.gap:  # what may fall away has its sense from the word behind it
                item.lower(*weights[item.word])
        quoting.check(items, here)
    _bar_overlaps(items, sorted(others))


def _runs_through(finds: Finds, place: int, found: Found, count: int) -> bool:
    """Whether a comment's law or biology, judged by lines, is what the sentences beside it are on too."""
    if found.reason not in (sets.DOCTRINE, sets.BIOLOGY):
        return False
    near = (other for other in (place - 1, place + 1) if 0 <= other < count)
    return any(each.reason == found.reason and each.weight <= RUNNING for other in near for each in finds[other])


def _bar_by_neighbours(
    sentences: Sequence[tuple[int, int]], place: int, here: Sequence[Item], attribute: str, finds: Finds, edited: bool
) -> None:
    """What surrounds a sentence: «females» in a text on squid, a faith in a text on its doctrine or its history."""
    if attribute == "religion":
        # Comments go from one thing to the next; what they say of a faith's people in general stands alone.
        concerned = [item for item in here if item.particular or edited]
        reasons, weight = (sets.DOCTRINE, sets.HISTORY), 0.45
    else:
        concerned, reasons, weight = [item for item in here if item.word in SEXES], ("biology",), 0.1
    if not concerned:
        return
    for other in (place - 1, place + 1):
        if not 0 <= other < len(sentences) or sentences[other][1] - sentences[other][0] > LONGEST_SENTENCE:
            continue
        for found in finds[other]:
            if found.reason in reasons and found.weight <= (weight if found.groups is None else SURELY):
                for item in concerned:
                    if found.groups is None or item.group in found.groups:
                        item.lower(weight, found.reason)


def _bar_overlaps(items: Sequence[Item], others: Sequence[tuple[int, int]]) -> None:
    for item in items if others else ():
        before = bisect_left(others, (item.end, 0)) - 1  # of one attribute each, at most a few overlap
        if any(item.start < end for _, end in others[max(0, before - 3) : before + 1]):
            item.lower(0.0, sets.OVERLAP)


def is_english(sentence: str) -> bool:
    """Whether a sentence may be English: a short one may be, a longer one has one of its commonest words or many known ones."""
    words = LETTERS.findall(sentence.lower())
    if len(words) < 6 or not ENGLISH.isdisjoint(words):
        return True
    return 2 * sum(word in pronouns.shipped().classes for word in words) >= len(words)
