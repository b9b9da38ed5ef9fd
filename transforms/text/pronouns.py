"""Third-person pronouns in context: her → his or him, his → her or hers.

One English form serves two cases on either side, so the other side's form is decided by the words
around it. A logistic regression does so; it is trained on raw text by
`tests/benchmarks/cda_train_pronouns.py`: where a text says “his” or “him”, that is what a “her”
there would have been, and “my” or “mine” say whether a “his” is “her” or “hers”. No treebank is
needed.
"""

from __future__ import annotations

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from evenflow.transforms.text import english, nouns

BEFORE_START = ' \n\t"“‘('
MODEL_PATH = Path(__file__).with_name("pronoun_model.json")
# Characters looked at on either side: four words, with room for long ones. Beyond, nothing decides
# a pronoun's case.
REACH = 64
TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|\n\s*\n|[^\w\s]|_+")
STOP = ".!?"
END = "</s>"  # beyond the sentence

# Words that no noun phrase goes on with: what stands before them is a whole one, so “him”, not
# “his”.
CLOSED: dict[str, str] = {
    word: kind
    for kind, words in {
        "subject": "i he she we they you it there who what that this these those",
        "determiner": "a an the my your our their its some any no every each",
        "preposition": (
            "at by for from in into of off on onto out over through to toward towards under up upon"
            " with without about after before around away back down like as than during"
        ),
        "conjunction": "and or but because if when while where since until so though although",
        "auxiliary": (
            "am is are was were be been do does did has had will would can could should might must"
        ),
        "adverb": (
            "again too here not never now then always ever right well prior much more most just"
            " only even either better"
        ),
        "reflexive": "myself yourself himself herself itself ourselves yourselves themselves",
        "number": "two three four five six seven eight nine ten hundred thousand million several",
    }.items()
    for word in words.split()
}

# “her” before these is somebody's (“call her brother”), whatever the verb.
KIN = english.words("kin")
# So it is before people and animals whom one has (“brought her dog”), but not behind “made her” or
# “called her”.
OWNED_BEINGS = english.words("owned_beings")
NAMING = english.words("naming_verbs")
# So it is before a part of the body and what it wears (“pressed her thumb into the wax”).
BODILY = english.words("bodily")
# After these verbs “her” is whom it is done to, if one of the words of its class comes next: “made
# her cry”, “crowned her queen”, “bought her flowers”, “wished her luck”.
RULES = tuple(
    (english.words(f"{name}_verbs"), english.words(f"{name}_words"))
    for name in ("causing", "naming", "giving", "bringing", "moving")
)
PREPOSITIONS = english.words("prepositions")
PASTS = english.words("irregular_pasts")
OBJECTS = frozenset(("me", "you", "him", "her", "us", "them", "it"))
WITH_OBJECT = frozenset(
    {*english.words("seeing_verbs"), *(verb for verbs, _ in RULES for verb in verbs)}
)
SAID_OF_OBJECT = english.words("said_of_object")
NO_THING = ("s", "ly", "ing", "ed", "wards", "able", "ible", "ous", "less", "ful", "ish", "y")
WISHES = frozenset(("wish", "wished", "wishes", "wishing"))
ENDS_CLAUSE = frozenset(
    ("of", "for", "and", "but", "when", "because", "so", "again", "instead", "at", "in", ",")
)
GIVING = english.words("giving_verbs")
SEEING = english.words("seeing_verbs")
WATCHING = frozenset(
    (
        "hear",
        "heard",
        "hearing",
        "saw",
        "see",
        "seen",
        "seeing",
        "watch",
        "watched",
        "watches",
        "watching",
    )
)
HANDING = (GIVING | {"bring", "bringing", "brings", "brought"}) - {"get", "gets", "getting", "got"}
AFTER_OBJECT = english.words("adverbs_after_object")
TAKING = HANDING | english.words("taking_verbs")
GOING_ON = frozenset(("preposition", "conjunction"))  # what comes behind a noun that is alone
EACH = english.words("each_words")
NUMBER = re.compile(r"\d|(?:twen|thir|for|fif|six|seven|eigh|nine)ty$")
# “saw her paint the wall”: what begins the object of what she does, but not “saw her show the other
# night”
OF_A_DEED = frozenset(
    (
        "a",
        "an",
        "the",
        "my",
        "our",
        "their",
        "his",
        "this",
        "that",
        "these",
        "those",
        "every",
        "each",
        "both",
        "it",
        "them",
    )
)
TIMES = english.words("each_words") | frozenset(
    ("other", "first", "next", "last", "whole", "same", "minute", "moment", "instant")
)
SPANS = english.words("spans")  # what goes on with “all” or “both” behind an object
BEFORE_VERBAL = frozenset(
    ("preposition", "determiner", "adverb")
)  # what comes after the verb in “saw her running down the street”
# Verbs with two objects, or with something said of the object (“lend her money”, “want her dead”),
# beside WITH_OBJECT.
TWO_OBJECTS = english.words("two_object_verbs")
RULED = 0.97  # confidence in what a rule says
# Below which a “him” before a noun alone is doubted, and the confidence in the “his” instead
DOUBTED, TURNED = 0.8, 0.7
# One form for each form, where no context is needed.
PLAIN = {
    "she": "he",
    "he": "she",
    "him": "her",
    "hers": "his",
    "herself": "himself",
    "himself": "herself",
    "shes": "hes",  # as comments write “she's”
    "hes": "shes",
}
PRONOUNS = frozenset({*PLAIN, "her", "his"})
FEMALE = frozenset({"she", "her", "hers", "herself", "shes"})


