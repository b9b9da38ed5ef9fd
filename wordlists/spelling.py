"""Decides when two spellings are the same word: classes of characters, and folding.

Folding is Unicode's NFKC_Casefold (Unicode Standard, 3.13, D147) of each word. Case is ignored: the
sharp s becomes "ss", and the dotted İ becomes i with a dot, not i. Marks are composed. Ligatures,
full-width letters and long letters become plain ones. Characters that are invisible within a word
are dropped. All shapes of apostrophes become one, and all shapes of hyphens.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby

# The last one, U+FFFD, marks a character that was lost in decoding; between letters that is mostly
# an apostrophe ("don�t").
APOSTROPHES = "'\u2019\u2018\u02bc\u02bb\u201b\u2032`\u00b4\uff07\ua78c\ufffd"
HYPHENS = "-\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"
# A blank line or a paragraph separator is two or more line breaks; \r\n is one.
BREAKS = "\n\x0b\x85\u2028"
# Letters by category that look like a blank: Hangul fillers, and the blank Braille pattern.
FILLERS = "\u115f\u1160\u3164\uffa0\u2800"
# Code points of category Mn that are invisible: joiners and variation selectors.
INVISIBLE_MARKS = frozenset((0x34F, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10)))
INVISIBLE_MARKS |= frozenset(range(0xE0100, 0xE01F0))
# Format characters (category Cf) that are visible, and so are boundaries.
_VISIBLE_FORMATS = frozenset(
    (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, *range(0xFFF9, 0xFFFC))
)
_VISIBLE_FORMATS |= frozenset((0x110BD, 0x110CD, *range(0x13430, 0x13460)))
_SAME = str.maketrans(dict.fromkeys(APOSTROPHES, "'") | dict.fromkeys(HYPHENS, "-"))
SHORT = 64  # characters of texts whose folded form is kept
_PLAIN = re.compile(r"[A-Za-z0-9_]+(?:[ '-][A-Za-z0-9_]+)*").fullmatch  # nothing to do but case
_BROKEN_HYPHEN = re.compile(r"-[^\S\n]*\n[^\S\n]*")


def is_word(character: str) -> bool:
    """Whether a character is part of a word.

    Letters, marks, digits, letter numerals and underscores are. Superscript numerals and fractions
    are not: "women²" is "women" with a footnote.
    """
    category = unicodedata.category(character)
    if character in APOSTROPHES or character in FILLERS or is_ignored(character):
        return False
    return category[0] in "LM" or category in ("Nd", "Nl") or character == "_"


def is_ignored(character: str) -> bool:
    """Whether a character is invisible within a word: soft hyphen, zero-width space, bidi marks."""
    point = ord(character)
    if point in INVISIBLE_MARKS:
        return True
    return unicodedata.category(character) == "Cf" and point not in _VISIBLE_FORMATS


def is_blank(character: str) -> bool:
    """Whether a character is a blank between words; the paragraph separator is none."""
    return (character.isspace() or character in FILLERS) and character != "\u2029"


def fold_word(word: str) -> str:
    """A word in the form for comparisons without case."""
    folded = unicodedata.normalize("NFKC", word).casefold()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", folded).casefold())


def spell_word(word: str) -> str:
    """A word in the form for comparisons with case."""
    return unicodedata.normalize("NFKC", word)


def fold(text: str) -> str:
    """A label, or a mention of it, in the form for comparisons without case."""
    return _fold_short(text) if len(text) <= SHORT else _fold(text)


def _fold(text: str) -> str:
    """The folded form of a text."""
    if _PLAIN(text):
        return text.lower()
    return "".join(fold_word(part) if word else part for word, part in _parts(text))


_fold_short = lru_cache(maxsize=1 << 14)(_fold)  # of word lists and mentions, the same ones again


def spell(text: str) -> str:
    """A label, or a mention of it, in the form for comparisons with case."""
    return "".join(spell_word(part) if word else part for word, part in _parts(text))


def _parts(text: str) -> list[tuple[bool, str]]:
    """The words of a text and the parts between them, each with whether it is a word.

    Between words, any blanks become one blank, and there is one kind of apostrophe and of hyphen.
    """
    seen = "".join(character for character in text if not is_ignored(character))
    parts = [(word, "".join(part)) for word, part in groupby(seen, is_word)]
    return [(word, part if word else _between(part)) for word, part in parts]


def _between(part: str) -> str:
    """A part between words in its form for comparisons."""
    for character in (*BREAKS, "\r"):
        part = part.replace(character, "\n")
    part = _BROKEN_HYPHEN.sub("-", re.sub("\n+", "\n", part).translate(_SAME))
    return "".join(" " if blank else "".join(run) for blank, run in groupby(part, is_blank))


# First words of the Unicode names of their characters
SCRIPTS = {"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"}
KOREAN = "HANGUL"  # has blanks, but particles are written to the word
LATIN = "[A-Za-z0-9]"  # what a Latin label in a list without blanks may not touch
MOST_SUFFIXES = 3  # one behind the other: Turkish kız-lar-ın-dan, Korean 여자-들-에게-는


def scripts(text: str) -> set[str]:
    """The first words of the Unicode names of a text's characters."""
    return {unicodedata.name(character, "").partition(" ")[0] for character in text}


def is_unspaced(label: str) -> bool:
    """Whether a label has a character of such a script."""
    return not SCRIPTS.isdisjoint(scripts(label))


class LongestMatch:
    """Finds the labels of a list in a text."""

    name = made_with = ""

    def __init__(
        self,
        labels: Iterable[str],
        prefixes: Sequence[str] = (),
        suffixes: Sequence[str] = (),
        ignore: Sequence[str] = (),
    ):
        labels = list(labels)
        particles = (tuple(prefixes), tuple(suffixes), tuple(ignore))
        self.particles = particles if any(particles) else ()
        self._numbers = {fold(label): number for number, label in enumerate(labels)}
        longest = _longest([*labels, *ignore])
        if any(map(is_unspaced, labels)):
            pattern = f"({'|'.join(map(_apart, longest))})"
        else:
            before = f"(?:{'|'.join(_longest(prefixes))})?" if prefixes else ""
            after = "|".join(_longest(suffixes))
            after = f"(?:{after}){{0,{MOST_SUFFIXES}}}" if suffixes else ""
            pattern = rf"(?<!\w){before}({'|'.join(longest)}){after}(?!\w)"
        self._pattern = re.compile(pattern, re.IGNORECASE)

    def find(self, text: str) -> list[tuple[int, int, int]]:
        """Find start, end and label's index of each mention, in the text's order."""
        found = (
            (*match.span(1), self._numbers.get(fold(match[1])))
            for match in self._pattern.finditer(text)
            if not unicodedata.category(text[match.end() : match.end() + 1] or " ").startswith("M")
        )
        return [(start, end, number) for start, end, number in found if number is not None]


def _longest(words: Iterable[str]) -> list[str]:
    """Words as patterns, the longest first, with marks composed and apart (as Kana may have)."""
    forms = {unicodedata.normalize(form, word) for word in words for form in ("NFC", "NFD")}
    longest = sorted(forms, key=lambda form: (-len(form), form))
    # Both apostrophes that are common in print; a word is folded once it is found
    return [re.escape(form).replace("'", "['’]") for form in longest]


def _apart(label: str) -> str:
    """The pattern of a label in a text without blanks."""
    before = f"(?<!{LATIN})" if re.match(LATIN, label) else ""
    after = f"(?!{LATIN})" if re.match(LATIN, label[-1]) else ""
    return before + label + after
