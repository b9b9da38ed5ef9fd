"""Whom news tells of: real people, named or not, and what a study finds on a sex. They stay; what is said of anybody may change.

«A man was rescued», «six men took part», «women and children gathered fruit» are as good left as changed, or better. «If a grower
loses his crop» and «every driver must show his licence» mean nobody certain, and no sex either.
"""

from __future__ import annotations

from collections.abc import Sequence

from evenflow.transforms.substitution import sets, unnamed
from evenflow.transforms.substitution.chains import LEAST, Chain
from evenflow.transforms.substitution.coordination import PEOPLE_SINGULAR
from evenflow.transforms.substitution.sets import Item

LEFT = 0.45  # confidence that is left to people of the news
REACH = 40  # characters before a noun in which its determiner stands
# Whose sex or kinship is all that the word says: what is said of every one of them is mostly said for that.
OF_SEX = PEOPLE_SINGULAR | frozenset(
    (
        *("mother", "father", "mom", "dad", "mum", "son", "daughter", "wife", "husband", "brother", "sister", "widow", "widower"),
        *("girlfriend", "boyfriend", "grandmother", "grandfather", "bride", "groom", "aunt", "uncle", "niece", "nephew"),
    )
)


def leave(chains: Sequence[Chain], text: str, sentences: Sequence[tuple[int, int]]) -> None:
    """Lower the confidence of all chains of a report but those that anybody is meant by.

    sentences: (start, end) in order.
    """
    for chain in chains:
        if chain.least >= LEAST and not _is_anybody(chain, text, sentences):
            chain.lower(LEFT, sets.REPORTED)


def _is_anybody(chain: Chain, text: str, sentences: Sequence[tuple[int, int]]) -> bool:
    nouns = [item for item in chain.items if item.kind != "pronoun"]
    if nouns:
        return all(item.kind == "noun" and item.word not in OF_SEX and _is_supposed(item, text, sentences) for item in nouns)
    return any(unnamed.ANYBODY.search(text, sentences[item.sentence][0], item.start) for item in chain.items)


def _is_supposed(item: Item, text: str, sentences: Sequence[tuple[int, int]]) -> bool:
    start = max(sentences[item.sentence][0], item.start - REACH)
    return unnamed.is_supposed(text[start : item.start])
