"""Named people in a text, as far as spelling and a list of first names say: who may be meant by «he» or «she».

First names are those of the 1990 US census (public domain), see `names.tsv`. Where a text is written without capitals,
only names that are no common word are found.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from evenflow.transforms import english, namerows, subjects
from evenflow.transforms.substitution import pronouns

NAMES_PATH = Path(__file__).with_name("names.tsv")
# People whose noun says no gender: who a pronoun may mean, and whom an adjective of age or faith may describe.
PERSON_NOUNS = english.words("person_nouns")
# Others who are described by age, sex or faith.
RELATED = english.words("related")
FEMALE, MALE, EITHER = namerows.FEMALE, namerows.MALE, namerows.EITHER
# «elephant», «otter»: words that end as those for people do.
ANIMALS = english.words("animals")
# Capitalised words in a row, with the small words and initials that stand within names. The first capital is asked for before
# anything else, since a search leaps from one to the next; it begins a title, an initial, or a name.
# A letter may be written as an entity («P&eacute;rez»), or have been lost («M\ufffdller»).
NAME_GOES_ON = r"\w*(?:(?:\ufffd|&(?:[a-z]{2,8}|#\d{2,5});)\w*)*(?:['’][A-Z]\w+)?(?:-[A-Z]\w+)*"
PROPER = re.compile(
    r"[A-Z](?<![\w'’@#].)"
    r"(?:(?:(?<=M)(?:r|rs|s)|(?<=D)r|(?<=P)rof|(?<=S)(?:en|t)|(?<=G)(?:ov|en)|(?<=R)(?:ep|ev))\.[ ](?:[A-Z]\.[ ]?)*[A-Z]|"
    rf"\.[ ]?(?:[A-Z]\.[ ]?)*[A-Z]|){NAME_GOES_ON}"
    rf"(?:[ ](?:(?:van|von|de|del|der|den|di|da|la|le|bin|al|ibn)[ ])?(?:[A-Z]\.|[A-Z]{NAME_GOES_ON}))*"
)
PERSON_ENDING = re.compile(r"\w{3}(?:er|or|ist|ian|ant|ent|ee|eer|ate|ess|man|woman|men|women)s?$")
LONE_NAME = re.compile(r"(?<![\w'’@#-])(?:[a-z]{3,}|[A-Z]{3,})(?![\w-])")
# A place, not a person, stands behind these.
BEFORE_PLACE = english.words("before_place")
# First names that are commoner as words, where capitals do not tell.
NAME_WORDS = english.words("name_words")
# Capitalised words that begin a sentence or are never a person's name.
NOT_NAMES = english.words("not_names")
# What makes a row of capitals no person: the last word of organisations, places and works.
NOT_PERSON_END = english.words("not_person_end")
NUMBERS = frozenset(("Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten"))
TITLES = english.words("titles")
# Those that no organisation has within its name («Prime Minister», but not «King's College» or «Mother Teresa Home»).
PERSONAL_TITLES = frozenset(("dr", "mr", "mrs", "ms", "prof", "professor", "minister", "premier", "president", "senator", "sir"))
NO_NAMES = NOT_NAMES - TITLES
# What only somebody does who can speak: behind these a capital is a name even where the word is a common one («Stone said»).
SPEAKING = "said|says|told|asked|added|argued|explained|replied|wrote|thinks?|thought|believes?|believed|smiled|laughed"
SAID_BEFORE = frozenset(("says", "adds", "added", "explains", "warns", "argues"))  # «…, adds Rooney»
SPEAKS = re.compile(rf"\s*,?\s*(?:{SPEAKING})\b")
SPEECH = re.compile(
    rf"\s*,?\s*(?:{SPEAKING}|knew|knows|"
    r"figured|discovered|discovers|finds|studie[sd]|suggests|suspects?|hopes|plans|reckons|admits|admitted|denies|denied|insists|"
    r"insisted|agrees|agreed|claims|claimed|recalls|recalled|notes|noted|warns|warned|writes|concluded|calculated|realised|realized|"
    r"wants?|wanted|loved?|loves|liked?|likes|cried|went|walked|sat|stood|looked|felt|feels|has|had|is|was|"
    r"lost|found|made|took|gave|came|got|plays?|played|stars?|starred|directed|won|lives?|lived|met|married|works?|worked|"
    r"will|would|can|could|did|does|who|whose|never|always|also|'s|’s)\b"
)
# «Moggridge, currently a …»
DESCRIBED = re.compile(r",\s+(?:(?:currently|now|then|once|also|formerly)\s+)?(?:an?|the|who|whose|\d\d)\b")
RARE = (None, "0000")  # classes of words that are nearly never common ones
VERB = re.compile(r"\s+[a-z]+(?:ed|es)\b")
VERB_AFTER = re.compile(r"\s*(?:[,;.]|\s(?:and|who|is|was|has|had|will|[a-z]+(?:s|ed))\b)")
LABEL = 20  # characters within which a label before a sentence ends
SALUTES = frozenset(("dear", "hi", "hello", "hey"))
NAMED_AFTER = english.words("named_after")


class Person(NamedTuple):
    """A named person: text[start:end], the sex the first name says (f, m or e), and whether it surely is a person."""

    start: int
    end: int
    sex: str
    sure: bool


# Words that stand before a person noun, with up to two between, and what ends that.
# The first letter is asked for before anything else, since a search leaps from one to the next.
DETERMINER = re.compile(
    r"(?-i:[AaEeHhMmNnOoSs\u017fTtYy])(?<!\w.)(?:(?<=t)(?:he|his|hat|heir)|(?<=a)(?:n|ny|nother|)|(?<=e)(?:ach|very)|(?<=m)y|"
    r"(?<=o)(?:ur|ne)|(?<=y)our|(?<=h)(?:is|er)|(?<=n)o|(?<=s)ome)(?=\s)",
    re.IGNORECASE,
)
NEXT_WORDS = re.compile(r"\s+([\w'’-]+)(?:\s+([\w'’-]+)(?:\s+([\w'’-]+))?)?")
NOT_BETWEEN = frozenset(("who", "that", "which", "to", "and", "or", "of", "in", "on", "at", "is", "was"))
PLACES = english.words("places")
KNOWN_SURNAMES = frozenset(map(str.lower, english.words("known_surnames")))
LEADING = re.compile(r"\w+")
SPEAKER = frozenset(("I", "I'm", "I'd", "I'll", "I've", "I’m", "I’d", "I’ll", "I’ve"))


@cache
def first_names() -> dict[str, str]:
    """First names in lower case with f, m or e, and w after it where the name is a common word too."""
    lines = NAMES_PATH.read_text(encoding="ascii").splitlines()
    names: dict[str, str] = dict(line.split("\t") for line in lines if not line.startswith("#"))  # type: ignore[misc]
    # Since then others have them too.
    return names | dict.fromkeys(english.words("names_of_either"), EITHER)


@cache
def _myths() -> dict[str, str]:
    """Gods and figures of myth with their sex."""
    return dict.fromkeys(english.words("gods"), MALE) | dict.fromkeys(english.words("goddesses"), FEMALE)


@cache
def sure_names() -> dict[str, str]:
    """The first names that are no common word."""
    return {name: sex for name, sex in first_names().items() if "w" not in sex and name not in NOT_NAMES | NAME_WORDS}


@cache
def lone_names() -> frozenset[str]:
    """The first names of `sure_names`."""
    return frozenset(sure_names())


@cache
def _well_known(sex: str) -> frozenset[str]:
    """Words that may name somebody of a sex, where capitals do not tell, and no place."""
    classes = pronouns.shipped().classes
    owners = {f"{name}s" for name in KNOWN_SURNAMES if classes.get(f"{name}s", "0")[0] == "0"}  # «hitlers opinion»
    fitting = frozenset(name for name, own in sure_names().items() if EITHER in (own, sex) or own == sex)
    return (fitting | KNOWN_SURNAMES | owners) - PLACES


def may_name_somebody(words: frozenset[str], sex: str = EITHER) -> bool:
    """Whether a text of these words, written without capitals, may have a name: a first name, or a surname many know.

    sex: whose; by default any.
    """
    return not words.isdisjoint(_well_known(sex))


def is_person_noun(word: str) -> bool:
    """Whether a word, singular, plural or possessive, names people by no group."""
    singular = word.lower().removesuffix("'s").removesuffix("’s")
    known = any(each in PERSON_NOUNS or each in RELATED for each in (singular, singular.removesuffix("s")))
    return known or (PERSON_ENDING.search(singular) is not None and ANIMALS.isdisjoint((singular, f"{singular}s")))


def is_common(word: str) -> bool:
    """Whether a word in lower case is mostly a thing's («rain») or a plural («apologies»), as far as is known."""
    if word in KNOWN_SURNAMES or is_person_noun(word):
        return False
    classes = pronouns.shipped().classes
    singular = word[:-3] + "y" if word.endswith("ies") else word[:-1] if word.endswith("s") else ""
    return classes.get(word, "0")[0] in "34" or (singular != "" and classes.get(singular, "0")[0] in "234")


