"""Finds the words that an answer claims to have copied from a sentence."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

# Characters that models change when they copy; they are compared as the same.
ALIKE = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‑": "-"})
EDGES = " .,;:!?…\"'()"  # a copied phrase may have gained or lost these at its ends


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """The first place of a quote's words in a text, as (start, end) in characters, or None."""
    return next(find_quotes(text, quote), None)


def find_quotes(text: str, quote: str) -> Iterator[tuple[int, int]]:
    """All places of a quote's words in a text.

    Differences in case, blanks, invisible characters, the shape of quotation marks and dashes, the
    encoding of marks, and punctuation at the quote's ends are ignored. A part of a word does not
    match.

    Yields:
        The places, as (start, end) in characters.
    """
    wanted = _folded(quote)[0].strip(EDGES)
    if not wanted:
        return
    folded, places = _folded(text)
    at = folded.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        inside = (wanted[0].isalnum() and _goes_on(folded[at - 1 : at])) or (
            wanted[-1].isalnum() and _goes_on(folded[end : end + 1])
        )
        if not inside:
            yield places[at], places[end - 1] + 1
        at = folded.find(wanted, at + 1)


def _goes_on(character: str) -> bool:
    """Whether a character belongs to the word beside it, as accents do; False for no character."""
    return bool(character) and (
        character.isalnum() or unicodedata.category(character).startswith("M")
    )


def _folded(text: str) -> tuple[str, list[int]]:
    """A text as it is compared, and the place in the text of each of its characters.

    Linear in the text's length.
    """
    out: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character.isspace():
            if out and out[-1] == " ":
                continue
            character = " "
        elif not character.isascii() and unicodedata.category(character) == "Cf":
            continue
        if character.isascii():  # nearly all are; the code below takes five times as long
            out.append(character.lower())
            places.append(place)
            continue
        for each in unicodedata.normalize("NFD", character.translate(ALIKE)).casefold():
            out.append(each)
            places.append(place)
    return "".join(out), places
