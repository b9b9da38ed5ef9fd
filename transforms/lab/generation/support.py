"""What a text states beyond what it was given: names, numbers, combinations that cannot be.

A sentence that a language model writes may state the fact that was asked for, and nothing else of
persons, places and years. Who or what a name stands for, nobody has checked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenflow.schemas.errors import USAGE, EvenflowError
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.text.names import first_names

WORD = re.compile(r"\w+(?:['’-]\w+)*")
BEGINS = re.compile(r"[.!?:“\"‘(]")  # a word after one of these may have a capital for it alone
USUAL, LEAST = 200, 5  # a name that one in so many sentences has, and so many, is usual
MASK = "_"


class ImpossibleError(EvenflowError, ValueError):
    """A combination that cannot be read."""

    status = USAGE


@dataclass(frozen=True)
class Impossible:
    """Values and words that do not go together, such as gender=male and “pregnant”.

    Attributes:
        values: Values by attribute.
        words: Words or phrases.
    """

    values: Mapping[str, str]
    words: Sequence[str]

    @classmethod
    def parse(cls, text: str) -> Impossible:
        """Read a combination.

        Args:
            text: Terms with commas between: ATTRIBUTE=VALUE, or words that a text has.

        Raises:
            ImpossibleError: It has fewer than two terms, or an empty one.
        """
        terms = [each.strip() for each in text.split(",")]
        pairs = [each.partition("=") for each in terms if "=" in each]
        if len(terms) < 2 or not all(terms) or not all(name and value for name, _, value in pairs):
            raise ImpossibleError(
                f"{text!r}: two terms or more expected, such as gender=male,pregnant"
            )
        values = {name.strip(): value.strip() for name, _, value in pairs}
        return cls(values, [each for each in terms if "=" not in each])

    def __str__(self) -> str:
        return ", ".join([*(f"{name}={value}" for name, value in self.values.items()), *self.words])

    def holds_of(self, values: Collection[tuple[str, str]], text: str = "") -> bool:
        """Whether some values and a text have all of it.

        Args:
            values: Attributes with their values.
            text: The text.
        """
        return all(pair in values for pair in self.values.items()) and all(
            re.search(rf"(?<!\w){re.escape(each)}(?!\w)", text, re.IGNORECASE)
            for each in self.words
        )


class Support:
    """Knows which names are usual in a corpus; others have to be given.

    Args:
        finder: Finds labels, which are no names.
        texts: Sentences of the corpus.
    """

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
        """Find the names and numbers that were not given.

        Args:
            text: A sentence.
            known: Texts that were given: names, words.

        Returns:
            The words.
        """
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
        is_name = _has_capital(each[0]) and (not begins or _is_first_name(each[0]))
        if is_name or any(map(str.isdigit, each[0])):
            yield each.span()


def _has_capital(word: str) -> bool:
    return word[:1].isupper() and _base(word) != "I"


def _is_first_name(word: str) -> bool:
    """Whether a word is a first name, and no common word too."""
    return "w" not in first_names().get(_base(word).casefold(), "w")


def _base(word: str) -> str:
    """A word without its apostrophe and what follows."""
    return re.split("['’]", word)[0]
