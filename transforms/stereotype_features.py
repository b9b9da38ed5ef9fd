"""What the stereotype detector sees of a sentence: its words with every group masked, as indices into a table of weights.

All sentences of a batch are read at once with numpy. A word is a run of letters and digits; an apostrophe and a hyphen part
words, other punctuation marks are words. A run of words that name groups (a listed label or a term of
`stereotype_terms.yaml`) becomes GROUP, of which only the kind is seen; a personal pronoun of the third person becomes
PRONOUN, a first name NAME. So two sentences that differ in which group of an attribute they name have the same features.
Features are hashed (Weinberger et al., 2009, «Feature Hashing for Large Scale Multitask Learning»).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenflow.transforms import stereotype_terms as terms
from evenflow.transforms.stereotype_terms import CUE_CLASSES, CUES, KIND_SHIFT, KINDS, NAME_BIT, PRONOUN_BIT, Terms

# Weights: a region each for words, for words behind a group, and for all else, so that a word is seldom taken for another.
REGION = 1 << 17
BUCKETS = 3 * REGION
GROUP, PRONOUN, NAME, NUMBER, FIRST, LAST = (np.uint64(n * 0x9E3779B97F4A7C15 % 2**64) for n in (3, 5, 7, 11, 13, 17))
KIND_WORDS = np.array([n * 0x9E3779B97F4A7C15 % 2**64 for n in range(19, 19 + len(KINDS) + 1)], np.uint64)
VERSION = 1  # of what is seen; a model of another version does not fit
AFTER = 5  # words behind a group that count as said of it
HEAD, TAIL = 5, 3  # letters at a word's beginning and end that stand for its kin
SIGNS = ("?", '"', "!")
# Columns of `dense`: each class before the first group, at or behind it, and in the whole; signs; digits; groups,
# pronouns and names (is there one), and whether there are several groups.
DENSE = 3 * len(CUE_CLASSES) + len(SIGNS) + 5

Ints = npt.NDArray[np.int64]
Longs = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]
Spans = Sequence[tuple[int, int, str]]


@dataclass(frozen=True)
class Features:
    """Features of n sentences.

    columns: (f,) indices into BUCKETS weights. sizes: (n,) how many of them each sentence has, in order. dense: (n, DENSE),
    0 or 1. words: (n,) words in letters or digits. known: (n,) how many of them are known. pieces: what was read, in order,
    for whoever looks closer (`stereotype_frames`).
    """

    columns: Ints
    sizes: Ints
    dense: Floats
    words: Ints
    known: Ints
    pieces: tuple[Piece, ...] = ()


def features(sentences: Sequence[str], labels: Sequence[Spans], common: Terms) -> Features:
    """Features of n sentences.

    labels: of each, the spans (start, end, attribute) of listed labels. common: words that count as known, beside terms for
    groups and names. Raises ValueError if the numbers of sentences and labels differ.
    """
    if len(sentences) != len(labels):
        raise ValueError(f"{len(sentences)} sentences but labels of {len(labels)}")
    parts = [_piece(sentences[first:last], labels[first:last], common) for first, last in _pieces(sentences)]
    if not parts:
        none = np.zeros(0, np.int64)
        return Features(none, none, np.zeros((0, DENSE), np.float32), none, none)
    return Features(
        np.concatenate([part.columns for part in parts]),
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.dense for part in parts]),
        np.concatenate([part.words for part in parts]),
        np.concatenate([part.known for part in parts]),
        tuple(piece for part in parts for piece in part.pieces),
    )


def _pieces(sentences: Sequence[str]) -> list[tuple[int, int]]:
    """Ranges of sentences that are read together."""
    out: list[tuple[int, int]] = []
    first, size = 0, 0
    for i, sentence in enumerate(sentences):
        if size and size + len(sentence) > terms.CHUNK:
            out.append((first, i))
            first, size = i, 0
        size += len(sentence) + 1
    if len(sentences) > first:
        out.append((first, len(sentences)))
    return out


@dataclass
class _Words:
    """Words of n sentences: hashes, the sentence of each, the bits of its classes, its kind (0: names no group), bounds."""

    hashes: Longs
    owner: Ints
    bits: npt.NDArray[np.int32]
    kind: Ints
    starts: Ints
    ends: Ints
    plain: Bools  # in letters, and none of those that are masked
    is_word: Bools  # no sign

    def only(self, chosen: Bools | Ints) -> _Words:
        return _Words(*(each[chosen] for each in vars(self).values()))


@dataclass(frozen=True)
class Piece:
    """Sentences that were read together: how many, their text and its codes, and its words (runs of groups not yet as one)."""

    count: int
    text: str
    codes: terms.Codes
    words: _Words

    def capital(self, places: Ints) -> Bools:
        """Which characters of the text are capitals (of ASCII)."""
        width = ("ascii", np.uint8) if self.text.isascii() else ("utf-32-le", np.uint32)
        points = np.frombuffer(self.text.encode(width[0], "surrogatepass"), width[1])[places]
        return (points >= ord("A")) & (points <= ord("Z"))


def _piece(sentences: Sequence[str], labels: Sequence[Spans], common: Terms) -> Features:
    n = len(sentences)
    text = "\n".join(sentences)
    codes = terms.encode(text)
    hasher = terms.Hasher(codes)
    lengths = np.fromiter(map(len, sentences), np.int64, n) + 1
    begins = np.cumsum(lengths) - lengths
    starts, ends, is_word = terms.tokens(codes)
    hashes = hasher(starts, ends)
    bits = terms.shipped().classes(hashes)
    kind = np.maximum((bits >> KIND_SHIFT).astype(np.int64), _labelled(labels, begins, starts, ends))
    pronoun, name = bits & PRONOUN_BIT > 0, bits & NAME_BIT > 0
    kind[pronoun] = 0  # a listed pronoun too stays one: «she» says less of a group than «women» does
    owner = np.searchsorted(begins, starts, "right") - 1
    known = (bits > 0) | (kind > 0) | (common.classes(hashes) > 0)
    in_words = np.bincount(owner[is_word], minlength=n)
    in_known = np.bincount(owner[is_word & known], minlength=n)
    digit = is_word & (codes[starts] >= ord("0")) & (codes[starts] <= ord("9"))
    signs = np.zeros((n, len(SIGNS) + 1), np.float32)
    for number, sign in enumerate(SIGNS):
        signs[owner[codes[starts] == ord(sign)], number] = 1
    signs[owner[digit], len(SIGNS)] = 1
    name &= kind == 0
    masked = (kind > 0) | pronoun | name | digit
    hashes[digit], hashes[pronoun], hashes[name], hashes[kind > 0] = NUMBER, PRONOUN, NAME, GROUP
    bits[kind > 0] &= ~CUES
    every = _Words(hashes, owner, bits, kind, starts, ends, is_word & ~masked, is_word)
    said = _merged(every)
    columns, sizes = _columns(said, hasher, n)
    dense = np.hstack((_cues(said, n), signs, _presence(said, n)))
    return Features(columns, sizes, dense, in_words, in_known, (Piece(n, text, codes, every),))


def _labelled(labels: Sequence[Spans], begins: Ints, starts: Ints, ends: Ints) -> Ints:
    """The kind of each word that lies in a label, else 0."""
    spans = [(i, start, end, terms.kind_of(attribute)) for i, each in enumerate(labels) for start, end, attribute in each]
    out = np.zeros(len(starts), np.int64)
    if spans:
        place, first, last, kind = np.array(spans, np.int64).T
        low = np.searchsorted(ends, begins[place] + first, "right")
        high = np.searchsorted(starts, begins[place] + last, "left")
        size = np.maximum(high - low, 0)
        # The words low..high of each span, as one array.
        inside = np.repeat(low - np.concatenate(([0], np.cumsum(size)[:-1])), size) + np.arange(size.sum())
        np.maximum.at(out, inside, np.repeat(kind, size))
    return out


def _merged(words: _Words) -> _Words:
    """The words with each run of groups as one, of its highest kind."""
    named = words.kind > 0
    again = np.zeros(len(named), bool)
    again[1:] = named[1:] & named[:-1] & (words.owner[1:] == words.owner[:-1])
    kept = np.flatnonzero(~again)
    out = words.only(kept)
    if len(kept):
        out.kind = np.maximum.reduceat(words.kind, kept)
    return out


def _columns(words: _Words, hasher: terms.Hasher, n: int) -> tuple[Ints, Ints]:
    """Indices into the weights, by sentence, and how many each sentence has."""
    if not len(words.hashes):
        return np.zeros(0, np.int64), np.zeros(n, np.int64)
    owner, said, named = words.owner, words.hashes, words.kind > 0
    new = np.concatenate(([True], owner[1:] != owner[:-1]))
    previous = np.where(new, FIRST, np.concatenate((said[:1], said[:-1])))
    near = _behind(words, AFTER)
    finals = np.append(np.flatnonzero(new)[1:] - 1, len(said) - 1)
    kind_words = KIND_WORDS[words.kind]
    next_to = np.flatnonzero(named[:-1] & ~new[1:])  # a group with a word after it
    before = np.flatnonzero(named & ~new)
    long = np.flatnonzero(words.plain & (words.ends - words.starts > TAIL))
    starts, ends = words.starts[long], words.ends[long]
    near_long = near[long]
    heads = hasher(starts, np.minimum(starts + HEAD, ends))
    third = np.flatnonzero(~new & np.concatenate(([False], ~new[:-1])))  # has two words before it
    rows = [
        (owner, word_columns(said)),
        (owner[near], near_columns(said[near])),
    ]
    rest = [
        (owner, _joined(previous, said, 1)),
        (owner[finals], _joined(said[finals], LAST, 1)),
        (owner[long], _joined(hasher(ends - TAIL, ends), FIRST, 3)),
        (owner[long], _joined(heads, FIRST, 4)),
        (owner[long][near_long], _joined(heads[near_long], GROUP, 4)),
        (owner[named], kind_words[named]),
        (owner[next_to], _joined(kind_words[next_to], said[next_to + 1], 5)),
        (owner[before], _joined(said[before - 1], kind_words[before], 5)),
        (owner[third], _joined(_joined(said[third - 2], said[third - 1], 6), said[third], 6)),
    ]
    rows += [(each, _region(hashes, 2)) for each, hashes in rest]
    owners = np.concatenate([each for each, _ in rows])
    order = np.argsort(owners, kind="stable")
    return np.concatenate([each for _, each in rows])[order], np.bincount(owners, minlength=n)


def word_columns(hashes: Longs) -> Ints:
    """The columns (w,) of words."""
    return _region(hashes, 0)


def near_columns(hashes: Longs) -> Ints:
    """The columns (w,) of words behind a group."""
    return _region(hashes, 1)


def _region(hashes: Longs, number: int) -> Ints:
    return (hashes & np.uint64(REGION - 1)).view(np.int64) + number * REGION


def _behind(words: _Words, reach: int) -> Bools:
    """Which words stand behind a group of their sentence, at most `reach` words away."""
    at = np.arange(len(words.owner))
    last = np.maximum.accumulate(np.where(words.kind > 0, at, -1))
    same = (last >= 0) & (words.owner[last] == words.owner)
    return same & (at > last) & (at - last <= reach)


def _joined(first: Longs | np.uint64, second: Longs | np.uint64, salt: int) -> Longs:
    """One hash of two."""
    with np.errstate(over="ignore"):  # modulo 2**64 is what is meant
        return terms.mixed(np.atleast_1d(first * np.uint64(terms.BASE) + second + np.uint64(salt) * terms.MIXER))


def _cues(words: _Words, n: int) -> Floats:
    """Each cue class before the first group, at or behind it, in the whole: (n, 3 * classes), 0 or 1."""
    out = np.zeros((n, 3 * len(CUE_CLASSES)), np.float32)
    behind = _behind(words, len(words.owner)) if len(words.owner) else np.zeros(0, bool)
    cue = np.flatnonzero(words.bits & CUES)
    for number in range(len(CUE_CLASSES)):
        has = cue[words.bits[cue] & (1 << number) > 0]
        out[words.owner[has], 3 * number + behind[has]] = 1
        out[words.owner[has], 3 * number + 2] = 1
    return out


def _presence(words: _Words, n: int) -> Floats:
    """Is there a group, a pronoun, a name; are there several groups: (n, 4), 0 or 1."""
    groups = np.bincount(words.owner[words.kind > 0], minlength=n)
    pronouns = np.bincount(words.owner[words.bits & PRONOUN_BIT > 0], minlength=n)
    names = np.bincount(words.owner[words.bits & NAME_BIT > 0], minlength=n)
    return np.stack((groups > 0, pronouns > 0, names > 0, groups > 1), axis=1).astype(np.float32)
