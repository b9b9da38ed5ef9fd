"""Detects the language of a text with `py3langid`.

It is a classifier of byte sequences (Lui and Baldwin 2012), whose answer depends on the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any

CODE = re.compile(r"([A-Za-z]{2,3})(?:[-_].*)?", re.DOTALL)
READ = 1000  # characters that decide: more cost time and change few answers
ENGLISH = "en"
UNKNOWN = "und"  # ISO 639-2: undetermined
# Most English texts are known by frequent words, without the classifier, which takes a second to
# load: one in so many of the first characters, or a share of the words of a longer beginning
OFTEN = (" the ", " and ", " of ", " to ")
EVERY, FIRST = 150, 600
# The class `english` of english.yaml, which takes 40 ms to read. FOREIGN are frequent in other
# languages too (Danish “for”, Dutch “is”), so a text of many of them alone is English
KNOWN = (
    "about all and are been but can did does from had has have just more not one our out she than"
    " that the their there they this was were what when who will with would you your"
)
FOREIGN = "a an as at be by do for he her his i if in is it my no of on or so to up we"
WEIGHTS = {**dict.fromkeys(KNOWN.split(), 0.2), **dict.fromkeys(FOREIGN.split(), 0.03)}
LEAST_KNOWN, BEGINNING = 0.006, 3000
# A text of another language has so many bytes, this share of letters and blanks, unlike code and
# tables, and this share of words with a capital at most, unlike lists of names; and the classifier
# prefers its language to English by so much, in nats a byte
LEAST_BYTES, LEAST_LETTERS, MOST_CAPITALS, MARGIN = 60, 0.8, 0.6, 0.3


def of(text: str, said: object = None) -> str:
    """The language of a text of which something may be said.

    Args:
        said: What its field says; it counts if it is a code such as en or pt-BR.

    Returns:
        The code's first part in small letters; else see `detect`.
    """
    code = CODE.fullmatch(said) if isinstance(said, str) else None
    return detect(text) if code is None else code[1].lower()


def detect(text: str) -> str:
    """The language of a text.

    Returns:
        Its code of ISO 639; UNKNOWN of a text without letters.
    """
    return _detect(text[:READ])


def other(text: str, among: Sequence[str] = ()) -> str | None:
    """The language of a text that is surely not English.

    Args:
        among: The codes that it may have; none: any.

    Returns:
        Its code; None where the text may be English, or no prose, or is too short to tell.
    """
    first = text[:FIRST].lower()
    if any(seen * EVERY >= len(first) for seen in accumulate(map(first.count, OFTEN))):
        return None
    return _other(text[:BEGINNING], tuple(among))


@lru_cache(maxsize=1 << 12)  # as of `_detect`
def _other(text: str, among: tuple[str, ...]) -> str | None:
    """The language of the beginning of a text without the most frequent words of English."""
    text = text.lower() if text.isupper() else text
    words = text.split()
    known = sum(WEIGHTS.get(each.lower(), 0.0) for each in words)
    capitals = sum(each[:1].isupper() for each in words)
    if known >= LEAST_KNOWN * len(words) or capitals > MOST_CAPITALS * len(words):
        return None
    # Vowel signs and tones of other scripts are no letters to Python
    letters = sum(each.isalpha() or each.isspace() or each > "\x7f" for each in text)
    if letters < LEAST_LETTERS * len(text):
        return None
    raw = text[:READ].encode("utf-8", "replace")
    if len(raw) < LEAST_BYTES:
        return None
    [(code, best), *_] = ranked = _identifier().rank(raw)
    sure = best - dict(ranked)[ENGLISH] >= MARGIN * len(raw)
    return code if sure and (not among or code in among) else None


@lru_cache(maxsize=1 << 12)  # the steps ask about a document one after the other
def _detect(text: str) -> str:
    """The language of the beginning of a text."""
    if not any(map(str.isalpha, text)):
        return UNKNOWN
    return str(_identifier().classify(text)[0])


@cache
def _identifier() -> Any:
    """The classifier, read once a process, in some 0.6 s."""
    import py3langid

    return py3langid
