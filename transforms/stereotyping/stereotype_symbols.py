"""What stands for a sentence's words in its frames (`stereotype_frames`): symbols, fewer than words by far.

A small word stands for itself, a run of groups is ONE or MANY, other words are their commonest part of speech (counts of UD
English EWT, see `indicator_tags.json`) and whether they praise or blame.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from evenflow.transforms.stereotyping import stereotype_terms as terms
from evenflow.transforms.stereotyping.indicator_tagging import TAGS_PATH
from evenflow.transforms.stereotyping.indicator_words import valence
from evenflow.transforms.stereotyping.stereotype_features import Piece
from evenflow.transforms.stereotyping.stereotype_terms import CUE_CLASSES, KIND_SHIFT, NAME_BIT, PRONOUN_BIT, Terms

START, END, ONE, MANY, PERSON, NAME, NUMBER, PROPER, SIGN = "^", "$", "<one>", "<many>", "<who>", "<name>", "<number>", "NNP", "."
MARKS = '?!",;:'
# Parts of speech whose words stand for themselves.
SMALL = frozenset(("DT", "IN", "CC", "MD", "PRP", "PRP$", "WDT", "WP", "WP$", "WRB", "TO", "EX", "RP", "PDT"))
# Forms of «be», «have» and «do», and what is left of them behind an apostrophe.
AUXILIARY = (
    *("is", "are", "am", "was", "were", "be", "been", "being", "s", "re", "m", "ve", "d", "ll", "t", "have", "has", "had", "do"),
    *("does", "did", "don", "doesn", "didn", "isn", "aren", "wasn", "weren", "won", "cannot", "couldn", "wouldn", "shouldn"),
)
MODAL = ("can", "could", "will", "would", "should", "must", "may", "might", "shall")
OF_MANY = ("are", "were", "have", "do", "don", "aren", "weren")  # behind a group: it is several people
KEPT_CLASSES = ("negation", "generic", "being", "modal", "question", "self")  # of cues: words that stand for themselves
TOLD_CLASSES = ("report", "belief", "counter", "news")  # of cues: one symbol a class
AMBIGUOUS = 3.0  # of ten: share from which a word's second part of speech is seen too
# A word that no treebank text had, by its last letters, the first that fit; else a noun.
ENDINGS = (
    *(("ly", "RB"), ("ing", "VBG"), ("ed", "VBD|VBN")),
    *((ending, "JJ") for ending in ("ous", "ful", "ive", "less", "ish", "able", "ible", "al", "ic", "y")),
)
OPEN = ("NN", "NNS", "RB", "VBG", "VBD|VBN", "JJ")

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Symbols:
    """What stands for words.

    words: the symbol's number + 1 of each known word. number: of each symbol by name. verb: (s,) which begin a predicate.
    sentiment: (s,) 1 praise, 2 blame. many: (s,) which follow several people. open: (s,) which a name may be taken for.
    sign: (256,) the symbol of a mark by its code.
    """

    words: Terms
    number: Mapping[str, int]
    verb: Bools
    sentiment: Ints
    many: Bools
    open: Bools
    sign: Ints


@cache
def shipped() -> Symbols:
    """Of the files beside this one."""
    known = _known()
    names = [START, END, ONE, MANY, PERSON, NAME, NUMBER, PROPER, SIGN, *MARKS, *OPEN]
    names += sorted(set(known.values()) - set(names))
    number = {name: place for place, name in enumerate(names)}
    words = sorted(known)
    table = terms.terms_of_hashes(terms.hashed(words), np.array([number[known[word]] + 1 for word in words], np.int32))
    verb = np.array([name.startswith(("VB", "MD")) or "|VB" in name or name in AUXILIARY or name in MODAL for name in names])
    sentiment = np.array([1 if name.endswith("+") else 2 if name.endswith("-") else 0 for name in names])
    sign = np.full(256, number[SIGN])
    sign[[ord(mark) for mark in MARKS]] = [number[mark] for mark in MARKS]
    many, opened = (np.isin(names, each) for each in (OF_MANY, OPEN))
    return Symbols(table, number, verb, sentiment, many, opened, sign)


def _known() -> dict[str, str]:
    """The symbol's name of every word that has one, beside groups, pronouns and first names."""
    tags = _tags()
    judged = valence()
    classes = terms.words()
    out: dict[str, str] = {}
    for word in {*tags, *judged, *classes}:
        bits = classes.get(word, 0)
        if word.isascii() and word.isalnum() and not bits >> KIND_SHIFT and not bits & (PRONOUN_BIT | NAME_BIT):
            out[word] = _symbol(word, tags.get(word) or (_guess(word), ""), bits, judged.get(word, 0))
    return out


