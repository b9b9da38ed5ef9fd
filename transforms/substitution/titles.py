"""«Mr», «Mrs» and «Ms»: before a surname alone they may change; where it is known who is meant, they are somebody's."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenflow.transforms import english
from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.sets import Item

NAMES = re.compile(r"\.?\s+((?:[A-Z][\w'’-]*\.?\s?)+)")
FIRST_NAME = re.compile(r"(?<![\w.])(?!(?:Mr|Mrs|Ms|Miss|Dr|The|And|But)\b)[A-Z][a-z]+\s+(?:[A-Z]\.\s+)?$")
OFFICES = english.words("offices")
KNOWN_SURNAMES = english.words("known_surnames")
REACH = 40  # characters behind a title in which its names stand
# Confidence that is left to a title before a surname that says no more, and to one in a text that names others in full.
SURNAME_ALONE, AMONG_NAMED = 0.6, 0.45


class Titles:
    """The titles of one text, in its order."""

    def __init__(self, text: str):
        self._text = text
        self._known: dict[str, bool] = {}  # surnames, and whether their bearer is known by a first name

    @property
    def any(self) -> bool:
        """Whether one before a surname was checked."""
        return bool(self._known)

    def check(self, item: Item) -> None:
        """Lower the confidence of a title by what follows it; its word becomes «mr» with the surname."""
        match = NAMES.match(self._text[item.end : item.end + REACH])  # a sentence's bound after «Mrs.» is often none
        if match is None:
            item.lower(0.3, sets.NAMED)
            return
        names = match[1].split()
        surname = names[0].rstrip(".").removesuffix("'s").removesuffix("’s")
        if len(names) > 1 or surname.lower() in OFFICES:
            item.lower(0.1, sets.NAMED)
            return
        if surname not in self._known:
            self._known[surname] = surname in KNOWN_SURNAMES or self._has_first_name(surname)
        if self._known[surname]:
            item.lower(0.1, sets.NAMED)
            return
        item.word = f"{item.word} {surname}"
        item.lower(SURNAME_ALONE, sets.NAMED)

    def settle(self, items: Sequence[Item], report: bool) -> None:
        """Lower the rest's confidence in a report, or where others of the text have a first name: all were named, most likely.

        A «Mr Hall» beside a «Mrs Hall» would become her.
        """
        titles = [item for item in items if item.kind == "title"]
        named = report or any(self._known.values())
        groups: dict[str, set[str]] = {}
        for item in titles:
            groups.setdefault(item.word.partition(" ")[2], set()).add(item.group)
        for item in titles:
            if named or len(groups[item.word.partition(" ")[2]]) > 1:
                item.lower(AMONG_NAMED, sets.NAMED)

    def _has_first_name(self, surname: str) -> bool:
        """Whether somebody of the surname has a first name in the text: then it is known who is meant."""
        at = 0
        while (at := self._text.find(surname, at)) >= 0:
            if FIRST_NAME.search(self._text, max(0, at - 30), at):
                return True
            at += len(surname)
        return False
