"""How a text is written, and what it is about, as far as single words and letters say: without capitals, of a film or a book."""

from __future__ import annotations

import re
from itertools import islice

from evenflow.transforms import english

SAMPLE = 8000  # characters from which it is told how a text is written, and what it is about
CASELESS = 0.004  # share of capitals among letters below which a text is taken to be written without them


# Words of texts about films, plays and books, whose men and women are those of a named work: one of SURE_WORDS may do alone.
# «cinema…» belongs to both.
SURE_WORDS = frozenset(("film", "films", "movie", "movies", "screenplay", "screenplays", "sequel", "sequels"))
WORDS_OF_WORK = SURE_WORDS | english.words("words_of_works")
NOT_COUNTED = frozenset(("screenplays", "sequels"))  # beside their singulars
WORK = re.compile(rf"\b(cinema\w*|{'|'.join(sorted(WORDS_OF_WORK - NOT_COUNTED))})\b", re.IGNORECASE)
SURE_WORK = re.compile(rf"\b(?:cinema\w*|{'|'.join(sorted(SURE_WORDS))})\b", re.IGNORECASE)
# One of these is in each of those words, and no two in one.
WORK_STEMS = (
    *("film", "movie", "cinema", "screen", "direct", "plot", "sequel", "actor", "actress", "cast", "star", "character"),
    *("audience", "scene", "hollywood", "oscar", "comedy", "thriller", "performance", "role", "novel", "episode", "script"),
)
SHORT = 1500  # characters up to which one word is enough that is said of works alone
LEAST_OF_WORK = 2  # different such words from which a text without capitals is taken to be about a work
UPPER = bytes(range(ord("A"), ord("Z") + 1))
LETTERS = UPPER + UPPER.lower()
BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")


def is_caseless(text: str) -> bool:
    """Whether a text of some length is written without capitals."""
    if len(text) < 200:
        return text == text.lower() and len(text) > 80
    sample = text[:SAMPLE]
    plain = sample.encode("ascii", "ignore")
    others = BEYOND_ASCII.findall(sample) if len(plain) < len(sample) else []
    upper = len(plain) - len(plain.translate(None, UPPER)) + sum(map(str.isupper, others))
    if upper >= CASELESS * len(sample):
        return False
    letters = len(plain) - len(plain.translate(None, LETTERS)) + sum(map(str.isalpha, others))
    return upper < CASELESS * max(letters, 1)


def is_about_a_work(text: str, words: frozenset[str] | None = None) -> bool:
    """Whether a text says much of films, plays or books. words: its, in lower case, if somebody has them."""
    sample = text[:SAMPLE].lower()
    if words is not None and len(text) <= SAMPLE and text.isascii() and "cinema" not in sample:
        said = WORDS_OF_WORK & words
        if len(said) < LEAST_OF_WORK:  # as below, and far faster told
            return len(text) <= SHORT and not SURE_WORDS.isdisjoint(said)
    # A search for all of the words takes far longer.
    stems = list(islice((stem for stem in WORK_STEMS if stem in sample), LEAST_OF_WORK))
    if stems and len(text) <= SHORT and SURE_WORK.search(text):
        return True
    if len(stems) < LEAST_OF_WORK:
        return False
    found: set[str] = set()
    for match in WORK.finditer(text, 0, SAMPLE):
        found.add(match[0].lower())
        if len(found) >= LEAST_OF_WORK:
            return True
    return False
