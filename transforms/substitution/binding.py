"""Nouns that the words around them bind to a named person: «my brother John», «Mary is a nurse», «a boy named Tom»."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenflow.transforms import english, people
from evenflow.transforms.people import Person
from evenflow.transforms.substitution import leads, pronouns, sets
from evenflow.transforms.substitution.sets import Item

COPULA = re.compile(
    r"\s*(?:,\s*who\s+)?(?:(?:has|had|have|used|seems|appears|proves|proved|turns\s+out|turned\s+out)\s+to\s+|"
    r"(?:will|would|must|might|may|could|should)\s+)?(?:'s|’s|'m|’m|\b(?:is|was|being|became|becomes|become|remains|remained|been|be|am|"
    r"(?:seem|look|sound|act)(?:s|ed)? like))\s+"
    r"(?:not\s+|now\s+|also\s+|still\s+|once\s+|never\s+|only\s+|just\s+|really\s+|widely\s+|often\s+|generally\s+)*"
    r"(?:(?:considered|called|known as|regarded as|seen as|viewed as|dubbed|believed to be|said to be)\s+)?"
    r"(?:an?\s+(?:[\w'’-]+\s+){1,3}(?:and|but|yet)\s+)?"
    r"(?:an?|the|such an?|quite an?|most|my|his|her|their|our|your|its|one of (?:the|those|these))\s+"
    r"(?:(?!who\b|that\b|and\b)[\w'’-]+\s+){0,4}$",
    re.IGNORECASE,
)
APPOSED = re.compile(
    r"\s*(?:,|\(|--|–|—)\s*(?:(?:an?|the|his|her|my|our|their|once|then|now|former|formerly)\s+)?(?:[\w'’-]+\s+){0,3}$",
    re.IGNORECASE,
)
CALLED = re.compile(
    r"\s*,?\s*(?:(?:was|is|whose name (?:is|was)|who (?:is|was)|that (?:is|was)) )?"
    r"(?:named|called|known as|nicknamed|(?:of|by) the name of)\s+(?:the\s+)?(?=[\"“]?[A-Z])"
)
DIRECT = re.compile(r",?\s*[(\"“]?$|\s*[,:(–—-]+\s*$|\s+(?:(?:in|on|at|of|with|from|who)\s+[^,.;]{1,40}\s+)?(?:is|was)\s+$")
CUT_NAME = re.compile(r"[^\W\d_]{1,4}\s+,\s+an?\s+(?:[\w'’-]+\s+){0,3}$")
# «your sister , the creepy catherine zeta-jones», «a more educated man, such as the Earl of Oxford»
APPOSED_TO = re.compile(r"\s*,\s+the\s+(?:(?!(?:of|and|or|who|that|in|on|at|to|is|was)\b)[a-z][\w'’-]*\s+){1,2}$")
SUCH_AS = re.compile(r"\s*,?\s+(?:such\s+as|including|namely)\s+(?:the\s+(?:[\w'’-]+\s+of\s+)?)?$")
# «women like Ruth Klingman», «two men: Tom Bell and …», «the brothers Tom and Bob»
MANY_NAMED = re.compile(r"\s*,?\s+(?:like|such\s+as|including|namely|named|called)\s+(?:the\s+)?$|\s*[:(]\s*$")
# «the actress who was playing Lucille Ball»; «unlike other girls, Sheena …»
WHO_PLAYED = re.compile(
    r"\s+(?:who|that)\s+(?:is\s+|was\s+)?(?:play(?:s|ed|ing)|portray(?:s|ed|ing)|voic(?:es|ed|ing))\s+(?:the\s+(?:role|part)\s+of\s+)?[A-Z]"
)
UNLIKE = re.compile(r"\b(?:un)?like\s+(?:\w+\s+)?(?:other|most|many|all)\s+$", re.IGNORECASE)
APPOSED_ROLE = re.compile(r"\s*,\s+(?:(?!(?:and|or|but|then|so|who|when|that|with|in|on|at|to)\b)[\w-]+\s+){0,2}([a-z]+)\s+$")
OWNED_BY = re.compile(r"\s+of\s+(?:(?!(?:and|or|who|that|which|is|was|in|on|at|from|near)\b)[\w'’-]+\s+){0,6}$")
# «the son of Zeus», whom no list of names has
KIN_OF = re.compile(
    r"\s+of\s+(?:(?:[a-z]+\s+){0,2}(?:king|queen|goddess|god|emperor|sultan|poet|painter|composer)\s+)?([A-Z][a-z]+)\b"
)
OF_A_PLACE = ("ish", "ese", "ian", "ians", "ean", "eans", "can", "cans", "ist", "day", "land", "stan", "ia", "ville", "ton")
# «Chairman of Southern Riverina Irrigators Ted Hatty says»
OF_BODY = re.compile(r"\s+(?:of|for|at)\s+(?:the\s+)?(?:(?:[A-Z][\w&.'’-]*|and|of|for|the|&)\s+){1,8}$")
AT_WORK = re.compile(r"\s+(?:of|at|for|from|with)\s+[^,.;:]{1,60},\s*$")
BRACKETED = re.compile(r"[^.,;:()\n]{0,40}\(\s*(\w+)\s+\w+")
PLAYED = leads.after(
    r"(?:play(?:s|ed|ing)?|portray(?:s|ed|ing)?|(?:starr?(?:s|ed|ing)?|cast|appear(?:s|ed|ing)?) as)\s+(?:an?|the|her|his)", 6
)
ROLE_AS = leads.after(r"as\s+(?:an?|the)", 2)
TITLED = english.words("titled")
# «nicknamed it Xena, after the warrior princess»
CALLED_AFTER = re.compile(
    r"\b(?:nam(?:ed?|es|ing)|nicknam(?:ed?|es|ing)|dub(?:s|bed|bing)?|call(?:s|ed|ing)?|christen(?:s|ed|ing)?|titled|baptis(?:ed?|es))\s"
    r"[^.;:]{0,40}?\s[\"“]?[A-Z][\w'’-]*[\"”]?,?\s+after\s+(?:the|an?)\s+(?:[\w'’-]+\s+){0,4}$"
)
BEFORE_NO_NAME = re.compile(r"\s*(?:[.,;:!?)]|$|(?:" + "|".join(pronouns.CLOSED) + r")\b)")
# Confidence that is left to what refers to a named person: surely, perhaps, and to what is possessed by one.
SURELY, PERHAPS, POSSESSED = 0.1, 0.3, 0.45
# «Anna is a devout», «he 's not»: what stands before a word that is said of somebody.
SAID_OF = re.compile(
    r"\s*(?:,\s*who\s+)?(?:'s|’s|\b(?:is|was|being|became|becomes|become|remains?|remained|been|isn['’]t|wasn['’]t|as))\s+"
    r"(?:(?!(?:who|that|and|or|but|in|on|at|to|when|because)\b)[\w'’-]+,?\s+|,\s+){0,5}$",
    re.IGNORECASE,
)
HE_IS = leads.after(
    r"s?he(?:['’]?s|\s+(?:is|was|isn['’]t|wasn['’]t|became|becomes))|(?:call(?:s|ed|ing)?|mak(?:es|ing)|made)\s+(?:him|her)",
    3,
    but="who|that|and|or|but|in|on|at|to|when|because|saying|says|said",
)
# «kyle a lonely …», «lady nicknamed cookie», «seagal is now a …», in texts without capitals
BARE_APPOSED = re.compile(r"\s+an?\s+(?:[\w-]+\s+){0,2}$")
NICKNAMED = re.compile(r"\s+(?:[\w-]+\s+){0,2}(?:named|nicknamed|known as)\s")
# A name without a capital has no article and no adjective: it begins a clause.
BARELY_CALLED = re.compile(r"\s+(?:(?:was|is)\s+)?(?:named|nicknamed)\s+(?!(?:after|as|in|for|by|to|on|and)\b)[\w\"“]")
UNKNOWN_IS = re.compile(
    r"(?:^|[.!?;:,\n\"“(]\s*|\b(?:and|but|or|so|because|that|if|when|since|though|while|says?|said|thinks?|know|why|how)\s+)"
    r"([^\W\d_]{3,})\s+(?:is|was)\s+(?:(?:now|also|still|not|once)\s+)?(?:(?:seen|portrayed|described|cast|depicted|known|shown)\s+as\s+)?"
    r"(an?\s+(?:[\w-]+,?\s+){0,2})?$"
)
CALLING = re.compile(
    r"\b(?:call(?:s|ed|ing)?|label(?:s|l?ed|l?ing)?)\s+"
    r"(?!(?:me|you|us|them|people|someone|somebody|everyone|everybody|anyone|anybody|others?|it|this|that|all|any|each)\b)"
    r"[\w'’-]+\s+an?\s+(?:[\w-]+\s+){0,2}$",
    re.IGNORECASE,
)
SURNAME = re.compile(r"\s+[^\W\d_]+(?=\s*[,(–—-]|\s+(?:is|was|as)\b)")  # after a first name in a text without capitals
TOLD_BY_ACTOR = re.compile(r"[^.,;:()\n]{0,40}\(\s*(?:played by\s+)?(\w+)\s+\w+")
# «henry 's friend ottis has a sister», in a review
HAS_KIN = re.compile(r"(?:\s+[^\W\d_]+)?\s+(?:has|had)\s+an?\s+(?:[\w-]+\s+){0,2}(?:\w+-)?$")
KIN = frozenset(
    ("sister", "brother", "daughter", "son", "mother", "father", "wife", "husband", "girlfriend", "boyfriend", "uncle", "aunt")
)
OWNED = re.compile(r"(?:\s+[^\W\d_]+)?(?:'s|’s|['’]|\s'\s?s)\s+(?:[\w-]+\s+){0,2}$")
NO_NAME_ENDS_SO = (
    *("s", "ing", "body", "one", "ism", "ist", "tion", "sion", "ness", "ity", "ment", "hood", "ship", "ology", "phobia", "ance"),
    *("ence", "ed", "ly", "ful", "able", "ible", "ous", "ive", "ian"),
)
FIRST_WORD = re.compile(r"\W*([^\W\d_]{3,})(?=\s)")
IS_CALLED = re.compile(r"\s+(?:is|was)\s+([^\W\d_]{4,})\s+(?:from|aka)\b")
ACTING = frozenset(("actor", "actress", "girl", "boy", "man", "woman", "guy", "gal", "lady", "gentleman", "kid"))
LONGEST = 60  # characters between a name and «as a waitress» that is said of it
NEAR = 70  # characters before a noun in which «plays the …» is looked for


def bound(
    text: str, sentence: tuple[int, int], item: Item, named: Sequence[Person], sex: str, caseless: bool, hidden: bool
) -> tuple[float, str] | None:
    """Confidence and reason of a noun that is bound to a named person; None if it is not.

    named: the sentence's people. caseless: whether the text is written without capitals. hidden: whether names may be
    hidden in it for that.
    """
    start, end = sentence
    if (BARELY_CALLED.match(text, item.end, end) if caseless else CALLED.match(text, item.end)) is not None:
        return SURELY, sets.NAMED
    if "after" in text[start : item.start] and CALLED_AFTER.search(text, max(start, item.start - 2 * NEAR), item.start):
        return SURELY, sets.NAMED
    if item.word in ACTING and not caseless and WHO_PLAYED.match(text, item.end):
        return PERHAPS, sets.NAMED
    if PLAYED.search(text, max(start, item.start - NEAR), item.start):
        return 0.4, sets.WORK
    bracket = BRACKETED.match(text, item.end, end)
    if bracket is not None and _begins_name(bracket[1]):
        return SURELY, sets.NAMED
    if hidden and item.word in TITLED and not BEFORE_NO_NAME.match(text, item.end, end):
        return PERHAPS, sets.NAMED
    if text.startswith(",", start) and text[:start].rstrip().endswith(")") and APPOSED.match(text[start : item.start]):
        return SURELY, sets.REFERS  # «… wayland ( tim roth )», cut there by mistake, «, a wealthy young man»
    if hidden and CUT_NAME.match(text, start, item.start) and text[:start].rstrip()[-1:] == "?":
        return SURELY, sets.REFERS  # «eva per ? n , a woman who …», whose name lost a letter
    first = FIRST_WORD.match(text, start, item.start) if caseless else None
    if first is not None and COPULA.match(text[first.end() : item.start]) and _is_bare_name(first[1]):
        return PERHAPS, sets.REFERS  # «connor is a tired old man», in a text without capitals
    unknown = IS_CALLED.match(text, item.end, end) if caseless else None
    if unknown is not None and may_be_name(unknown[1]):
        return PERHAPS, sets.NAMED  # «the new girl is kailah from …»
    around = (person for person in named if person.start <= item.start and item.end < person.end)
    if any(" " in text[person.start : person.end] for person in around):
        return SURELY, sets.NAMED  # «Spokesman Brian Deavey»
    fits = (sex, people.EITHER)
    after = next((person for person in named if person.start >= item.end), None)
    if after is not None:
        between = text[item.end : after.start]
        if not between.strip() or CALLED.fullmatch(between) or between.strip(" .").lower() in people.TITLES:
            return SURELY, sets.NAMED
        if after.sure and OF_BODY.fullmatch(between) and " " in text[after.start : after.end]:
            return SURELY, sets.NAMED
        if after.sex in fits and (DIRECT.fullmatch(between) or AT_WORK.fullmatch(between)):
            return SURELY, sets.NAMED
        if after.sure and after.sex in fits and (APPOSED_TO.fullmatch(between) or SUCH_AS.fullmatch(between)):
            return PERHAPS, sets.NAMED
        role = APPOSED_ROLE.fullmatch(between) if after.sure and after.sex in fits and item.word in KIN else None
        if role is not None and people.is_person_noun(role[1]):
            return SURELY, sets.NAMED  # «her ex-husband, TV actor John McCook»
        if after.sure and OWNED_BY.fullmatch(between):
            return POSSESSED, sets.REFERS
    if item.word in KIN and not caseless:
        of = KIN_OF.match(text, item.end, end)
        if of is not None and of[1].lower() not in people.PLACES and not of[1].endswith(OF_A_PLACE):
            return POSSESSED, sets.REFERS
    before = next((person for person in reversed(named) if person.end <= item.start), None)
    if before is None:
        return None
    surname = SURNAME.match(text, before.end, item.start) if caseless else None
    between = text[surname.end() if surname is not None else before.end : item.start]
    if before.sex in fits and (COPULA.match(between) or APPOSED.match(between)):
        return SURELY, sets.REFERS
    if before.sex in fits and len(between) < LONGEST and ROLE_AS.search(between):
        return PERHAPS, sets.REFERS
    if OWNED.match(between) or (hidden and item.word in KIN and HAS_KIN.match(between)):
        return POSSESSED, sets.REFERS
    return None


def are_named(text: str, sentence: tuple[int, int], item: Item, named: Sequence[Person], sex: str, caseless: bool) -> bool:
    """Whether names tell who a plural's people are: «women like Ruth Klingman», «the brothers Tom and Bob»."""
    after = next((person for person in named if person.start >= item.end), None)
    if after is None or not after.sure or after.sex not in (sex, people.EITHER):
        return False
    between = text[item.end : after.start]
    if "," in between and not caseless and UNLIKE.search(text, max(sentence[0], item.start - 30), item.start):
        return True
    return MANY_NAMED.fullmatch(between) is not None or (not caseless and between == " ")


