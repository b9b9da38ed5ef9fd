"""Finds labels that are not words between blanks.

- Scripts whose words have no blanks between them (Han, Kana, Thai and others): the longest label
  that begins at a character is a mention, and the search goes on behind it. No dictionary says
  where words end, so a label within a longer word counts too: 他 (he) in 其他 (other), unless the
  list has the longer word under `ignore`.
- Languages that write particles to the word (Korean, Turkish, Arabic): a label may have one of the
  list's prefixes and up to three of its suffixes. The mention is the label alone.

Case does not matter. A label that ends before a mark of its last letter is no mention.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from evenflow.wordlists import spelling

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
    """Finds the labels of a list in a text.

    Args:
        labels: The labels, in the list's order.
        prefixes: What may be written before a label.
        suffixes: What may be written behind a label.
        ignore: Longer words that contain a label and name nobody.

    Attributes:
        name: Empty: it is no plug-in.
        made_with: Empty: labels and particles say what it finds.
        particles: Prefixes, suffixes and ignored words; none where the list has none.
    """

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
        self._numbers = {spelling.fold(label): number for number, label in enumerate(labels)}
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
            (*match.span(1), self._numbers.get(spelling.fold(match[1])))
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
