"""Where in a row of capitals a person's name begins: «Prime Minister John Howard», «Tasmanian Senator Kerry O'Brien»."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

FEMALE, MALE, EITHER = "f", "m", "e"


def name_at(words: Sequence[str], names: Mapping[str, str], titles: Container[str]) -> int:
    """The place of a row's word from which on it is a name, a title before it being no part; 0 if it is none within.

    names: first names, with w behind those that are common words too. titles: in small letters.
    """
    for place in range(1, len(words) - 1):
        if words[place].lower().rstrip(".") in titles:
            return place + 1
        kind = names.get(words[place].lower().split("-")[0], "w")
        initials = all(len(word.rstrip(".")) == 1 for word in words[place + 1 : -1])
        if "w" not in kind and initials and len(words[place]) > 2:
            return place
    return 0


def title_sex(title: str) -> str:
    """The sex that a title in small letters says."""
    if title in ("mrs", "ms", "miss", "queen", "princess", "lady", "dame", "sister", "mother", "aunt", "auntie", "grandma"):
        return FEMALE
    if title in ("mr", "king", "prince", "lord", "sir", "pope", "father", "brother", "uncle", "grandpa", "duke", "emperor"):
        return MALE
    return EITHER