def said_of_named(text: str, sentence: tuple[int, int], item: Item, named: Sequence[Person], before: bool) -> bool:
    """Whether a word for a person's age or faith is said of a named person.

    named: the sentence's people. before: whether somebody is named in the sentences before, whom a «he is a …» may mean.
    """
    start, end = sentence
    lead = text[max(start, item.start - NEAR) : item.start]
    if PLAYED.search(lead) or CALLING.search(lead) or (before and HE_IS.search(lead)):
        return True
    if NICKNAMED.match(text, item.end, end) or CALLED.match(text, item.end):
        return True
    unknown = UNKNOWN_IS.search(lead)
    if (
        unknown is not None
        and (unknown[2] or item.kind == "adjective")
        and unknown[1].islower()
        and text[start:end].islower()
        and _is_bare_name(unknown[1])
    ):
        return True
    bracket = TOLD_BY_ACTOR.match(text, item.end, end)
    if bracket is not None and _begins_name(bracket[1]):
        return True
    for person in named:
        if item.end <= person.start <= item.end + 1 or person.start <= item.start < person.end:
            return True
        if person.end <= item.start and person.sure:
            surname = SURNAME.match(text, person.end, item.start)
            between = text[surname.end() if surname is not None else person.end : item.start]
            if SAID_OF.match(between) or APPOSED.match(between) or BARE_APPOSED.fullmatch(between):
                return True
    return False


