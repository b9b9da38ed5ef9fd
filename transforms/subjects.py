"""Names that no list has and that begin a sentence: only what they are said to do tells them from a common word.

«Listi currently lives in Rome», «Decker pulls some taffy», «Castle bought three boxes»; but «Bread costs more», «Rent doubled».
"""

from __future__ import annotations

import re

from evenflow.transforms import english
from evenflow.transforms.substitution import pronouns

# What follows: perhaps an adverb, then a verb, and the word behind it.
NEXT = re.compile(r"\s+(?:(?:[a-z]+ly|also|never|often|then|once|now|soon|still|first)\s+)?([a-z]+)\b(?:\s+([a-z]+|\d))?")
# What only people do.
DEEDS = english.words("deeds")
NO_NAME_ENDS_SO = (
    *("s", "ing", "ed", "ly", "ness", "tion", "sion", "ment", "ity", "ism", "ist", "ogy", "body", "one", "hood", "ship", "man"),
    "men",
)


def may_be_named(word: str, text: str, end: int) -> bool:
    """Whether the word in lower case that begins a sentence and ends there in the text is most likely a name.

    word: no first name, and no noun for people.
    """
    if word in pronouns.KIN or word.endswith(NO_NAME_ENDS_SO):
        return False
    after = NEXT.match(text, end)
    if after is None:
        return False
    code = pronouns.shipped().classes.get(word)
    if code is None:
        return _is_verb(after[1], after[2] or "")
    return code[0] in "34" and code[1:] in ("000", "001", "010") and after[1] in DEEDS


def has_capital(word: str, text: str) -> bool:
    """Whether a word in small letters, which is no common one, has a capital elsewhere in the text («skylar … Skylar»)."""
    code = pronouns.shipped().classes.get(word, "0000")
    rare = code[0] == code[1] == code[3] == "0" and word not in pronouns.CLOSED and not word.endswith(NO_NAME_ENDS_SO)
    return rare and f" {word.capitalize()} " in text


def _is_verb(word: str, following: str) -> bool:
    """Whether a word behind a subject may be what it does, and no noun that it begins («Ibuprofen tablets helped»)."""
    if word in pronouns.PASTS or word in DEEDS:
        return True
    if not word.endswith("s"):
        return word.endswith("ed")
    code = pronouns.shipped().classes.get(word, "0000")
    return code[1] != "0" or code[3] != "0" or following.isdigit() or following in pronouns.CLOSED
