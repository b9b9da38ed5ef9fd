"""Abbreviations that do not end a sentence before a name or a number.

Both classes are closed, and any treebank has only some of their members. Abbreviations that end a
sentence about as often as not (“Inc.”, “Jr.”, “St.”, “etc.”, “a.m.”) are not listed: the model in
`sentences` decides about them.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

BEFORE_NAME = (
    "Mr Mrs Ms Dr Drs Prof Profs Gen Col Rev Revd Sen Sens Gov Govs Capt Cpt Sgt Lt Cpl Maj Adm"
    " Cmdr Hon Messrs Mme Mlle Fr Rep Reps Pres Supt Insp Brig Pvt Mt vs cf viz e.g i.e E.g I.e"
)
BEFORE_NUMBER = (
    "No Nos Fig Figs fig figs Vol Vols vol vols pp Sec Eq Eqs eq eqs Ch ch Jan Feb Mar Apr Jun Jul"
    " Aug Sept Sep Oct Nov Dec ca approx"
)
MARKS = ("", "(", "[", '"', "'")  # characters that may precede an abbreviation
LONGEST = 8  # characters of a token with its full stop: `boundaries` packs no more
UPPER_CASE = frozenset((*range(ord("A"), ord("Z") + 1), 0x81))  # codes of `boundaries.fold`


@cache
def _tokens(words: str) -> Words:
    """The tokens in ascending order, packed as `boundaries` packs them (last character lowest)."""
    forms = {f"{mark}{word}.".encode() for word in words.split() for mark in MARKS}
    return np.array(
        sorted(int.from_bytes(form, "big") for form in forms if len(form) <= LONGEST),
        dtype=np.uint64,
    )


@cache
def _kinds() -> NDArray[np.uint8]:
    """What each character code begins: 1 a capital, 2 a digit, 0 anything else; (256,)."""
    kinds = np.zeros(256, dtype=np.uint8)
    kinds[list(UPPER_CASE)] = 1
    kinds[ord("0") : ord("9") + 1] = 2
    return kinds


def continues_sentence(left: Words, first: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Find the gaps behind an abbreviation after which the sentence continues.

    Args:
        left: The packed tokens before the gaps, (n,) uint64.
        first: The folded characters behind the gaps, (n,) uint8.

    Returns:
        Whether the sentence continues over each gap, (n,).
    """
    kinds = _kinds()[first]
    return (_is_among(left, _tokens(BEFORE_NAME)) & (kinds == 1)) | (
        _is_among(left, _tokens(BEFORE_NUMBER)) & (kinds == 2)
    )


def _is_among(left: Words, tokens: Words) -> NDArray[np.bool_]:
    """Which packed tokens are in a sorted array of tokens, (n,)."""
    return tokens[np.searchsorted(tokens, left).clip(max=len(tokens) - 1)] == left
