"""Where a full stop ends an abbreviation or a number of a list, and the sentence continues.

A number or a letter that begins a line or follows a sentence (“1. He”), and a person's initials
follow from the shape. Two closed classes are listed, as any treebank has only some of their
members, and examples of them made the model worse. It decides about all other abbreviations.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Index = NDArray[np.int64]

BEFORE_NAME = (
    "Mr Mrs Ms Dr Drs Prof Profs Gen Col Rev Revd Sen Sens Gov Govs Capt Cpt Sgt Lt Cpl Maj Adm"
    " Cmdr Hon Messrs Mme Mlle Fr Rep Reps Pres Supt Insp Brig Pvt Mt vs cf viz e.g i.e E.g I.e"
)
# Before a number, a bracket or a word in lower case, with a capital too: what 86 MB of technical
# text and prose had, without those that lost there (“ed.”, “refs.”)
ANYWHERE = "al approx avg ca cf dr eq fig ft ibid incl mr mrs pp ref resp sq univ vol vs"
# Of the same kind, and not met there
ANYWHERE += " chap dept eqs est excl figs max min para tab vols"
MARKS = ("", "(", "[", '"', "'")  # characters that may precede an abbreviation
LONGEST = 8  # characters of a token with its full stop: `boundaries` packs no more
NEWLINE, UPPER, LOWER = 0, 0x81, 0x82  # codes of `boundaries.fold`
CAPITAL, DIGIT, SMALL, BRACKET, ENUMERATES = 1, 2, 4, 8, 16  # what a character is, a bit each
WINDOW = 24  # codes before a gap that hold what a shape looks at, with what is before it
LIST_NUMBER = re.compile(
    rb"(?:\0 *|(?=[^\0 .]*[aeiouy])[^\0 .]{4,}[.:;!?)][\"')]* )"  # begins a line, ends a sentence
    rb"\(?(?:\d{1,2}(?:\.\d{1,2})*|[A-Za-z]|[ivx]+|[IVX]+)[.)]\Z"
)
# The initials of a person (“Lester B. Pearson”); two of them alone are as often a country’s
INITIALS = re.compile(rb"([A-Z][a-z]+) (?:[A-Z]\. ?)?[A-Z]\.\Z|[\0 (](?:[A-Z]\. ?){3,}\Z")


@cache
def _tokens(words: str) -> Words:
    """The tokens in ascending order, packed as `boundaries` packs them (last character lowest)."""
    forms = {f"{mark}{word}.".encode()[-LONGEST:] for word in words.split() for mark in MARKS}
    return np.array(sorted(int.from_bytes(form, "big") for form in forms), dtype=np.uint64)


@cache
def _kinds() -> NDArray[np.uint8]:
    """What each character code is: bits, (256,)."""
    kinds = np.zeros(256, dtype=np.uint8)
    kinds[[*range(ord("A"), ord("Z") + 1), UPPER]] = CAPITAL
    kinds[[*range(ord("a"), ord("z") + 1), LOWER]] = SMALL
    kinds[list(b"0123456789")] = DIGIT
    kinds[list(b"([")] = BRACKET
    kinds[list(b"0123456789ivxIVX")] |= ENUMERATES
    return kinds


def continues_sentence(
    codes: NDArray[np.uint8], left: Words, last: Index, start: Index
) -> NDArray[np.bool_]:
    """Find the gaps behind an abbreviation or a list's number after which the sentence continues.

    `codes`: The text as `boundaries.fold` gives it. `left`: The packed tokens before the gaps,
    (n,) uint64. `last`, `start`: The indices of the characters before and behind the gaps, (n,).

    Returns whether the sentence continues over each gap, (n,).
    """
    kinds = _kinds()
    first = kinds[codes[start]]
    anywhere = f"{ANYWHERE} {ANYWHERE.title()}"
    out = _is_among(left, _tokens(BEFORE_NAME)) & (first & (CAPITAL | SMALL) > 0)
    out |= _is_among(left, _tokens(anywhere)) & (first & (DIGIT | SMALL | BRACKET) > 0)
    initial = (first & kinds[codes[last - 1]] & CAPITAL > 0) & (codes[last] == ord("."))
    # A number or a letter alone before the full stop or bracket
    listed = (kinds[codes[last - 1]] & ENUMERATES > 0) | (kinds[codes[last - 2]] == 0)
    shaped = (listed | initial) & ~out & (codes[start - 1] != NEWLINE)
    for at in np.flatnonzero(shaped).tolist():
        window = codes[last[at] - WINDOW : last[at] + 1].tobytes()
        out[at] = bool(
            (listed[at] and LIST_NUMBER.search(window))
            or (initial[at] and _is_initial(window, codes[start[at] :][:LONGEST].tobytes()))
        )
    return out


def _is_initial(before: bytes, behind: bytes) -> bool:
    """Whether what precedes a gap is a person's initial, and a name follows."""
    from evenflow.transforms.text import names, wordclasses

    found, word = INITIALS.search(before), re.match(rb"\w*", behind)
    if not found or (word and wordclasses.is_known(word[0].decode("ascii").lower())):
        return False
    return not found[1] or found[1].decode().lower() in names.first_names()


def _is_among(left: Words, tokens: Words) -> NDArray[np.bool_]:
    """Which packed tokens are in a sorted array of tokens, (n,)."""
    return tokens[np.searchsorted(tokens, left).clip(max=len(tokens) - 1)] == left
