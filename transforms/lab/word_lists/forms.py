"""Singular and plural of English labels, by the library inflect (which writes plurals by rule)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from evenflow.transforms.text import english
from evenflow.wordlists import spelling

if TYPE_CHECKING:
    import inflect

# “his” is no plural of “hi”, nor “sis” of “si”
SHORTEST = 3  # characters of a singular
# Their other number belongs to no group: “them”, “theirs”
PRONOUNS = frozenset(["he", "him", "his", "himself", "she", "her", "hers", "herself"])


@cache
def _engine() -> inflect.engine:
    """The library's engine; its import takes a second."""
    import inflect

    return inflect.engine()


@cache
def singular(word: str) -> str | None:
    """The singular of a plural."""
    if _closed(word):
        return None
    found = _engine().singular_noun(word)  # type: ignore[arg-type]
    if not isinstance(found, str) or len(found) < SHORTEST or found == word:
        return None
    return found if _plural(found) == word else None


@cache
def plural(word: str) -> str | None:
    """The plural of a singular."""
    if _closed(word) or singular(word) is not None:
        return None
    found = _plural(word)
    return found if found != word else None


def other_number(word: str) -> str | None:
    """The plural of a singular, or the singular of a plural; None where there is none."""
    return singular(word) or plural(word)


def _closed(word: str) -> bool:
    """Whether a word is a pronoun or of another closed class."""
    folded = spelling.fold(word)
    return folded in english.CLOSED or folded in PRONOUNS


def _plural(word: str) -> str:
    """What the library says."""
    return str(_engine().plural_noun(word))  # type: ignore[arg-type]
