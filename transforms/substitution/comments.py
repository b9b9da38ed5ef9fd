"""Comments in small letters: whether somebody is named close to a word, and which words of a chain are one writer's.

A text of comments goes from one writer to the next, mostly at the end of a line, so that a name says little of a «he» some
sentences on, and a «he» in another line may be somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evenflow.transforms import people
from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.chains import Chain
from evenflow.transforms.substitution.introducing import is_own, is_pointed_at
from evenflow.transforms.substitution.sets import Item
from evenflow.transforms.substitution.wordsets import WordSets

BACK = 2  # sentences before one in which a name may be that of whom it speaks
DOUBTED = 0.45  # confidence that is left to whoever may be named


def may_be_named(words: WordSets, place: int, sex: str) -> bool:
    """Whether a sentence of comments, or one shortly before it, may name somebody of a sex."""
    return any(people.may_name_somebody(words[near], sex) for near in range(max(0, place - BACK), place + 1))


def settle(
    text: str, sentences: Sequence[tuple[int, int]], words: WordSets, sexes: Mapping[str, str], chains: list[Chain]
) -> None:
    """Lower the confidence of chains that may be somebody who is named near them; those over several lines are parted before.

    sentences: (start, end) in order. sexes: group -> the sex of its people.
    """
    added: list[Chain] = []
    for chain in chains:
        if not chain.items or chain.items[0].group not in sexes or _is_nobody_named(text, sentences, chain):
            continue
        parts = _parted(text, chain)
        added += parts[1:]
        for part in parts:
            if any(may_be_named(words, item.sentence, sexes[item.group]) for item in part.items):
                part.lower(DOUBTED, sets.UNSURE)
    chains += added


def _is_nobody_named(text: str, sentences: Sequence[tuple[int, int]], chain: Chain) -> bool:
    """Whether a chain is the speaker's, one of many, or whom the comment points at."""

    def starts(item: Item) -> int:
        return sentences[item.sentence][0]

    if chain.unnamed or any(is_own(text, starts(item), item) for item in chain.items):
        return True
    return all(item.kind == "plural" or is_pointed_at(text, starts(item), item) for item in chain.items)


def _parted(text: str, chain: Chain) -> list[Chain]:
    """A chain and, if it may change, its parts behind the first line's end, each a chain of its own."""
    if chain.least < DOUBTED:
        return [chain]
    parts = [[chain.items[0]]]
    for item in chain.items[1:]:
        last = parts[-1][-1]
        if item.sentence != last.sentence and text.find("\n", last.end, item.start) >= 0:
            parts.append([])
        parts[-1].append(item)
    chain.items = parts[0]
    return [chain, *(Chain(part, chain.weight, chain.reason) for part in parts[1:])]