def _tags() -> dict[str, tuple[str, str]]:
    """The commonest part of speech of each word of the treebank, and the second if it is common too, else «»."""
    out: dict[str, tuple[str, str]] = {}
    for code, words in json.loads(TAGS_PATH.read_text(encoding="utf-8"))["words"].items():
        shares = sorted(((float(share), tag) for tag, share in (part.rsplit("=", 1) for part in code.split(","))), reverse=True)
        second = shares[1][1] if len(shares) > 1 and shares[1][0] >= AMBIGUOUS else ""
        out |= dict.fromkeys(words.split(), (shares[0][1], second))
    return out


def _symbol(word: str, tags: tuple[str, str], bits: int, judged: int) -> str:
    has = [name for number, name in enumerate(CUE_CLASSES) if bits & 1 << number]
    if word in AUXILIARY or tags[0] in SMALL or any(name in KEPT_CLASSES for name in has):
        return word
    told = [name for name in has if name in TOLD_CLASSES]
    if told:
        return f"{told[-1]}:{tags[0][:2]}"
    apart = tags[1] and (tags[0][:2] != tags[1][:2] or set(tags) == {"VBD", "VBN"})
    return tags[0] + (f"|{tags[1]}" if apart else "") + ("", "+", "-")[judged]


def _guess(word: str) -> str:
    for ending, tag in ENDINGS:
        if word.endswith(ending):
            return tag
    return "NNS" if word.endswith("s") and not word.endswith("ss") else "NN"


def symbols(piece: Piece) -> tuple[Ints, Ints, Bools]:
    """The symbols' numbers (t,) of a piece's words, each run of groups as one; their sentences; which are groups."""
    known, words = shipped(), piece.words
    number = known.number
    symbol = known.words.classes(words.hashes).astype(np.int64) - 1
    codes, starts, ends, owner = piece.text.codes, words.starts, words.ends, words.owner
    if not len(owner):
        return symbol, owner, np.zeros(0, bool)
    strange = np.flatnonzero((symbol < 0) & words.is_word)
    symbol[strange] = _guessed(codes, starts[strange], ends[strange], number)
    capital = np.flatnonzero(words.is_word & piece.text.capital(starts))
    capital = capital[known.open[symbol[capital]]]
    within = (capital > 0) & (owner[capital - 1] == owner[capital]) & words.is_word[capital - 1]
    symbol[capital[within]] = number[PROPER]
    signs = np.flatnonzero(~words.is_word)
    symbol[signs] = known.sign[codes[starts[signs]]]
    symbol[piece.digit] = number[NUMBER]
    symbol[words.bits & NAME_BIT > 0] = number[NAME]
    symbol[words.bits & PRONOUN_BIT > 0] = number[PERSON]
    kept, named = piece.kept, piece.kind > 0
    symbol, owner = symbol[kept], owner[kept]
    group = np.flatnonzero(named)
    last = np.append(kept[1:], len(words.owner))[group] - 1  # word of each run
    after = np.minimum(group + 1, len(kept) - 1)
    several = _several(codes, starts[last], ends[last])
    several |= known.many[symbol[after]] & (owner[after] == owner[group]) & (after > group)
    symbol[group] = np.where(several, number[MANY], number[ONE])
    return symbol, owner, named


def _guessed(codes: terms.Codes, starts: Ints, ends: Ints, number: Mapping[str, int]) -> Ints:
    """Symbols of words that no list has, by their endings: as `_guess`."""
    out = np.full(len(starts), number["NN"])
    plural = _ends(codes, starts, ends, "s") & ~_ends(codes, starts, ends, "ss")
    out[plural] = number["NNS"]
    for ending, tag in reversed(ENDINGS):
        out[_ends(codes, starts, ends, ending)] = number[tag]
    return out


def _several(codes: terms.Codes, starts: Ints, ends: Ints) -> Bools:
    """Which of the words are plurals by their form."""
    many = _ends(codes, starts, ends, "s") & ~_ends(codes, starts, ends, "ss")
    for ending in ("men", "ren", "people", "folk"):
        many |= _ends(codes, starts, ends, ending)
    return many


def _ends(codes: terms.Codes, starts: Ints, ends: Ints, ending: str) -> Bools:
    """Which of the words end so."""
    out = ends - starts >= len(ending)
    for back, letter in enumerate(reversed(ending), 1):
        out &= codes[np.maximum(ends - back, 0)] == ord(letter)
    return out
