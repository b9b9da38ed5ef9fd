"""The frames of a sentence: who is said to be or do what, in word classes instead of words.

Words alone cannot tell «Women are rude» from «The women were rude to us», and to learn every wording one by one takes more
sentences than anybody labels. So each word is replaced by a symbol: a small word by itself, a run of groups by ONE or MANY
(its number, never which group), other words by their commonest part of speech (counts of UD English EWT, see
`indicator_tags.json`) and whether they praise or blame. Runs of two to four symbols, those at the sentence's ends, those
behind a group, and the determiner, the number, the first verb and the sentiment around each group are the features: whether a
trait is said of a kind or of somebody, as a habit or once, of others' saying or one's own (Carlson and Pelletier 1995, «The
Generic Book», on what makes a sentence generic). All sentences of a block are read at once with numpy; features are hashed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from evenflow.transforms import stereotype_terms as terms
from evenflow.transforms.indicator_tagging import TAGS_PATH
from evenflow.transforms.indicator_words import valence
from evenflow.transforms.stereotype_features import Piece
from evenflow.transforms.stereotype_terms import CUE_CLASSES, KIND_SHIFT, NAME_BIT, PRONOUN_BIT, Terms

REGION = 1 << 15
FAMILIES = 8  # regions of weights: families of features that are seldom in one sentence share one
WIDTH = FAMILIES * REGION
BEHIND = 6  # words behind a group that may be said of it
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
    sentiment: (s,) 1 praise, 2 blame. many: (s,) which follow several people.
    """

    words: Terms
    number: Mapping[str, int]
    verb: Bools
    sentiment: Ints
    many: Bools


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
    return Symbols(table, number, verb, sentiment, np.isin(np.array(names), OF_MANY))


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


@dataclass(frozen=True)
class Frames:
    """Features of n sentences: columns (f,) into WIDTH weights in any order, owners (f,), the sentence of each, and sizes (n,),
    how many each sentence has."""

    columns: Ints
    owners: Ints
    sizes: Ints


def frames(pieces: Sequence[Piece]) -> Frames:
    """Of the sentences of the pieces that `stereotype_features.features` read, in order."""
    parts = [_columns(*symbols(piece), piece.count) for piece in pieces]
    if not parts:
        none = np.zeros(0, np.int64)
        return Frames(none, none, none)
    begins = np.cumsum([0, *(piece.count for piece in pieces)]).tolist()
    return Frames(
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.owners + begin for part, begin in zip(parts, begins, strict=False)]),
        np.concatenate([part.sizes for part in parts]),
    )


def symbols(piece: Piece) -> tuple[Ints, Ints, Bools]:
    """The symbols' numbers (t,) of a piece's words, each run of groups as one; their sentences; which are groups."""
    known, words = shipped(), piece.words
    number = known.number
    symbol = known.words.classes(words.hashes).astype(np.int64) - 1
    codes, starts, ends, owner = piece.codes, words.starts, words.ends, words.owner
    if not len(owner):
        return symbol, owner, np.zeros(0, bool)
    new = np.concatenate(([True], owner[1:] != owner[:-1]))
    first = codes[starts]
    strange = np.flatnonzero((symbol < 0) & words.is_word)
    symbol[strange] = _guessed(codes, starts[strange], ends[strange], number)
    begins = new | np.concatenate(([False], ~words.is_word[:-1]))
    opened = np.isin(symbol, [number[name] for name in OPEN])
    symbol[words.is_word & opened & ~begins & piece.capital(starts)] = number[PROPER]
    signs = np.flatnonzero(~words.is_word)
    symbol[signs] = number[SIGN]
    for mark in MARKS:
        symbol[signs[first[signs] == ord(mark)]] = number[mark]
    symbol[words.is_word & (first >= ord("0")) & (first <= ord("9"))] = number[NUMBER]
    symbol[words.bits & NAME_BIT > 0] = number[NAME]
    symbol[words.bits & PRONOUN_BIT > 0] = number[PERSON]
    named = words.kind > 0
    kept = np.flatnonzero(~(named & np.concatenate(([False], named[:-1])) & ~new))
    last = np.append(kept[1:] - 1, len(named) - 1)  # word of each run
    several = _several(codes, starts[last], ends[last])
    symbol, owner, named = symbol[kept], owner[kept], named[kept]
    several[:-1] |= known.many[symbol[1:]] & (owner[1:] == owner[:-1])
    symbol[named] = np.where(several[named], number[MANY], number[ONE])
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


