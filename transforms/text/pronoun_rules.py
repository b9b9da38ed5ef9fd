"""Rules that decide the case of “her” and “his” where the words around leave no doubt.

The learnt model (`pronoun_model`) decides where no rule applies.
"""

from __future__ import annotations

import re

from evenflow.transforms.text import english, nouns
from evenflow.transforms.text.english import CLOSED
from evenflow.transforms.text.pronoun_model import END, REACH, STOP
from evenflow.transforms.text.wordclasses import (
    AFTER_DETERMINER,
    AFTER_SUBJECT,
    code_of,
    is_known,
    may_be_plain_verb,
)
from evenflow.transforms.text.words import TOKEN

BEFORE_START = ' \n\t"“‘('
# Before these “her” is a possessive (“call her brother”) after any verb.
KIN = english.words("kin")
# So it is before people and animals that somebody has (“brought her dog”), but not after “made her”
# or “called her”.
OWNED_BEINGS = english.words("owned_beings")
NAMING = english.words("naming_verbs")
# So it is before a part of the body or what it wears (“pressed her thumb into the wax”).
BODILY = english.words("bodily")
# After these verbs “her” is the object if a word of the paired class follows: “made her cry”,
# “crowned her queen”, “bought her flowers”, “wished her luck”.
RULES = tuple(
    (english.words(f"{name}_verbs"), english.words(f"{name}_words"))
    for name in ("causing", "naming", "giving", "bringing", "moving")
)
PREPOSITIONS = english.words("prepositions")
PASTS = english.words("irregular_pasts")
OBJECTS = english.words("objects")
WITH_OBJECT = frozenset(
    {*english.words("seeing_verbs"), *(verb for verbs, _ in RULES for verb in verbs)}
)
SAID_OF_OBJECT = english.words("said_of_object")
# Endings of words that are probably no single thing
NO_THING = ("s", "ly", "ing", "ed", "wards", "able", "ible", "ous", "less", "ful", "ish", "y")
WISHES = english.words("wishing_verbs")
ENDS_CLAUSE = english.words("clause_ends")
GIVING = english.words("giving_verbs")
SEEING = english.words("seeing_verbs")
WATCHING = english.words("watching_verbs")
HANDING = (GIVING | {"bring", "bringing", "brings", "brought"}) - {"get", "gets", "getting", "got"}
AFTER_OBJECT = english.words("adverbs_after_object")
TAKING = HANDING | english.words("taking_verbs")
AFTER_LONE_NOUN = frozenset(("preposition", "conjunction"))  # classes that follow a noun alone
EACH = english.words("each_words")
NUMBER = re.compile(r"\d|(?:twen|thir|for|fif|six|seven|eigh|nine)ty$")
# Words that begin the object of what she does in “saw her paint the wall”, but not in “saw her show
# the other night” (`TIMES`)
OBJECT_STARTS = english.words("object_starts")
TIMES = EACH | english.words("times")
SPANS = english.words("spans")  # words that follow “all” or “both” behind an object
# Classes that follow the verb in “saw her running down the street”
AFTER_PARTICIPLE = frozenset(("preposition", "determiner", "adverb"))
# Verbs with two objects or with an object complement (“lend her money”, “want her dead”), beside
# WITH_OBJECT.
TWO_OBJECTS = english.words("two_object_verbs")
# “his or her voice”, “His, and only his, voice”: a possessive beside another one, before their noun
POSSESSIVE = r"(?:his|her|their|its|my|your|our|\w+['’]s)"
BESIDE = r"(?:and|or|nor|not|but|if)\s(?:\w+\s){0,2}"
SECOND = re.compile(rf"\s?([,(–—-]?)\s?{BESIDE}{POSSESSIVE}\s?([,)–—-]?)\s?(\w+)", re.IGNORECASE)
FIRST = re.compile(rf"\b{POSSESSIVE}\s?[,(–—-]\s?{BESIDE}\Z", re.IGNORECASE)
CLOSING = re.compile(r"\s?[,)–—-]\s?(\w+)")


def _shares_noun(text: str, start: int, end: int) -> bool:
    """Whether the pronoun and another possessive have the same noun."""
    after = text[end : end + REACH]
    noun = ""
    if second := SECOND.match(after):
        marked = bool(second[1])
        if marked == bool(second[2]) and (marked or " or " in second[0] or " nor " in second[0]):
            noun = second[3]
    elif FIRST.search(text[max(0, start - REACH) : start]) and (closing := CLOSING.match(after)):
        noun = closing[1]
    return noun.isalpha() and noun.lower() not in CLOSED.keys() | english.words("adverbs")


