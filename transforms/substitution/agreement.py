"""What a replaced word asks of its neighbours and its spelling: capitals, a or an, the possessive."""

from __future__ import annotations

import re

# Begins with a vowel's letter but a consonant's sound, and the reverse.
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


def recase(said: str, canonical: str, replacement: str) -> str:
    """The replacement with the capitals that said has, beyond those of its own spelling.

    said: as in the text. canonical: how a list writes it (“Bible”, “church”), whose capitals mean
    nothing more. A text that writes “bible” or “christian” gets “quran” and “muslim”.
    """
    if said == said.lower():
        return replacement.lower() if canonical != canonical.lower() else replacement
    word = said.isalpha()
    letters = said if word else "".join(filter(str.isalpha, said))
    if len(letters) > 1 and letters.isupper():
        return replacement.upper()
    if canonical == canonical.lower() and said[:1].isupper():
        inner = [said] if word else re.split(r"[\s-]", said)
        if len(inner) > 1 and all(part[:1].isupper() for part in inner if part):  # Mother-In-Law
            return re.sub(r"(?:^|(?<=[\s-]))\w", lambda match: match[0].upper(), replacement)
        return replacement[:1].upper() + replacement[1:]
    return replacement


def sounds_as_vowel(word: str) -> bool:
    """Whether “an” stands before the word."""
    if VOWEL_SOUND.match(word):
        return True
    return word[:1].lower() in "aeiou" and not CONSONANT_SOUND.match(word)


def article_edit(text: str, start: int, said: str, replacement: str) -> tuple[int, int, str] | None:
    """The edit of the a or an before text[start:], if the replacement needs the other one."""
    # Mostly, and quickly told
    if text[max(0, start - 6) : start].rstrip()[-1:] not in LAST_OF_ARTICLE:
        return None
    if not said or not replacement or sounds_as_vowel(said) == sounds_as_vowel(replacement):
        return None
    match = ARTICLE.search(text, max(0, start - 6), start)
    if match is None:
        return None
    wanted = "an" if sounds_as_vowel(replacement) else "a"
    article = match[0]
    if article.lower() == wanted:
        return None
    if article == "A":  # begins a sentence, or stands in a line of capitals
        return match.start(), match.end(), "AN" if replacement.isupper() else "An"
    if article[0].isupper():
        return match.start(), match.end(), wanted.capitalize()
    return match.start(), match.end(), wanted


def possessive(text: str, end: int, said: str, replacement: str) -> tuple[int, str]:
    """Where an edit that ends at end has to end, and its replacement, with the possessive that the
    new word takes.

    “ladies'” → “gentlemen's”, “gentlemen's” → “ladies'”, “actress'” → “actor's”.
    """
    if text[end : end + 1] not in APOSTROPHES:
        return end, replacement
    plural = replacement[-1:] in "sS" and not replacement.lower().endswith(("ss", "us"))
    match = POSSESSIVE_S.match(text, end)
    if match is not None and plural and said[-1:] not in "sS":
        return match.end(), replacement + match[1]
    match = (SHOUTED_POSSESSIVE if said.isupper() else BARE_POSSESSIVE).match(text, end)
    if match is not None and said[-1:] in "sS" and not replacement.endswith(("s", "S")):
        return match.end(), replacement + match[1] + ("S" if replacement.isupper() else "s")
    return end, replacement