class PronounModel(NamedTuple):
    """Weights by feature name, for “her” and “his”; and the class of each word that raw text says
    enough about.

    A class has four digits: how often the word follows a determiner, is followed by an object
    pronoun, follows “to” or a subject pronoun, and is followed by a determiner.
    """

    weights: dict[str, dict[str, float]]
    classes: dict[str, str]


@cache
def shipped() -> PronounModel:
    """The model beside this file."""
    stored = json.loads(MODEL_PATH.read_text(encoding="utf-8"))
    return PronounModel(
        stored["models"],
        {word: code for code, words in stored["classes"].items() for word in words.split()},
    )


def context(text: str, start: int, end: int, classes: dict[str, str]) -> list[str]:
    """Names of the features that describe the place text[start:end]: the words around it, never the
    word itself.
    """
    before = TOKEN.findall(text[max(0, start - REACH) : start])[-3:]
    after = TOKEN.findall(text[end : end + REACH])[:4]
    if end + REACH < len(text) and len(after) < 4 and after and not after[-1].isalnum():
        after.append("")
    left = _cut(before[::-1])
    right = _cut(after)
    p1, p2 = left[0].lower(), left[1].lower()
    n1, n2, n3 = right[0].lower(), right[1].lower(), right[2].lower()
    kind = _kind(right[0])
    c1, c2, q1 = classes.get(n1, "????"), classes.get(n2, "????"), classes.get(p1, "????")
    a, b, q = c1[0] + c1[2], c2[0] + c2[2], q1[1] + q1[3]
    return [
        f"A={a}",
        f"B={b}",
        f"P={q}",
        f"AB={a}{b}",
        f"PA={q}{a}",
        f"PAB={q}{a}{b[0]}",
        f"An2={a} {n2}",
        f"ABn3={a}{b} {n3}",
        f"p1A={p1} {a}",
        f"Pn1={q} {n1}",
        "bias",
        f"n1={n1}",
        f"n2={n2}",
        f"n3={n3}",
        f"p1={p1}",
        f"p2={p2}",
        f"n1n2={n1} {n2}",
        f"p1n1={p1} {n1}",
        f"p2p1={p2} {p1}",
        f"s3={n1[-3:]}",
        f"s2={n1[-2:]}",
        f"t3={n2[-3:]}",
        f"s3t3={n1[-3:]} {n2[-3:]}",
        f"s2n2={n1[-2:]} {n2}",
        f"c={CLOSED.get(n1, '')}",
        f"p1c={p1} {CLOSED.get(n1, '')}",
        f"cc={CLOSED.get(n1, '')} {CLOSED.get(n2, '')}",
        f"cn2={CLOSED.get(n1, kind)} {n2}",
        f"k={kind}",
        f"kk={kind} {_kind(right[1])}",
        f"p1s3={p1} {n1[-3:]}",
        f"p1k={p1} {kind}",
    ]


def _cut(tokens: list[str]) -> list[str]:
    """Three tokens outward from the place, END from the sentence's end on."""
    out: list[str] = []
    for token in tokens[:3]:
        if token in STOP or "\n" in token:
            break
        out.append(token)
    if len(out) < 3 and len(tokens) > len(out):
        out.append(tokens[len(out)][0])
    return [*out, END, END, END][:3]


def _kind(token: str) -> str:
    if token == END:
        return "end"
    if token[0].isalpha():
        return "X" if token.isupper() and len(token) > 1 else "Xx" if token[0].isupper() else "x"
    return "9" if token[0].isdigit() else token[0]


