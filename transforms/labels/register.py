"""Whether a label is a word of prose in a text of code, markup, logs or manuals; it is learnt.

A logistic regression on what stands beside a mention. `tests/benchmarks/register.py` fits it: every
mention in technical texts counts as no word of prose, every one in prose as one, so no label is
written by hand (Elkan and Noto 2008). Only texts of many symbols have a look.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evenflow.transforms.text.shipped import data

PATH = Path(__file__).with_name("register_model.json")
Ints = npt.NDArray[np.int64]
LEARNT = frozenset(["gender", "age", "religion"])  # attributes whose lists it was fitted with
BEGINNING = 2048  # characters of a text that say of which register it is
SHORT = 200  # characters below which a text says of no register
SYMBOLS = 0.03  # of them, the share of symbols from which it has a look
PROSE = (string.ascii_letters + string.digits + string.whitespace + ".,'\"!?-").encode()
AROUND, NEAR = 80, 40  # characters on each side in which symbols are counted, and words are read
LETTER, DIGIT, BLANK = re.compile(r"[^\W\d_]"), re.compile(r"\d"), re.compile(r"[ \t]")
TOKEN = re.compile(r"\w+|[^\w\s]|\n")
STEP, MOST = 40, 5  # the density of symbols is told in steps of 1/40, up to 5 of them


@cache
def shipped() -> dict[str, int]:
    """The weights by sign, in tenths; that of the empty sign is always added."""
    return json.loads(data(PATH))


def symbols(text: str) -> int:
    """The number of ASCII characters in a text that prose seldom has."""
    return len(text.encode("ascii", "ignore").translate(None, PROSE))


def is_technical(text: str) -> bool:
    """Whether a text has many symbols at its beginning."""
    start = text[:BEGINNING]
    return len(text) >= SHORT and symbols(start) >= SYMBOLS * len(start)


def of_prose(
    texts: Sequence[str],
    begins: Ints,
    owners: Ints,
    starts: Ints,
    ends: Ints,
    technical: dict[int, bool],
) -> npt.NDArray[np.bool_]:
    """Find the mentions that are words of prose.

    Args:
        texts: The documents, (D,).
        begins: Where each begins where they are joined, (D,).
        owners: The numbers of the mentions' documents, (n,).
        starts: Where the mentions start there, (n,).
        ends: Where they end there, (n,).
        technical: Whether documents are technical, by number; it is completed.

    Returns:
        Whether each mention is one, (n,).
    """
    kept = np.ones(len(starts), bool)
    touch = np.append(starts[1:] == ends[:-1], False)  # the halves of an inclusive form stay
    whole = ~(touch | np.append(False, touch[:-1]))
    for owner in map(int, np.unique(owners)):
        text = texts[owner]
        if owner not in technical:
            technical[owner] = is_technical(text)
        if technical[owner]:
            begin = int(begins[owner])
            for place in np.flatnonzero(whole & (owners == owner)).tolist():
                kept[place] = is_prose(text, int(starts[place]) - begin, int(ends[place]) - begin)
    return kept


def signs(text: str, start: int, end: int) -> Iterator[str]:
    """Yield what says of which register a mention is.

    Args:
        text: The text of its document.
        start: Where the mention starts.
        end: Where it ends.

    Yields:
        The mention (w), the words or marks beside it (p, n), the shapes of the two characters
        before and behind, the density of symbols around it (d), and its capitals with that (c).
    """
    word = text[start:end]
    left, right = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    density = symbols(left + right) / max(1, len(left) + len(right))
    step = min(MOST, int(density * STEP))
    capitals = "U" if word.isupper() and len(word) > 1 else "T" if word[:1].isupper() else "l"
    before, behind = TOKEN.findall(left[-NEAR:]), TOKEN.search(right[:NEAR])
    yield ""
    yield f"w={word.lower()}"
    yield f"p={before[-1].lower() if before else '^'}"
    yield f"n={behind[0].lower() if behind else '$'}"
    yield f"d={step}"
    yield f"c={capitals}{step}"
    before_it, behind_it = _shape(left[-2:]), _shape(right[:2])
    yield f"<{before_it[-1:]}"
    yield f"<<{before_it}"
    yield f">{behind_it[:1]}"
    yield f">>{behind_it}"


def is_prose(text: str, start: int, end: int) -> bool:
    """Whether a mention in a technical text is a word of prose; arguments as those of `signs`."""
    weights = shipped()
    return sum(weights.get(sign, 0) for sign in signs(text, start, end)) > 0


@lru_cache(1024)
def _shape(text: str) -> str:
    """Characters with a letter for each letter, and a digit for each digit."""
    return BLANK.sub("_", DIGIT.sub("9", LETTER.sub("a", text)))