def _word_before(text: str, start: int) -> str:
    """The token before text[start:] in lower case, empty where there is none."""
    before = TOKEN.findall(text[max(0, start - REACH) : start])
    return before[-1].lower() if before else ""


def _words_after(text: str, end: int, count: int) -> list[str]:
    """The first tokens of text[end:] in lower case, END in the place of missing ones."""
    after = [token.lower() for token in TOKEN.findall(text[end : end + REACH])[:count]]
    return after + [END] * (count - len(after))


def rule_for_her(text: str, start: int, end: int) -> str | None:
    """Decide by rules what a “her” corresponds to."""
    if _shares_noun(text, start, end):
        return "his"
    following, second, third = _words_after(text, end, 3)
    if following in KIN or following in BODILY:
        return "his"
    if following in ("being", "having") and not text[max(0, start - 2) : start].strip(BEFORE_START):
        return "his"  # “Her being late annoyed us”
    verb = _word_before(text, start)
    if (
        following in OWNED_BEINGS
        and verb not in NAMING
        and not (verb in SEEING and CLOSED.get(second) == "determiner")
    ):
        return "his"
    if verb in WISHES and following.isalpha():
        return "him"
    if following in AFTER_OBJECT:
        return "him"
    if following in ("all", "both") and second in SPANS:
        return "him"  # “had not looked at her all evening”
    if following == "every" and second in EACH:
        return "his"
    if verb in GIVING and (CLOSED.get(following) == "number" or NUMBER.match(following)):
        return "him"  # “owe her twenty dollars”
    participle = following.endswith("ing") and code_of(following)[AFTER_DETERMINER] < "3"
    if verb in SEEING and participle and CLOSED.get(second, "") in AFTER_PARTICIPLE:
        return "him"
    if (
        verb in WATCHING
        and second in OBJECT_STARTS
        and third not in TIMES
        and may_be_plain_verb(following)
    ):
        return "him"  # “watched her tape every one of them”
    # “put her cello on it”: one thing without an article is no second object. A frequent word may
    # be an adjective or an adverb.
    rare = not is_known(following) and following.isalpha() and not following.endswith(NO_THING)
    small = text[end : end + 2].strip().islower()
    whole = not second[0].isalpha() or CLOSED.get(second) in AFTER_LONE_NOUN
    if (
        rare
        and small
        and whole
        and verb.isalpha()
        and not (verb in CLOSED or verb in WITH_OBJECT or following in SAID_OF_OBJECT)
    ):
        return "his"
    ends = second in ENDS_CLAUSE or not second[0].isalpha()
    return (
        "him"
        if ends and any(verb in verbs and following in words for verbs, words in RULES)
        else None
    )


def precedes_lone_noun(text: str, start: int, end: int, is_doubted: bool) -> bool:
    """Whether a noun alone follows, after a verb with one object: “She sold her vineyard.”."""
    verb = _word_before(text, start)
    if (
        not verb.isalpha()
        or verb in CLOSED
        or verb in TWO_OBJECTS
        or (verb in WITH_OBJECT and verb not in TAKING)
    ):
        return False
    following, second = _words_after(text, end, 2)
    if (
        following in CLOSED
        or following in AFTER_OBJECT
        or (second[0].isalpha() and CLOSED.get(second) not in AFTER_LONE_NOUN)
    ):
        return False
    code = code_of(following)
    # A noun that needs an article is no second object: “brought her bag”, but not “brought her
    # water”.
    if verb in HANDING:
        known = following in nouns.shipped() or (
            is_doubted and code[AFTER_DETERMINER] == "4" and code[AFTER_SUBJECT] in "01"
        )
        return known and nouns.needs_article(following)
    if following in nouns.shipped():
        return True
    return (
        is_doubted
        and verb not in WITH_OBJECT
        and code[AFTER_DETERMINER] in "234"
        and code[AFTER_SUBJECT] in "01"
        and not following.endswith(NO_THING)
    )


def rule_for_his(text: str, start: int, end: int) -> str | None:
    """Decide by rules what a “his” corresponds to."""
    if _shares_noun(text, start, end):
        return "her"
    following, second = _words_after(text, end, 2)
    preceding = _word_before(text, start)
    closed = not following.isalpha() or following in CLOSED
    if preceding == "of" and (following in PASTS or following.endswith("ed")):
        # “A friend of his lent him the tent”
        return (
            "hers"
            if second in OBJECTS or CLOSED.get(second) in ("determiner", "preposition")
            else None
        )
    if preceding in PREPOSITIONS and preceding not in ("of", "than", "like", "as") and not closed:
        return "her" if second in STOP or second == END else None  # “inside his jacket.”
    return None
