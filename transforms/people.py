"""Named people in a text, as far as spelling and a list of first names say: who may be meant by «he» or «she».

First names are those of the 1990 US census (public domain), see `names.tsv`. Where a text is written without capitals,
only names that are no common word are found; `is_caseless` says so, for whoever must then be careful.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

NAMES_PATH = Path(__file__).with_name("names.tsv")
FEMALE, MALE, EITHER = "f", "m", "e"
# Capitalised words in a row, with the small words and initials that stand within names.
PROPER = re.compile(
    r"(?<![\w'’@#])(?:[A-Z]\.[ ]?)*[A-Z][\w]*(?:['’][A-Z]\w+)?(?:-[A-Z]\w+)*"
    r"(?:[ ](?:(?:van|von|de|del|der|den|di|da|la|le|bin|al|ibn)[ ])?(?:[A-Z]\.|[A-Z][\w]*(?:['’][A-Z]\w+)?(?:-[A-Z]\w+)*))*"
)
LOWER_NAME = re.compile(r"(?<![\w'’@#-])[a-z]{3,}(?![\w-])")
# A place, not a person, stands behind these.
BEFORE_PLACE = frozenset("in at from near to of via towards toward outside inside across around through into".split())
# Capitalised words that begin a sentence or are never a person's name.
NOT_NAMES = frozenset(
    """
a about after again all also although always an and another any are as at away back be because before being both but by
can christmas come could day dear did do does don during each easter either english even every everyone finally first for
from get give go god good great had has have he hello her here hers hey hi him his how however i if in indeed instead is it
its just last later let life like look many maybe me meanwhile more most mr mrs ms miss my never new next no nobody none nor
not nothing now of oh ok okay old on once one only or other our out over people perhaps please she should since so some
someone something sometimes soon still such suddenly sure take tell than thank thanks that the their them then there these
they thing things this those though through thus to today together tomorrow tonight too two under until up us very was we
well were what when where whether which while who whoever whose why will with without would wow yes yesterday yet you young your
january february march april may june july august september october november december monday tuesday wednesday thursday
friday saturday sunday american americans british english french german germans chinese japanese indian russian italian
spanish mexican canadian australian european african asian irish scottish welsh dutch greek roman latin arab israeli
palestinian iraqi iranian turkish christian christians muslim muslims jewish jew jews hindu hindus buddhist buddhists catholic
protestant islamic islam christianity judaism hinduism buddhism bible quran koran torah earth internet america africa europe
asia australia england britain france germany china japan india russia italy spain mexico canada ireland scotland washington
london paris york california texas florida chicago boston hollywood broadway google facebook twitter youtube instagram
microsoft apple amazon netflix covid olympic olympics army navy nazi nazis republican republicans democrat democrats congress
senate house court state states university college school church hospital company inc corp ltd street road avenue park bridge
river lake mountain island city county airport station hotel bank department ministry office party union league museum
institute society club association committee council foundation center centre band magazine news times post journal
woman man women men girl boy girls boys mother father mom dad mum sister brother aunt uncle grandma grandpa grandmother
grandfather wife husband son daughter lady ladies gentleman gentlemen sir madam teacher doctor nurse engineer student students
children kids parents family friend friends neighbor neighbour boss manager customer client patient driver ai tv dvd cd usa uk
un eu us phd ceo cfo cto id pm am lol omg thanksgiving halloween hanukkah diwali eid ramadan lent sabbath mass gospel scripture
somebody everybody anybody anyone nowhere somewhere whenever wherever unlike despite among between within against according
early late long years year night morning evening afternoon yeah nope hmm ah aha well alas bye welcome sorry congratulations
neither whatever nevertheless nonetheless therefore hence besides furthermore moreover otherwise anyway apparently actually
basically clearly fortunately unfortunately luckily obviously probably eventually recently usually often rarely quickly slowly
growing having going getting making taking seeing looking working walking running sitting standing being knowing using
""".split()
)
# What makes a row of capitals no person: the last word of organisations, places and works.
NOT_PERSON_END = frozenset(
    """
university college school church hospital company inc corp ltd street road avenue park bridge river lake mountain island city
county airport station hotel bank department ministry office party union league museum institute society club association
committee council foundation center centre band magazine news times post journal scouts army navy court house senate act award
prize cup games series team group airlines motors records studios press library theatre theater square tower hall valley beach
bay coast states kingdom republic federation day week festival war revolution empire movement agency bureau commission service
services force forces corps academy high church cathedral temple mosque synagogue ocean sea world desert forest canyon
""".split()
)
TITLES = frozenset(
    """
mr mrs ms miss dr prof professor president senator governor mayor minister secretary chancellor premier captain colonel
general major lieutenant sergeant officer judge justice king queen prince princess lord lady sir dame pope cardinal bishop
archbishop reverend rev rabbi imam sheikh saint st father sister brother mother aunt uncle auntie grandma grandpa duke duchess
count countess baron baroness earl emperor empress tsar sultan detective inspector coach chief doctor nurse
""".split()
)
SPEECH = re.compile(
    r"\s*,?\s*(?:said|says|told|asked|added|argued|explained|replied|wrote|thinks?|thought|believes?|believed|knew|knows|"
    r"wants?|wanted|loved?|loves|liked?|likes|smiled|laughed|cried|went|walked|sat|stood|looked|felt|feels|has|had|is|was|"
    r"lost|found|made|took|gave|came|got|plays?|played|stars?|starred|directed|won|lives?|lived|met|married|works?|worked|"
    r"will|would|can|could|did|does|who|whose|never|always|also|'s|’s)\b"
)
NAMED_AFTER = frozenset("named called nicknamed dubbed".split())
CASELESS = 0.004  # share of capitals among letters below which a text is taken to be written without them


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
    sample = text[:20000]
    letters = sum(map(str.isalpha, sample))
    return sum(map(str.isupper, sample)) < CASELESS * max(letters, 1)


def named(text: str, start: int, end: int, caseless: bool) -> list[Person]:
    """The named people of a sentence text[start:end], in its order."""
    if caseless:
        return _lower_names(text, start, end)
    out: list[Person] = []
    for match in PROPER.finditer(text, start, end):
        person = _person(text, start, match)
        if person is not None:
            out.append(person)
    return out


def _lower_names(text: str, start: int, end: int) -> list[Person]:
    names = first_names()
    out: list[Person] = []
    for match in LOWER_NAME.finditer(text, start, end):
        sex = names.get(match[0])
        if sex is not None and "w" not in sex and match[0] not in NOT_NAMES:
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
    return Person(at, end, EITHER, bool(SPEECH.match(text, end)) and not begins or len(words) == 2)


def _title_sex(title: str) -> str:
    if title in ("mrs", "ms", "miss", "queen", "princess", "lady", "dame", "sister", "mother", "aunt", "auntie", "grandma"):
        return FEMALE
    if title in ("mr", "king", "prince", "lord", "sir", "pope", "father", "brother", "uncle", "grandpa", "duke", "emperor"):
        return MALE
    return EITHER


PLACES = frozenset(
    "virginia carolina georgia florence sydney austin dallas houston jordan israel paris london china india asia america "
    "chelsea charlotte madison orlando santiago kent brooklyn savannah cheyenne dakota phoenix montana milan vienna victoria "
    "jackson lincoln washington denver troy melbourne adelaide alexandria augusta regina diego antonio francisco jose luis "
    "santa monica lourdes holland ireland kenya lebanon carson columbus devon erin germany rochester clinton".split()
)


def _is_place(word: str) -> bool:
    return word.lower() in PLACES
