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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.transforms.stereotyping import stereotype_terms as terms
from evenflow.transforms.stereotyping.stereotype_columns import Columns
from evenflow.transforms.stereotyping.stereotype_features import Piece, last_of
from evenflow.transforms.stereotyping.stereotype_symbols import END, START, shipped, symbols

REGION = 1 << 15
FAMILIES = 8  # regions of weights: families of features that are seldom in one sentence share one
WIDTH = FAMILIES * REGION
BEHIND = 6  # words behind a group that may be said of it

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Frames:
    """Features of n sentences: columns (f,) into WIDTH weights in any order, owners (f,), the sentence of each, and sizes (n,),
    how many each sentence has."""

    columns: Ints
    owners: Ints
    sizes: Ints


def frames(pieces: Sequence[Piece]) -> Frames:
    """Of the sentences of the pieces that `stereotype_features.features` read, in order."""
    each = [columns(piece) for piece in pieces]
    listed = [one.listed() for one in each]
    begins = np.cumsum([0, *(one.count for one in each)]).tolist()
    none = np.zeros(0, np.int64)
    return Frames(
        np.concatenate([none, *(places for places, _ in listed)]),
        np.concatenate([none, *(owners + begin for (_, owners), begin in zip(listed, begins, strict=False))]),
        np.concatenate([none, *(one.sizes() for one in each)]),
    )


def columns(piece: Piece) -> Columns:
    """The frames of a piece's sentences, as columns into WIDTH weights."""
    symbol, owner, named = symbols(piece)
    return Columns(piece.count, owner, _families(symbol, owner, np.flatnonzero(named), piece.count) if len(symbol) else ())


def _families(symbol: Ints, owner: Ints, named: Ints, n: int) -> tuple[tuple[Ints | None, Ints], ...]:
    """The frames of n sentences' symbols (t,), of which there is at least one. named: where groups are."""
    number = shipped().number
    count = np.bincount(owner, minlength=n)
    stops = np.cumsum(count)
    place = np.arange(len(symbol)) - (stops - count)[owner]
    head = np.flatnonzero(place < 3)
    # Each symbol and those up to three before it, START before the first.
    back = [symbol.astype(np.uint64)]
    for step in (1, 2, 3):
        shifted = np.empty_like(back[0])
        shifted[step:] = back[0][:-step]
        shifted[head[place[head] < step]] = number[START]
        back.append(shifted)
    pair = _joined(back[1], back[0])
    triple = _joined(back[2], pair)
    quadruple = _joined(back[3], triple)
    second, third = np.flatnonzero(place == 2), np.flatnonzero(place == 3)
    tail = stops[count > 0] - 1
    group = last_of(named, owner)
    away = np.arange(len(symbol)) - group
    behind = np.flatnonzero((group >= 0) & (away > 0) & (away <= BEHIND))
    its, near = group[behind], back[0][behind]
    return (
        (None, _region(_joined(symbol, 0), 0)),
        (None, _region(pair, 1)),
        (None, _region(triple, 2)),
        (None, _region(_joined(back[2], back[0], 1), 3)),
        (None, _region(quadruple, 4)),
        (head, _region(_joined(place[head], symbol[head], 2), 5)),
        (second, _region(_joined(triple[second], 0, 3), 5)),
        (third, _region(_joined(quadruple[third], 0, 4), 5)),
        (tail, _region(_joined(pair[tail], 0, 5), 5)),
        (behind, _region(_joined(away[behind], near, back[0][its]), 6)),
        (behind, _region(_joined(near, back[0][its], 6), 6)),
        *_said(symbol, owner, back[1], place, behind, its, stops),
    )


def _said(
    symbol: Ints, owner: Ints, before: npt.NDArray[np.uint64], place: Ints, behind: Ints, its: Ints, stops: Ints
) -> list[tuple[Ints, Ints]]:
    """Of each group that a verb follows: determiner, number, verb, the word after it, and the sentiment of the rest."""
    known = shipped()
    verbs = np.flatnonzero(known.verb[symbol[behind]])
    verbs = verbs[np.diff(its[verbs], prepend=-1) != 0]  # the first behind each group
    verb, subject = behind[verbs], its[verbs]
    stop = stops[owner[verb]]
    after = np.where(verb + 1 < stop, symbol[np.minimum(verb + 1, len(symbol) - 1)], known.number[END])
    felt = known.sentiment[symbol]
    praised, blamed = (_any_between(np.flatnonzero(felt == sign), verb, stop) for sign in (1, 2))
    mood = praised + 2 * blamed
    frame = _joined(symbol[subject], symbol[verb])
    kind = _joined(before[subject], symbol[subject])
    whole = _joined(before[subject], frame)
    return [
        (verb, _region(each, 7))
        for each in (
            *(_joined(frame, 0, 1), _joined(whole, 0, 2), _joined(place[subject] <= 1, frame, 3), _joined(frame, after, 4)),
            *(_joined(whole, after, 5), _joined(frame, mood, 6), _joined(kind, mood, 7)),
        )
    ]


def _any_between(places: Ints, first: Ints, stop: Ints) -> Ints:
    """Whether (1 or 0) any of the places, which ascend, is in each first:stop."""
    bounds = np.append(places, np.iinfo(np.int64).max)
    return (bounds[np.searchsorted(places, first)] < stop).astype(np.int64)


def _joined(first: npt.NDArray[Any], second: npt.NDArray[Any] | int, third: npt.NDArray[Any] | int = 0) -> npt.NDArray[np.uint64]:
    """One number of three, spread over 63 bits."""
    out = first.astype(np.uint64)
    out *= np.uint64(terms.BASE)  # modulo 2**64
    out += np.asarray(second, np.uint64)
    out ^= out >> np.uint64(31)
    out *= np.uint64(terms.BASE)
    out += np.asarray(third, np.uint64)
    out ^= out >> np.uint64(32)
    out *= terms.MIXER
    out >>= np.uint64(1)
    return out


def _region(hashes: npt.NDArray[np.uint64], number: int) -> Ints:
    out = hashes >> np.uint64(20)
    out &= np.uint64(REGION - 1)
    out += np.uint64(number * REGION)
    return out.view(np.int64)