def _columns(symbol: Ints, owner: Ints, named: Bools, n: int) -> Frames:
    if not len(symbol):
        return Frames(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(n, np.int64))
    number = shipped().number
    count = np.bincount(owner, minlength=n)
    place = np.arange(len(symbol)) - (np.cumsum(count) - count)[owner]
    # Each symbol and those up to three before it, START before the first.
    back = [symbol]
    for step in (1, 2, 3):
        back.append(np.where(place >= step, np.concatenate((np.zeros(step, np.int64), symbol))[: len(symbol)], number[START]))
    pair = _joined(back[1], symbol)
    triple = _joined(back[2], pair)
    quadruple = _joined(back[3], triple)
    head, tail = place < 3, place == count[owner] - 1
    at = np.arange(len(symbol))
    group = np.maximum.accumulate(np.where(named, at, -1))
    behind = np.flatnonzero((group >= 0) & (owner[group] == owner) & (at > group) & (at - group <= BEHIND))
    its = group[behind]
    rows = [
        (owner, _region(_joined(symbol, 0), 0)),
        (owner, _region(pair, 1)),
        (owner, _region(triple, 2)),
        (owner, _region(_joined(back[2], symbol, 1), 3)),
        (owner, _region(quadruple, 4)),
        (owner[head], _region(_joined(place[head], symbol[head], 2), 5)),
        (owner[place == 2], _region(_joined(triple[place == 2], 0, 3), 5)),
        (owner[place == 3], _region(_joined(quadruple[place == 3], 0, 4), 5)),
        (owner[tail], _region(_joined(pair[tail], 0, 5), 5)),
        (owner[behind], _region(_joined(behind - its, symbol[behind], symbol[its]), 6)),
        (owner[behind], _region(_joined(symbol[behind], symbol[its], 6), 6)),
        *_said(symbol, owner, back[1], place, behind, its, np.cumsum(count)),
    ]
    owners = np.concatenate([each for each, _ in rows])
    return Frames(np.concatenate([each for _, each in rows]), owners, np.bincount(owners, minlength=n))


def _said(symbol: Ints, owner: Ints, before: Ints, place: Ints, behind: Ints, its: Ints, stops: Ints) -> list[tuple[Ints, Ints]]:
    """Of each group that a verb follows: determiner, number, verb, the word after it, and the sentiment of the rest."""
    known = shipped()
    verbs = np.flatnonzero(known.verb[symbol[behind]])
    verbs = verbs[np.concatenate(([True], its[verbs][1:] != its[verbs][:-1]))] if len(verbs) else verbs
    verb, subject = behind[verbs], its[verbs]
    own = owner[verb]
    stop = stops[own]
    after = np.where(verb + 1 < stop, symbol[np.minimum(verb + 1, len(symbol) - 1)], known.number[END])
    felt = known.sentiment[symbol]
    praise, blame = (np.concatenate(([0], np.cumsum(felt == sign))) for sign in (1, 2))
    mood = (praise[stop] > praise[verb]) + 2 * (blame[stop] > blame[verb])
    frame = _joined(symbol[subject], symbol[verb])
    kind = _joined(before[subject], symbol[subject])
    whole = _joined(before[subject], frame)
    return [
        (own, _region(each, 7))
        for each in (
            *(_joined(frame, 0, 1), _joined(whole, 0, 2), _joined(place[subject] <= 1, frame, 3), _joined(frame, after, 4)),
            *(_joined(whole, after, 5), _joined(frame, mood, 6), _joined(kind, mood, 7)),
        )
    ]


def _joined(first: npt.NDArray[np.integer | np.bool_], second: object, third: object = 0) -> Ints:
    """One number of three, spread over 63 bits."""
    with np.errstate(over="ignore"):  # modulo 2**64 is what is meant
        out = first.astype(np.uint64) * np.uint64(terms.BASE) + np.asarray(second).astype(np.uint64)
        out = (out ^ (out >> np.uint64(31))) * np.uint64(terms.BASE) + np.asarray(third).astype(np.uint64)
        return ((out ^ (out >> np.uint64(32))) * terms.MIXER >> np.uint64(1)).view(np.int64)


def _region(hashes: Ints, number: int) -> Ints:
    return (hashes >> 20 & REGION - 1) + number * REGION
