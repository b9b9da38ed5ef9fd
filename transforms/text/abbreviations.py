"""Abbreviations that end no sentence before a name or a number: closed classes of which any
treebank has but some.

Those that end a sentence as often (“Inc.”, “Jr.”, “St.”, “etc.”, “a.m.”) are none of them; the
model of `sentences` decides.
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
MARKS = ("", "(", "[", '"', "'")  # what may stand right before one
LONGEST = 8  # characters of a token, with its stop
UPPER_CASE = frozenset((*range(ord("A"), ord("Z") + 1), 0x81))  # codes of `sentences.fold`


@cache
def _tokens(words: str) -> Words:
    """Tokens as `sentences` packs them, the last character in the lowest byte: sorted."""
    forms = {f"{mark}{word}.".encode() for word in words.split() for mark in MARKS}
    return np.array(
        sorted(int.from_bytes(form, "big") for form in forms if len(form) <= LONGEST),
        dtype=np.uint64,
    )


@cache
def _kinds() -> NDArray[np.uint8]:
    """What begins with a code: 1 a capital, 2 a digit, else 0: (256,)."""
    kinds = np.zeros(256, dtype=np.uint8)
    kinds[list(UPPER_CASE)] = 1
    kinds[ord("0") : ord("9") + 1] = 2
    return kinds


def go_on(left: Words, first: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where a sentence goes on behind an abbreviation: (n,).

    left: (n,), the packed tokens before gaps. first: (n,), the folded characters behind them.
    """
    kinds = _kinds()[first]
    return (_is_among(left, _tokens(BEFORE_NAME)) & (kinds == 1)) | (
        _is_among(left, _tokens(BEFORE_NUMBER)) & (kinds == 2)
    )


def _is_among(left: Words, tokens: Words) -> NDArray[np.bool_]:
    return tokens[np.searchsorted(tokens, left).clip(max=len(tokens) - 1)] == left