def without_name(text: str, start: int, end: int) -> list[int]:
    """Where people who are named by a noun of no group («the new engineer») begin in a sentence text[start:end]."""
    out: list[int] = []
    reached = start
    for match in DETERMINER.finditer(text, start, end):
        if match.start() < reached:
            continue
        words = NEXT_WORDS.match(text, match.end(), end)
        for number, word in enumerate(words.groups() if words is not None else (), 1):
            lead = LEADING.match(word or "")
            if lead is None:
                continue
            if lead[0].lower() in PERSON_NOUNS:
                assert words is not None
                out.append(match.start())
                reached = words.start(number) + lead.end()
                break
            if lead[0].lower() in NOT_BETWEEN:
                break
    return out


def named(text: str, start: int, end: int, caseless: bool, words: frozenset[str] | None = None) -> list[Person]:
    """The named people of a sentence text[start:end], in its order. words: its, in lower case, if somebody has them."""
    if caseless or text[start:end].isupper():
        return _other_names(text, start, end, words)
    out: list[Person] = []
    for match in PROPER.finditer(text, start, end):
        if match[0].count(" ") > 1 and match[0].isupper():  # «WHO IS WAITING FOR LISA»
            out += _other_names(text, match.start(), match.end(), None)
            continue
        person = _person(text, start, match)
        if person is not None:
            out.append(person)
    label = text.find(": ", start, start + LABEL)  # «Context: casey was …»
    begins = label + 2 if label >= 0 else start
    if text[begins : begins + 1].islower():
        first = LONE_NAME.match(text, begins, end)
        if first is not None and (first[0] in lone_names() or subjects.has_capital(first[0], text)):  # «casey was in a rush»
            own = [] if first[0] in lone_names() else [Person(begins, first.end(), EITHER, True)]
            out = sorted([*own, *_other_names(text, begins, end, words), *out])
    return out


