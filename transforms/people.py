"""Named people in a text, as far as spelling and a list of first names say: who may be meant by «he» or «she».

First names are those of the 1990 US census (public domain), see `names.tsv`. Where a text is written without capitals,
only names that are no common word are found; `is_caseless` says so, for whoever must then be careful.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from evenflow.transforms import english

NAMES_PATH = Path(__file__).with_name("names.tsv")
# People whose noun says no gender: who a pronoun may mean, and whom an adjective of age or faith may describe.
PERSON_NOUNS = english.words("person_nouns")
# Others who are described by age, sex or faith.
RELATED = english.words("related")
FEMALE, MALE, EITHER = "f", "m", "e"
# Capitalised words in a row, with the small words and initials that stand within names.
PROPER = re.compile(
    r"(?<![\w'’@#])(?:(?:Mr|Mrs|Ms|Dr|Prof|Sen|Gov|Gen|Rep|St|Rev)\.[ ])?"
    r"(?:[A-Z]\.[ ]?)*[A-Z][\w]*(?:['’][A-Z]\w+)?(?:-[A-Z]\w+)*"
    r"(?:[ ](?:(?:van|von|de|del|der|den|di|da|la|le|bin|al|ibn)[ ])?(?:[A-Z]\.|[A-Z][\w]*(?:['’][A-Z]\w+)?(?:-[A-Z]\w+)*))*"
)
PERSON_ENDING = re.compile(r"\w{3}(?:er|or|ist|ian|ant|ent|ee|eer|ate|ess|man|woman|men|women)s?$")
LONE_NAME = re.compile(r"(?<![\w'’@#-])(?:[a-z]{3,}|[A-Z]{3,})(?![\w-])")
# A place, not a person, stands behind these.
BEFORE_PLACE = english.words("before_place")
# Capitalised words that begin a sentence or are never a person's name.
NOT_NAMES = english.words("not_names")
# What makes a row of capitals no person: the last word of organisations, places and works.
NOT_PERSON_END = english.words("not_person_end")
TITLES = english.words("titles")
SPEECH = re.compile(
    r"\s*,?\s*(?:said|says|told|asked|added|argued|explained|replied|wrote|thinks?|thought|believes?|believed|knew|knows|"
    r"wants?|wanted|loved?|loves|liked?|likes|smiled|laughed|cried|went|walked|sat|stood|looked|felt|feels|has|had|is|was|"
    r"lost|found|made|took|gave|came|got|plays?|played|stars?|starred|directed|won|lives?|lived|met|married|works?|worked|"
    r"will|would|can|could|did|does|who|whose|never|always|also|'s|’s)\b"
)
NAMED_AFTER = english.words("named_after")
SAMPLE = 8000  # characters from which it is told how a text is written, and what it is about
CASELESS = 0.004  # share of capitals among letters below which a text is taken to be written without them


# Words of texts about films, plays and books: their men and women are those of a named work.
WORK = re.compile(
    r"\b(films?|movies?|cinema\w*|screenplay|director|directed|plot|sequel|actors?|actress(?:es)?|cast|star(?:s|red|ring)|"
    r"characters?|audiences?|scenes?|screen|hollywood|oscars?|comedy|thriller|performances?|roles?|novel|episode|script)\b",
    re.IGNORECASE,
)
LEAST_OF_WORK = 2  # different such words from which a text without capitals is taken to be about a work


class Person(NamedTuple):
    """A named person: text[start:end], the sex the first name says (f, m or e), and whether it surely is a person."""

    start: int
    end: int
    sex: str
    sure: bool


@cache
def first_names() -> dict[str, str]:
    """First names in lower case with f, m or e, and w after it where the name is a common word too."""
    lines = NAMES_PATH.read_text(encoding="ascii").splitlines()
    return dict(line.split("\t") for line in lines if not line.startswith("#"))  # type: ignore[misc]


def is_caseless(text: str) -> bool:
    """Whether a text of some length is written without capitals."""
    if len(text) < 200:
        return text == text.lower() and len(text) > 80
    sample = text[:SAMPLE]
    letters = sum(map(str.isalpha, sample))
    return sum(map(str.isupper, sample)) < CASELESS * max(letters, 1)


def is_person_noun(word: str) -> bool:
    """Whether a word, singular, plural or possessive, names people by no group."""
    singular = word.lower().removesuffix("'s").removesuffix("’s")
    known = any(each in PERSON_NOUNS or each in RELATED for each in (singular, singular.removesuffix("s")))
    return known or PERSON_ENDING.search(singular) is not None


def is_about_a_work(text: str) -> bool:
    """Whether a text says much of films, plays or books."""
    return len({match[0].lower() for match in WORK.finditer(text[:SAMPLE])}) >= LEAST_OF_WORK


def named(text: str, start: int, end: int, caseless: bool) -> list[Person]:
    """The named people of a sentence text[start:end], in its order."""
    if caseless or text[start:end].isupper():
        return _other_names(text, start, end)
    out: list[Person] = []
    for match in PROPER.finditer(text, start, end):
        person = _person(text, start, match)
        if person is not None:
            out.append(person)
    return out


def _other_names(text: str, start: int, end: int) -> list[Person]:
    """First names where capitals say nothing: in small letters, or in capitals throughout."""
    names = first_names()
    out: list[Person] = []
    for match in LONE_NAME.finditer(text, start, end):
        word = match[0].lower()
        sex = names.get(word)
        if sex is not None and "w" not in sex and word not in NOT_NAMES:
            out.append(Person(match.start(), match.end(), sex, True))
    return out


def _person(text: str, start: int, match: re.Match[str]) -> Person | None:
    words = match[0].split(" ")
    at = match.start()
    first = words[0].lower().rstrip(".")
    # The sentence's first word has its capital anyway; titles are no part of the name.
    sex = EITHER
    titled = False
    while words and (first in NOT_NAMES or first in TITLES):
        if first in TITLES:
            titled = True
            sex = _title_sex(first)
        at += len(words[0]) + 1
        words = words[1:]
        first = words[0].lower().rstrip(".") if words else ""
    if not words:
        return None
    begins = at == start or not text[start:at].strip(" \"'“‘(«-—–*>\n\t")
    names = first_names()
    kind = names.get(words[0].lower().split("-")[0], "")
    end = match.end()
    before = text[max(0, at - 14) : at].split()
    preceding = before[-1].lower() if before else ""
    if words[-1].lower() in NOT_PERSON_END or (len(words) == 1 and words[0].isupper() and len(words[0]) > 1):
        return None
    if titled:
        return Person(at, end, sex if sex != EITHER else kind[:1] or EITHER, True)
    if kind:
        if len(words) > 1:
            return Person(at, end, kind[0], True)
        if begins and "w" in kind:
            return Person(at, end, kind[0], True) if SPEECH.match(text, end) and kind[0] != "w" else None
        if preceding in BEFORE_PLACE and _is_place(words[0]):
            return None
        return Person(at, end, kind[0], preceding not in ("the", "a", "an"))
    if preceding in NAMED_AFTER:
        return Person(at, end, EITHER, True)
    if begins and len(words) == 1 and not SPEECH.match(text, end):
        return None
    if preceding in ("the", "a", "an", *BEFORE_PLACE) and not SPEECH.match(text, end):
        return None
    if len(words) > 3 or preceding == "the":
        return None
    return Person(at, end, EITHER, bool(SPEECH.match(text, end)) or len(words) == 2)


def _title_sex(title: str) -> str:
    if title in ("mrs", "ms", "miss", "queen", "princess", "lady", "dame", "sister", "mother", "aunt", "auntie", "grandma"):
        return FEMALE
    if title in ("mr", "king", "prince", "lord", "sir", "pope", "father", "brother", "uncle", "grandpa", "duke", "emperor"):
        return MALE
    return EITHER


PLACES = english.words("places")


def _is_place(word: str) -> bool:
    return word.lower() in PLACES
