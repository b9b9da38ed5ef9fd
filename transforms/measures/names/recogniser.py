"""Finds first names of people: the chance that a capitalised word is the given name of a person.

Words are those of the US census of 1990 (public domain). The chance is a logistic regression: one
number for what the word says itself (“Paris” is rarely a person), and one for each of the `SIGNS`
beside it. pipelines/lab/train/names.py fits it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from evenflow.transforms.models import files
from evenflow.transforms.models.files import ModelError
from evenflow.transforms.text.names import NO_PERSON_AFTER

FORMAT, VERSION = "evenflow-names", 1
MANIFEST, NAMES = "recogniser.json", "first_names.tsv"
WORD = re.compile(r"(?<![\w'’@#-])[A-Z][^\W\d_]+")
REACH = 30  # characters before a word in which the word before it is looked for
BEFORE = re.compile(r"(\w+)\.?\s\Z")
CAPITAL_BEHIND = re.compile(r"\s(?:[A-Z]\.\s)?[A-Z]\w")
NUMBER_BEHIND = re.compile(r",?\s\d")
ARTICLES = {"a", "an", "the"}
SIGNS = (
    "capital before",
    "first name before",
    "article before",
    "preposition of places before",
    "capital behind",
    "number behind",
)


class Name(NamedTuple):
    """What is known of a first name.

    Attributes:
        female: Share of women among its bearers.
        logit: What the word says itself of naming a person.
    """

    female: float
    logit: float


def signs(text: str, start: int, end: int, known: object) -> tuple[bool, ...]:
    """The `SIGNS` beside a word.

    Args:
        text: The document.
        start: The word's first character.
        end: The character after its last.
        known: Has the first names in lower case (`in`).

    Returns:
        Whether each sign is there.
    """
    found = BEFORE.search(text[max(start - REACH, 0) : start])
    before = found[1] if found else ""
    return (
        before[:1].isupper(),
        before.lower() in known,  # type: ignore[operator]
        before.lower() in ARTICLES,
        before.lower() in NO_PERSON_AFTER,
        CAPITAL_BEHIND.match(text, end) is not None,
        NUMBER_BEHIND.match(text, end) is not None,
    )


class Recogniser:
    """Finds first names.

    Args:
        folder: A folder with `MANIFEST` and `NAMES`.

    Attributes:
        names: What is known of names in lower case.
        doubt: How far the people found may be off on another kind of text, as a share
            (pipelines.lab.train.people.doubt).

    Raises:
        ModelError: A file is missing or damaged.
    """

    def __init__(self, folder: Path):
        about = files.manifest(folder / MANIFEST, FORMAT, VERSION)
        try:
            lines = (folder / NAMES).read_text(encoding="ascii").splitlines()
            rows = (line.split("\t") for line in lines if not line.startswith("#"))
            self.names = {
                name: Name(share_of_women(int(female), int(male)), float(logit))
                for name, female, male, logit in rows
            }
            self._weights: list[float] = [about["signs"][each] for each in SIGNS]
            self.doubt: float = about["doubt"]
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(
                f"{folder / MANIFEST}: the model cannot be used ({error}); {files.REBUILD}"
            ) from error

    @classmethod
    def shipped(cls) -> Recogniser:
        """Load the recogniser of this package, once for each process."""
        return _shipped()

    def find(self, text: str) -> Iterator[tuple[int, str, float]]:
        """Find the words that may be first names.

        Args:
            text: The document.

        Yields:
            Where each begins, the name in lower case, and the chance that a person is named.
        """
        for match in WORD.finditer(text):
            name = match[0].lower()
            own = self.names.get(name)
            if own is not None:
                yield match.start(), name, self.chance(own, text, *match.span())

    def chance(self, name: Name, text: str, start: int, end: int) -> float:
        """The chance that the word text[start:end] is the given name of a person."""
        beside = signs(text, start, end, self.names)
        logit = name.logit + sum(
            weight for weight, there in zip(self._weights, beside, strict=True) if there
        )
        return 1 / (1 + math.exp(-logit))


def share_of_women(female: int, male: int) -> float:
    """The share of women among the bearers of a name, if women and men are as many.

    Args:
        female: Its share of all women, in thousandths of a per cent.
        male: Its share of all men.

    Returns:
        The share. Each number is known to half a unit, so a rare name is never sure.
    """
    return (female + 0.5) / (female + male + 1)


@cache
def _shipped() -> Recogniser:
    """The recogniser of this package."""
    return Recogniser(Path(__file__).parent)