def _other_names(text: str, start: int, end: int, words: frozenset[str] | None) -> list[Person]:
    """First names where capitals say nothing: in small letters, or in capitals throughout."""
    names = sure_names()
    said = map(str.lower, LONE_NAME.findall(text, start, end)) if words is None else words
    out: list[Person] = []
    for name in lone_names().intersection(said):
        for form in (name, name.upper()):
            at = text.find(form, start, end)
            while at >= 0:
                match = LONE_NAME.match(text, at, end)
                if match is not None and match[0] == form:
                    out.append(Person(at, match.end(), names[name], True))
                at = text.find(form, at + 1, end)
    return sorted(out)


def _person(text: str, start: int, match: re.Match[str]) -> Person | None:
    if match[0].lower() in NO_NAMES:
        return None
    words = match[0].split(" ")
    if words[0] in NUMBERS and words[-1].endswith("s"):  # a café called «Three Sisters»
        return None
    at, end = match.span()
    if " I" in match[0] and (i := next((number for number, word in enumerate(words) if word in SPEAKER), 0)):  # «Shall I»
        end = at + len(" ".join(words[:i]))
        words = words[:i]
    first = words[0].lower().rstrip(".")
    # The sentence's first word has its capital anyway; titles are no part of the name.
    sex = EITHER
    titled = False
    if first in SALUTES and text[end : end + 1] == ",":
        return None  # «Dear Anna, …»: who is written to is spoken of as «you»
    while words and (first in NOT_NAMES or first in TITLES):
        if first in TITLES:
            titled = True
            sex = namerows.title_sex(first)
        at += len(words[0]) + 1
        words = words[1:]
        first = words[0].lower().rstrip(".") if words else ""
    if not words:
        return None
    begins = at == start or not text[start:at].strip(" \"'“‘(«-—–*>\n\t.)0123456789")
    names = first_names()
    kind = names.get(words[0].lower().split("-")[0], "") or _myths().get(words[0].lower(), "")
    before = text[max(0, at - 20) : at].split()
    preceding = before[-1].lower() if before else ""
    if words[-1].lower() in NOT_PERSON_END or (len(words) == 1 and words[0].isupper() and len(words[0]) > 1):
        return None
    if not kind and not titled and len(words) > 2 and (skipped := namerows.name_at(words, names, PERSONAL_TITLES)):
        title = words[skipped - 1].lower().rstrip(".")
        known = namerows.title_sex(title) if title in PERSONAL_TITLES else EITHER
        first_name = names.get(words[skipped].lower().split("-")[0], "")[:1] or EITHER
        return Person(at + len(" ".join(words[:skipped])) + 1, end, known if known != EITHER else first_name, True)
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
    if preceding in NAMED_AFTER or (preceding in SAID_BEFORE and len(words) <= 3 and not begins):
        return Person(at, end, EITHER, True)
    if begins and len(words) == 1 and DESCRIBED.match(text, end) and pronouns.shipped().classes.get(words[0].lower()) in RARE:
        return Person(at, end, EITHER, True)
    if begins and len(words) == 1 and not SPEECH.match(text, end):
        unknown = words[0].lower() not in PERSON_NOUNS and subjects.may_be_named(words[0].lower(), text, end)
        return Person(at, end, EITHER, False) if unknown else None  # «Beyoncé released …»
    if begins and len(words) == 1 and not SPEAKS.match(text, end):
        if is_common(first):
            return None  # «Apologies had reached her»
        doubtful = first.endswith("s") or pronouns.shipped().classes.get(first, "0")[0] == "2"
        return Person(at, end, EITHER, not doubtful or first in KNOWN_SURNAMES)
    if preceding == "to" and len(before) > 1 and before[-2].lower() == "according":
        return Person(at, end, EITHER, True)
    if len(words) == 1 and not begins and preceding in PERSON_NOUNS and VERB_AFTER.match(text, end):
        return Person(at, end, EITHER, True)  # «our neighbour Elif waters …»
    if preceding in ("the", "a", "an", *BEFORE_PLACE) and not SPEECH.match(text, end):
        return None
    if len(words) > 3 or preceding == "the":
        return None
    return Person(at, end, EITHER, bool(SPEECH.match(text, end)) or len(words) == 2)


def _is_place(word: str) -> bool:
    return word.lower() in PLACES
