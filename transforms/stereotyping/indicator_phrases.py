"""Noun phrases, their verbs and their subjects, by tags: as much syntax as the linguistic indicators need.

A place is a word's number in its sentence. Phrases and gaps are bounded in words, so that a hostile sentence costs no more.
"""

from __future__ import annotations

from collections.abc import Sequence

from evenflow.transforms.stereotyping.indicator_tagging import Token
from evenflow.transforms.stereotyping.indicator_words import words

NOUNS = frozenset(("NN", "NNS", "NNP", "NNPS"))
VERBS = frozenset(("VB", "VBP", "VBZ", "VBD", "VBN", "VBG", "MD"))
FINITE = frozenset(("VBP", "VBZ", "VBD", "MD"))
BEFORE_NOUN = frozenset(("JJ", "JJR", "JJS", "NN", "NNP", "CD", "DT", "PDT", "PRP$", "POS"))
LONGEST_PHRASE = 12  # words before and after a label that may belong to its phrase
NEAR = 6  # words between a phrase and its verb, or a verb and its complement


def goes_on(tokens: Sequence[Token], head: int) -> bool:
    """Whether a noun phrase goes on behind a place with a noun, or an adjective and a noun; there must be a word behind it."""
    following = tokens[head + 1]
    return following.tag in NOUNS or (following.tag == "JJ" and head + 2 < len(tokens) and tokens[head + 2].tag in NOUNS)


def run(tokens: Sequence[Token], place: int, tags: Sequence[str]) -> int:
    """The first place from a place on whose tag is none of the tags."""
    while place < len(tokens) and tokens[place].tag in tags:
        place += 1
    return place


def left(tokens: Sequence[Token], place: int) -> int:
    """The first word of a noun phrase."""
    start = place
    while start > 0 and place - start < LONGEST_PHRASE:
        token = tokens[start - 1]
        if tokens[start].tag in ("DT", "PRP$") and token.tag != "PDT" and token.lower not in words("all_of"):
            break
        if token.lower in ("that", "this") and tokens[place].tag in ("NNS", "NNPS"):
            break
        adverb = token.tag == "RB" and tokens[start].tag in ("JJ", "JJR") and token.lower not in words("negation")
        comma = token.lower == "," and start > 1 and tokens[start - 2].tag in ("JJ", "JJR") and tokens[start].tag == "JJ"
        quantity = token.lower in words("all_of") or token.lower in words("most_of") or token.lower in words("some_of")
        if not (token.tag in BEFORE_NOUN or adverb or comma or quantity):
            break
        start -= 1
    # «a group of black men», «most of the women»
    if start > 1 and tokens[start - 1].lower == "of":
        before = tokens[start - 2].lower
        if (
            before in words("group_nouns")
            or before in words("most_of")
            or before in words("some_of")
            or before in words("all_of")
        ):
            return left(tokens, start - 2) if start > 3 and place - start < NEAR else start - 2
    return start


def right(tokens: Sequence[Token], place: int) -> int:
    """Past «and women», «from Cameroon», «in science» behind a noun."""
    if place + 1 < len(tokens) and tokens[place].lower in ("and", "or") and tokens[place + 1].tag in ("NNS", "NNPS"):
        place += 2
    if place + 1 < len(tokens) and tokens[place].lower in ("from", "of", "in", "with", "at", "over", "under"):
        end = place + 1
        while end < len(tokens) and end - place < NEAR and tokens[end].tag in BEFORE_NOUN | NOUNS:
            end += 1
        if end < len(tokens) and end > place + 1 and tokens[end].tag in VERBS | {"RB"}:
            return end
    return place


def verb_after(tokens: Sequence[Token], place: int) -> int:
    """The verb of the subject that ends before a place, or -1: next to it, behind adverbs, or behind «who …» or «, … ,»."""
    end = min(len(tokens), place + NEAR)
    at = place
    while at < end and (tokens[at].tag in ("RB", "RBR", "RBS") or tokens[at].lower in ("all", "both", "each", "also", '"', "”")):
        at += 1
    if at >= len(tokens):
        return -1
    if tokens[at].tag in VERBS or (tokens[at].tag == "POS" and tokens[at].lower == "'s" and _is_be(tokens, at)):
        return at
    if tokens[at].lower in ("who", "that", "which") or tokens[at].lower == ",":
        return _past_clause(tokens, at)
    return -1


def _is_be(tokens: Sequence[Token], at: int) -> bool:
    return at + 1 < len(tokens) and tokens[at + 1].tag in ("JJ", "RB", "VBG", "VBN", "DT", "IN")


def _past_clause(tokens: Sequence[Token], at: int) -> int:
    """The finite verb after a relative clause («women who work are …») or an insertion («women, it seems, are …»)."""
    relative = tokens[at].lower != ","
    passed = 0
    for here in range(at + 1, min(len(tokens), at + 2 * LONGEST_PHRASE)):
        token = tokens[here]
        if token.lower in (".", ";", "!", "?"):
            return at + 1 if relative and at + 1 < len(tokens) and tokens[at + 1].tag in VERBS else -1
        if relative and token.tag in FINITE and tokens[here - 1].tag != "MD":
            passed += 1
            if passed == 2:
                return here
        if not relative and token.lower == "," and here + 1 < len(tokens):
            verb = here + 1
            while verb < len(tokens) - 1 and verb - here < 3 and tokens[verb].tag == "RB":
                verb += 1
            return verb if tokens[verb].tag in FINITE else -1
    return at + 1 if relative and at + 1 < len(tokens) and tokens[at + 1].tag in VERBS else -1


def be_before(tokens: Sequence[Token], start: int) -> int:
    """The form of «be» of which a phrase is the complement, or -1."""
    at = start - 1
    while at >= 0 and start - at < 4 and tokens[at].tag in ("RB", "DT", "JJ"):
        at -= 1
    return at if at >= 0 and tokens[at].lower in words("being") and tokens[at].tag != "VBG" else -1


def subject_of(tokens: Sequence[Token], be: int) -> int:
    """The first word of the phrase before a form of «be», or -1 where there is none («there was a …»)."""
    at = be - 1
    while at >= 0 and be - at < 4 and tokens[at].tag in ("RB", "MD"):
        at -= 1
    if at < 0 or tokens[at].lower in ("there", "it", "here"):
        return -1
    if tokens[at].tag == "PRP":
        return at
    return left(tokens, at) if tokens[at].tag in NOUNS or tokens[at].tag == "DT" else -1
