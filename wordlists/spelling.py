"""When two spellings are the same word: the classes of characters, and folding.

Folding is Unicode's NFKC_Casefold (Unicode Standard, 3.13, D147) of each word: case is ignored (the
sharp s is «ss», the dotted İ is i with a dot, not i), marks are composed, ligatures, full-width and
long letters are read as plain ones, and characters that a reader does not see within a word are
dropped. Apostrophes and hyphens of all shapes are one each.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import groupby

# The last one, U+FFFD, stands where a character was lost in decoding: between letters mostly an
# apostrophe («don�t»).
APOSTROPHES = "'\u2019\u2018\u02bc\u02bb\u201b\u2032`\u00b4\uff07\ua78c\ufffd"
HYPHENS = "-\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"
# A blank line or a paragraph separator is between two line breaks, or more than one; \r\n is one.
BREAKS = "\n\x0b\x85\u2028"
# Letters by their category that show as a blank: Hangul fillers; and the blank Braille pattern.
FILLERS = "\u115f\u1160\u3164\uffa0\u2800"
# Code points of category Mn that do not show: joiners and variation selectors.
INVISIBLE_MARKS = frozenset((0x34F, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10)))
INVISIBLE_MARKS |= frozenset(range(0xE0100, 0xE01F0))
# Format characters (category Cf) that are seen, and so are boundaries.
_VISIBLE_FORMATS = frozenset(
    (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, *range(0xFFF9, 0xFFFC))
)
_VISIBLE_FORMATS |= frozenset((0x110BD, 0x110CD, *range(0x13430, 0x13460)))
_SAME = str.maketrans(dict.fromkeys(APOSTROPHES, "'") | dict.fromkeys(HYPHENS, "-"))
_BROKEN_HYPHEN = re.compile(r"-[^\S\n]*\n[^\S\n]*")


def is_word(character: str) -> bool:
    """Whether a character is part of a word: a letter, mark, digit or letter numeral, or an
    underscore.

    Superscript numerals and fractions are not: «women²» is «women» with a footnote.
    """
    category = unicodedata.category(character)
    if character in APOSTROPHES or character in FILLERS or is_ignored(character):
        return False
    return category[0] in "LM" or category in ("Nd", "Nl") or character == "_"


def is_ignored(character: str) -> bool:
    """Whether a reader does not see a character within a word: soft hyphen, zero-width space, bidi
    marks and such.
    """
    point = ord(character)
    if point in INVISIBLE_MARKS:
        return True
    return unicodedata.category(character) == "Cf" and point not in _VISIBLE_FORMATS


def is_blank(character: str) -> bool:
    """Whether a character is a blank between words; line breaks are, the paragraph separator is
    not.
    """
    return (character.isspace() or character in FILLERS) and character != "\u2029"


def fold_word(word: str) -> str:
    """A word as it is compared where case is ignored."""
    folded = unicodedata.normalize("NFKC", word).casefold()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", folded).casefold())


def spell_word(word: str) -> str:
    """A word as it is compared where case matters."""
    return unicodedata.normalize("NFKC", word)


def fold(text: str) -> str:
    """A label, or a mention of it, as it is compared where case is ignored."""
    return "".join(fold_word(part) if word else part for word, part in _parts(text))


def spell(text: str) -> str:
    """A label, or a mention of it, as it is compared where case matters."""
    return "".join(spell_word(part) if word else part for word, part in _parts(text))


def _parts(text: str) -> list[tuple[bool, str]]:
    """The text's words and what stands between them: one blank for any blanks, one kind of
    apostrophe and of hyphen.
    """
    seen = "".join(character for character in text if not is_ignored(character))
    parts = [(word, "".join(part)) for word, part in groupby(seen, is_word)]
    return [(word, part if word else _between(part)) for word, part in parts]


def _between(part: str) -> str:
    for character in (*BREAKS, "\r"):
        part = part.replace(character, "\n")
    part = _BROKEN_HYPHEN.sub("-", re.sub("\n+", "\n", part).translate(_SAME))
    return "".join(" " if blank else "".join(run) for blank, run in groupby(part, is_blank))
