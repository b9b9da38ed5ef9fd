"""Finds pairs that name both sides: “he or she”, “men and women”, “his mother and father”."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.sets import Item
from evenflow.wordlists import spelling

LONGEST = 40  # characters between two linked words
COORDINATED = re.compile(
    r"\.?\s*(?:(?:,|\()?\s*(?:and/or|and|or|nor|&|\+|vs\.?|versus)\s+|\s?/\s?|,\s*)"
    r"(?:[\w%'-]+\s+){0,2}",
    re.IGNORECASE,
)
# Linked words of one of these kinds are a pair, also with different roles.
KINDS = ("pronoun", "plural", "title")


def refuse_pairs(text: str, items: Sequence[Item], pair: Mapping[str, str]) -> None:
    """Refuse the words that name both sides together.

    Args:
        text: The document.
        items: Gendered words in the text's order; those of a pair are refused.
        pair: Folded label -> its counterpart.
    """
    for first, second in pairwise(items):
        if (
            first.group == second.group
            or first.sentence != second.sentence
            or second.start - first.end > LONGEST
        ):
            continue
        counterparts = (
            (first.kind == second.kind and first.kind in KINDS)
            or spelling.fold(pair.get(first.word, "")) == second.word
            or spelling.fold(pair.get(second.word, "")) == first.word
        )
        if counterparts and COORDINATED.fullmatch(text, first.end, second.start) is not None:
            first.refuse(sets.EVEN)
            second.refuse(sets.EVEN)
