"""Fits a replacement to its place: capitals, the article before it, the possessive after it."""

from __future__ import annotations

import re

# Words that begin with a vowel letter but a consonant sound, and the reverse
CONSONANT_SOUND = re.compile(
    r"(?:uni(?!m|n)|use|usu|uti|eu|ewe|one(?!\w*r)|once|u[ -])", re.IGNORECASE
)
VOWEL_SOUND = re.compile(r"(?:hour|honou?r|honest|heir)", re.IGNORECASE)
ARTICLE = re.compile(r"(?<![\w'’])(?:an?)(?=[ \u00a0]+$)", re.IGNORECASE)
LAST_OF_ARTICLE = frozenset("aAnN")
APOSTROPHES = "'’"
POSSESSIVE_S = re.compile(r"(['’])s(?!\w)", re.IGNORECASE)
BARE_POSSESSIVE = re.compile(r"(['’])(?=\s+[a-z])")
SHOUTED_POSSESSIVE = re.compile(r"(['’])(?=\s+[^\W\d_])")


def recase(original: str, canonical: str, replacement: str) -> str:
    """Give a replacement the capitals of what it replaces.

    Only capitals beyond those of the word's own spelling count. So a text that writes “bible” or
    “christian” gets “quran” and “muslim”.

    Args:
        canonical: The word as a list writes it (“Bible”, “church”).
        replacement: The word to be put in its place.
    """
    if original == original.lower():
        return replacement.lower() if canonical != canonical.lower() else replacement
    word = original.isalpha()
    letters = original if word else "".join(filter(str.isalpha, original))
    if len(letters) > 1 and letters.isupper():
        return replacement.upper()
    if canonical == canonical.lower() and original[:1].isupper():
        inner = [original] if word else re.split(r"[\s-]", original)
        # “Mother-In-Law”
        if len(inner) > 1 and all(part[:1].isupper() for part in inner if part):
            return re.sub(r"(?:^|(?<=[\s-]))\w", lambda match: match[0].upper(), replacement)
        return replacement[:1].upper() + replacement[1:]
    return replacement


def starts_with_vowel_sound(word: str) -> bool:
    """Whether a word takes “an” rather than “a”."""
    if VOWEL_SOUND.match(word):
        return True
    return word[:1].lower() in "aeiou" and not CONSONANT_SOUND.match(word)


def edit_article(
    text: str, start: int, original: str, replacement: str
) -> tuple[int, int, str] | None:
    """Find the edit of the a or an before text[start:] that a replacement needs.

    Args:
        start: First character of the replaced word.

    Returns:
        Start, end and replacement of the article, None where it stays.
    """
    # A quick test that settles most cases
    if text[max(0, start - 6) : start].rstrip()[-1:] not in LAST_OF_ARTICLE:
        return None
    if (
        not original
        or not replacement
        or starts_with_vowel_sound(original) == starts_with_vowel_sound(replacement)
    ):
        return None
    match = ARTICLE.search(text, max(0, start - 6), start)
    if match is None:
        return None
    wanted = "an" if starts_with_vowel_sound(replacement) else "a"
    article = match[0]
    if article.lower() == wanted:
        return None
    if article == "A":  # at the start of a sentence, or in a line of capitals
        return match.start(), match.end(), "AN" if replacement.isupper() else "An"
    if article[0].isupper():
        return match.start(), match.end(), wanted.capitalize()
    return match.start(), match.end(), wanted


def fit_possessive(text: str, end: int, original: str, replacement: str) -> tuple[int, str]:
    """Give a replacement the possessive that the text has behind the replaced word.

    “ladies'” → “gentlemen's”, “gentlemen's” → “ladies'”, “actress'” → “actor's”.

    Args:
        end: Character after the replaced word.

    Returns:
        The end of the edit, and its replacement with the possessive.
    """
    if text[end : end + 1] not in APOSTROPHES:
        return end, replacement
    plural = replacement[-1:] in "sS" and not replacement.lower().endswith(("ss", "us"))
    match = POSSESSIVE_S.match(text, end)
    if match is not None and plural and original[-1:] not in "sS":
        return match.end(), replacement + match[1]
    match = (SHOUTED_POSSESSIVE if original.isupper() else BARE_POSSESSIVE).match(text, end)
    if match is not None and original[-1:] in "sS" and not replacement.endswith(("s", "S")):
        return match.end(), replacement + match[1] + ("S" if replacement.isupper() else "s")
    return end, replacement
