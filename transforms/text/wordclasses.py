"""The likely part of speech of a word, from its class code and its ending.

A class code has four digits, which count a word's neighbours in raw text: how often the word
follows a determiner, precedes an object pronoun, follows “to” or a subject pronoun, and precedes a
determiner. The thresholds of the digits stand in `tests/benchmarks/cda_train_pronouns.py`. Words
that are too rare in raw text have no code.
"""

from __future__ import annotations

import re

from evenflow.transforms.text import english, pronoun_model

# Places of the digits in a class code
AFTER_DETERMINER, BEFORE_OBJECT, AFTER_SUBJECT, BEFORE_DETERMINER = range(4)
UNSEEN = "0000"  # the code of a word that has none
PAST = re.compile(r"\w[^\We]ed$")  # “called”, but not “seed”
# Words that do not follow an adjective as its noun. Many are so rare that their code would pass for
# a noun's (“the Buddhist across the hall”).
NO_NOUN = (
    frozenset(english.CLOSED)
    | english.words("verbs_after")
    | english.words("adverbs")
    | english.words("prepositions")
    | english.words("irregular_pasts")
)


def code_of(word: str) -> str:
    """The class code of a word in lower case, `UNSEEN` where it has none."""
    return pronoun_model.shipped().classes.get(word, UNSEEN)


def is_known(word: str) -> bool:
    """Whether a word in lower case has a class code, so that it is a frequent English word."""
    return word in pronoun_model.shipped().classes


def is_verb(word: str) -> bool:
    """Whether a word in lower case is a verb's plain form at least as often as a noun."""
    code = code_of(word)
    return code[AFTER_SUBJECT] == "2" and code[AFTER_DETERMINER] < "3"


def is_third_person(word: str) -> bool:
    """Whether a word in lower case may be a verb of the third person (“stops”, but not “arts”)."""
    if not word.endswith("s") or word.endswith("ss"):
        return False
    code = code_of(word)
    return code[BEFORE_OBJECT] != "0" or code[BEFORE_DETERMINER] != "0" or is_verb(word[:-1])


def is_noun(word: str) -> bool:
    """Whether a word in lower case can be the noun of an adjective before it.

    Returns:
        False for words of a closed class and for verbs that are seldom nouns.
    """
    if word in NO_NOUN:
        return False
    if not is_known(word):
        return not word.endswith(("ed", "ly"))
    code = code_of(word)
    if word.endswith("ly") or PAST.search(word):
        return code[AFTER_DETERMINER] >= "3"
    return code[AFTER_DETERMINER] != "0" or (
        code[AFTER_SUBJECT] == "0" and not word.endswith(("ed", "ly", "ing"))
    )


def may_be_plain_verb(word: str) -> bool:
    """Whether a word in lower case without an ending may be a verb (“tape”)."""
    code = code_of(word)
    return (
        word.isalpha()
        and not word.endswith(("s", "ed", "ing", "ly"))
        and (
            code[BEFORE_OBJECT] != "0"
            or code[AFTER_SUBJECT] != "0"
            or code[BEFORE_DETERMINER] != "0"
        )
    )
