"""What a text states beyond what it was given: names and numbers.

A sentence that a language model writes may state the fact that was asked for, and nothing else of
persons, places and years. Who or what a name stands for, nobody has checked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.text.names import first_names

WORD = re.compile(r"\w+(?:['’-]\w+)*")
BEGINS = re.compile(r"[.!?:“\"‘(]")  # a word after one of these may have a capital for it alone
USUAL, LEAST = 200, 5  # a name that one in so many sentences has, and so many, is usual
MASK = "_"


class Support:
    """Knows which names are usual in a corpus; others have to be given."""

    def __init__(self, finder: LabelFinder, texts: Iterable[str] = ()):
        self._finder = finder
        counts, total = Counter[str](), 0
        for text in texts:
            counts.update({_base(text[start:end]) for start, end in _names(text)})
            total += 1
        self._usual = {
            name for name, number in counts.items() if number >= max(LEAST, total / USUAL)
        }

    def unsupported(self, text: str, known: Iterable[str]) -> list[str]:
        """Find the names and numbers that were not given."""
        told = {_base(word) for each in known for word in WORD.findall(each)} | self._usual
        labels = [(each.start, each.end) for each in self._finder.find(text)]
        return [
            text[start:end]
            for start, end in _names(text)
            if _base(text[start:end]) not in told
            and not any(first <= start and end <= last for first, last in labels)
        ]

    def masked(self, text: str) -> str:
        """A text without its labels, names and numbers."""
        spans = {(each.start, each.end) for each in self._finder.find(text)}
        out, at = "", 0
        for start, end in sorted(spans | set(_names(text))):
            if start >= at:
                out += text[at:start] + MASK
                at = end
        return out + text[at:]


def _names(text: str) -> Iterator[tuple[int, int]]:
    """The words of a sentence that are names or have digits, as far as capitals say it."""
    before = 0
    for each in WORD.finditer(text):
        begins = not before or BEGINS.search(text, before, each.start()) is not None
        before = each.end()
        has_capital = each[0][:1].isupper() and _base(each[0]) != "I"
        is_name = has_capital and (not begins or _is_first_name(each[0]))
        if is_name or any(map(str.isdigit, each[0])):
            yield each.span()


def _is_first_name(word: str) -> bool:
    """Whether a word is a first name, and no common word too."""
    return "w" not in first_names().get(_base(word).casefold(), "w")


def _base(word: str) -> str:
    """A word without its apostrophe and what follows."""
    return re.split("['’]", word)[0]