def _begins_name(word: str) -> bool:
    """Whether a bracket's first word may be a name's: a first name, or a word with a capital."""
    if word[0].isupper():
        return True
    return word in people.first_names() and word not in pronouns.CLOSED and word not in people.NOT_NAMES  # «( in a red coat )»


def _names_somebody(word: str) -> bool:
    """Whether a clause's subject in small letters, which has no article, may be a name."""
    return word in people.first_names() or word in people.KNOWN_SURNAMES or may_be_name(word)


def _is_bare_name(word: str) -> bool:
    """Whether a sentence's first word, in small letters, may be a name for all that it ends like «teacher» («connor»)."""
    if word.endswith(("er", "or")) and word not in people.PERSON_NOUNS and word not in people.NOT_NAMES:
        return _may_be_subject_alone(word)
    return _names_somebody(word)


def may_be_name(word: str) -> bool:
    """Whether a word in small letters is none of the language's that can be a clause's subject, as far as is known."""
    known = word in pronouns.CLOSED or people.is_person_noun(word) or word in people.NOT_NAMES
    return not known and _may_be_subject_alone(word) and not word.endswith(NO_NAME_ENDS_SO)


def _may_be_subject_alone(word: str) -> bool:
    """Whether a word's class, as far as is known, lets it be a clause's subject without an article."""
    code = pronouns.shipped().classes.get(word, "0000")
    return code[0] in "01" and code[1] == code[3] == "0"
