"""How strong people find what is said: a linear model over words, pairs of words, stems and sentiments, with the label masked.

It is trained on sentences with human scores (Liu 2024, "Quantifying Stereotypes in Language": best-worst scaling) and adds to
the scheme what its categories leave out: that «are thieves» is stronger than «are tired». Names, numbers and whatever names a
group are masked, so the model knows contents, not groups.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from evenflow.transforms import english
from evenflow.transforms.stereotyping.indicator_tagging import LONGEST, Token
from evenflow.transforms.stereotyping.indicator_targets import Target
from evenflow.transforms.stereotyping.indicator_words import signed, stem

LABEL, NAME, NUMBER = "<label>", "<name>", "<number>"
SMALL = english.words("english")
GRAMS = tuple[str, int, int]  # words, first place, last place


def masked(tokens: Sequence[Token], target: Target) -> list[str]:
    """The sentence's words, with the label, names, numbers masked (groups named elsewhere are masked already)."""
    return [
        LABEL
        if target.at <= place < target.stop or place == target.head
        else NAME
        if token.tag in ("NNP", "NNPS")
        else NUMBER
        if token.lower[0].isdigit()
        else token.lower[:LONGEST]
        for place, token in enumerate(tokens)
    ]


def grams(tokens: Sequence[Token], target: Target) -> list[GRAMS]:
    """Single words, neighbouring pairs, stems («~steal») and sentiments («#-1»), with the places of first and last word."""
    plain = masked(tokens, target)
    found = [(word, place, place) for place, word in enumerate(plain)]
    found += [(f"{a} {b}", place, place + 1) for place, (a, b) in enumerate(pairwise(plain))]
    found += [(f"~{stem(word)}", place, place) for place, word in enumerate(plain) if word[0].isalpha()]
    return found + [(f"#{value}", place, place) for place, value in enumerate(signed(plain)) if value]


def strength(found: Sequence[GRAMS], weights: Mapping[str, float], intercept: float) -> float:
    """The expected human score (0 weakest, 1 strongest) of a sentence: its words' mean weight, by the root of their number."""
    if not found:
        return intercept
    return intercept + sum([weights.get(gram, 0.0) for gram, _, _ in found]) / math.sqrt(len(found))


def strongest(found: Sequence[GRAMS], weights: Mapping[str, float], most: int) -> tuple[int, ...]:
    """Places of the words that speak most for a strong stereotype, at most so many, in the sentence's order."""
    by_place: dict[int, float] = {}
    for gram, first, last in found:
        # Pairs, masks, marks and small words say something of the sentence's form, but are no words to show.
        if first == last and (gram[0] == "~" or (gram[0].isalnum() and gram not in SMALL)):
            by_place[first] = by_place.get(first, 0.0) + weights.get(gram, 0.0)
        elif gram in SMALL:
            by_place[first] = -math.inf
    best = sorted((place for place in by_place if by_place[place] > 0), key=lambda place: -by_place[place])[:most]
    return tuple(sorted(best))