def probability(model: str, text: str, start: int, end: int) -> float:
    """Probability that the place takes the model's second form.

    model: “her” (his, him) or “his” (her, hers).
    """
    weights, classes = shipped()
    own = weights[model]
    total = sum([own.get(name, 0.0) for name in context(text, start, end, classes)])
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def _ruled(text: str, start: int, end: int) -> str | None:
    """What a rule says that a “her” would be, “his” or “him”; None where there is none."""
    after = [token.lower() for token in TOKEN.findall(text[end : end + REACH])[:3]] + [
        END,
        END,
        END,
    ]
    following, second, third = after[:3]
    if following in KIN or following in BODILY:
        return "his"
    if following in ("being", "having") and not text[max(0, start - 2) : start].strip(BEFORE_START):
        return "his"  # “Her being late annoyed us”
    before = TOKEN.findall(text[max(0, start - REACH) : start])
    verb = before[-1].lower() if before else ""
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
    verbal = following.endswith("ing") and shipped().classes.get(following, "0")[0] < "3"
    if verb in SEEING and verbal and CLOSED.get(second, "") in BEFORE_VERBAL:
        return "him"
    if verb in WATCHING and second in OF_A_DEED and third not in TIMES and _is_deed(following):
        return "him"  # “watched her tape every one of them”
    # “put her cello on it”: one thing without an article is no second object; a common word may be
    # an adjective or an adverb
    rare = (
        following not in shipped().classes
        and following.isalpha()
        and not following.endswith(NO_THING)
    )
    small = text[end : end + 2].strip().islower()
    whole = not second[0].isalpha() or CLOSED.get(second) in ("preposition", "conjunction")
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


def _is_before_thing(text: str, start: int, end: int, doubted: bool) -> bool:
    """Whether a noun alone follows, behind a verb that has one object: “She sold her vineyard.”.

    doubted: whether the model is unsure, so that a word may do which is most likely a noun.
    """
    before = TOKEN.findall(text[max(0, start - REACH) : start])
    verb = before[-1].lower() if before else ""
    if (
        not verb.isalpha()
        or verb in CLOSED
        or verb in TWO_OBJECTS
        or (verb in WITH_OBJECT and verb not in TAKING)
    ):
        return False
    following, second = [
        *(token.lower() for token in TOKEN.findall(text[end : end + REACH])[:2]),
        END,
        END,
    ][:2]
    if (
        following in CLOSED
        or following in AFTER_OBJECT
        or (second[0].isalpha() and CLOSED.get(second) not in GOING_ON)
    ):
        return False
    code = shipped().classes.get(following, "0000")
    # What nobody says without an article is no second object: “brought her bag”, but not “brought
    # her water”
    if verb in HANDING:
        known = following in nouns.shipped() or (doubted and code[0] == "4" and code[2] in "01")
        return known and nouns.needs_article(following)
    if following in nouns.shipped():
        return True
    return (
        doubted
        and verb not in WITH_OBJECT
        and code[0] in "234"
        and code[2] in "01"
        and not following.endswith(NO_THING)
    )


def _is_deed(word: str) -> bool:
    """Whether a word without an ending may be what somebody is seen to do: a verb, or one that is a
    noun as often (“tape”).
    """
    code = shipped().classes.get(word, "0000")
    return (
        word.isalpha()
        and not word.endswith(("s", "ed", "ing", "ly"))
        and (code[1] != "0" or code[2] != "0" or code[3] != "0")
    )


def _ruled_his(text: str, start: int, end: int) -> str | None:
    """What a rule says that a “his” would be, “her” or “hers”; None where there is none."""
    after = [token.lower() for token in TOKEN.findall(text[end : end + REACH])[:2]] + [END, END]
    following, second = after[0], after[1]
    before = [token.lower() for token in TOKEN.findall(text[max(0, start - REACH) : start])[-3:]]
    preceding = before[-1] if before else ""
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


def counterpart(text: str, start: int, end: int, word: str | None = None) -> tuple[str, float]:
    """The other side's form of the pronoun text[start:end] in lower case, and the confidence in it
    (0.5 to 1).

    word: the pronoun, where the text may spell it otherwise (“ſhe”). Raises KeyError for a word
    that is none of PRONOUNS.
    """
    word = word or text[start:end].lower()
    if word == "her":
        ruled = _ruled(text, start, end)
        if ruled is not None:
            return ruled, RULED
        forms = ("his", "him")
    elif word == "his":
        ruled = _ruled_his(text, start, end)
        if ruled is not None:
            return ruled, RULED
        forms = ("her", "hers")
    else:
        return PLAIN[word], 1.0
    second = probability(word, text, start, end)
    if word == "her" and second >= 0.5 and _is_before_thing(text, start, end, second < DOUBTED):
        return forms[0], TURNED
    return (forms[1], second) if second >= 0.5 else (forms[0], 1 - second)
