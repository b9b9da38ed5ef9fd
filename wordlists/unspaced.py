"""Finds labels of scripts whose words have no blanks between them: Han, Kana, Thai and others.

The longest label that begins at a character is a mention, and the search goes on behind it. Case
does not matter. No dictionary says where words end, so a label within a longer word that is not
listed counts too: 他 (he) in 其他 (other). A label that ends before a mark of its last letter is no
mention.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from evenflow.wordlists import spelling

# First words of the Unicode names of their characters
SCRIPTS = {"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"}
KOREAN = "HANGUL"  # has blanks, but particles are written to the word
WORD = "[A-Za-z0-9]"  # what a Latin label in such a list may not touch


def scripts(text: str) -> set[str]:
    """The first words of the Unicode names of a text's characters."""
    return {unicodedata.name(character, "").partition(" ")[0] for character in text}


def is_unspaced(label: str) -> bool:
    """Whether a label has a character of such a script."""
    return not SCRIPTS.isdisjoint(scripts(label))


class LongestMatch:
    """Finds the labels of a list in a text.

    Args:
        labels: The labels, in the list's order.

    Attributes:
        name: Empty: it is no plug-in.
        made_with: Empty: labels alone say what it finds.
    """

    name = made_with = ""

    def __init__(self, labels: Iterable[str]):
        labels = list(labels)
        self._numbers = {spelling.fold(label): number for number, label in enumerate(labels)}
        forms = {
            unicodedata.normalize(form, label): None
            for label in labels
            for form in ("NFC", "NFD")  # Kana with their marks apart
        }
        longest = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_pattern, longest)), re.IGNORECASE)

    def find(self, text: str) -> list[tuple[int, int, int]]:
        """Find start, end and label's index of each mention, in the text's order."""
        return [
            (match.start(), match.end(), self._numbers[spelling.fold(match[0])])
            for match in self._pattern.finditer(text)
            if not unicodedata.category(text[match.end() : match.end() + 1] or " ").startswith("M")
        ]


def _pattern(label: str) -> str:
    """A label as a regular expression."""
    before = f"(?<!{WORD})" if re.match(WORD, label) else ""
    after = f"(?!{WORD})" if re.match(WORD, label[-1]) else ""
    return before + re.escape(label) + after
