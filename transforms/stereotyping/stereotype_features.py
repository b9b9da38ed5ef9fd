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

from evenflow.transforms.stereotyping import stereotype_terms as terms
from evenflow.transforms.stereotyping.stereotype_columns import Columns
from evenflow.transforms.stereotyping.stereotype_terms import CUE_CLASSES, CUES, KIND_SHIFT, KINDS, NAME_BIT, PRONOUN_BIT, Terms

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

    pieces: what was read together, in order, with the hashed features. dense: (n, DENSE), 0 or 1. words: (n,) words in letters
    or digits. known: (n,) how many of them are known.
    """

    pieces: tuple[Piece, ...]
    dense: Floats
    words: Ints
    known: Ints

    @property
    def sizes(self) -> Ints:
        """How many hashed features each sentence has, (n,)."""
        return np.concatenate([np.zeros(0, np.int64), *(piece.columns.sizes() for piece in self.pieces)])

    @property
    def columns(self) -> Ints:
        """Indices (f,) of the hashed features into BUCKETS weights, sentence by sentence."""
        each = [piece.columns.listed() for piece in self.pieces]
        return np.concatenate([np.zeros(0, np.int64), *(columns[np.argsort(owners, kind="stable")] for columns, owners in each)])


def features(sentences: Sequence[str], labels: Sequence[Spans], common: Terms) -> Features:
    """Features of n sentences.

    labels: of each, the spans (start, end, attribute) of listed labels. common: words that count as known, beside terms for
    groups and names. Raises ValueError if the numbers of sentences and labels differ.
    """
    if len(sentences) != len(labels):
        raise ValueError(f"{len(sentences)} sentences but labels of {len(labels)}")
    parts = [_piece(sentences[first:last], labels[first:last], common) for first, last in _pieces(sentences)]
    if not parts:
        return Features((), np.zeros((0, DENSE), np.float32), np.zeros(0, np.int64), np.zeros(0, np.int64))
    pieces, dense, words, known = zip(*parts, strict=True)
    return Features(pieces, *(np.concatenate(each) for each in (dense, words, known)))


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
class Words:
    """Words and signs of n sentences.

    Of each: hash, sentence, the bits of its classes, its kind (0: names no group), start and end in the text, whether it is a
    word, and whether one in letters that is not masked.
    """

    hashes: Longs
    owner: Ints
    bits: npt.NDArray[np.int32]
    kind: Ints
    starts: Ints
    ends: Ints
    is_word: Bools
    plain: Bools


@dataclass(frozen=True)
class Piece:
    """Sentences that were read together.

    count: how many. text: of all, codes: of its characters. words: all of them. kept: (k,) those that are left when each run of
    groups is one, its first; kind: (k,) theirs, of a run the highest. digit: (t,) words that begin with a digit.
    """

    count: int
    text: terms.Text
    words: Words
    digit: Bools
    kept: Ints
    kind: Ints
    columns: Columns


def _piece(sentences: Sequence[str], labels: Sequence[Spans], common: Terms) -> tuple[Piece, Floats, Ints, Ints]:
    """The sentences, and of each the dense features, words and known words."""
    n = len(sentences)
    text = terms.read("\n".join(sentences))
    codes = text.codes
    hasher = terms.Hasher(codes)
    lengths = np.fromiter(map(len, sentences), np.int64, n) + 1
    begins = np.cumsum(lengths) - lengths
    starts, ends, is_word = terms.tokens(codes)
    hashes = hasher(starts, ends)
    first = codes.take(starts)
    bits = terms.shipped().classes(hashes)
    kind = np.maximum(bits >> KIND_SHIFT, _labelled(labels, begins, starts, ends))
    pronoun = bits & PRONOUN_BIT > 0
    kind[pronoun] = 0  # a listed pronoun too stays one: «she» says less of a group than «women» does
    named = kind > 0
    owner = np.repeat(np.arange(n), np.diff(np.searchsorted(starts, begins), append=len(starts)))
    known = is_word & ((bits > 0) | named | (common.classes(hashes) > 0))
    digit = is_word & (first >= ord("0")) & (first <= ord("9"))
    name = (bits & NAME_BIT > 0) & ~named
    hashes[digit], hashes[pronoun], hashes[name], hashes[named] = NUMBER, PRONOUN, NAME, GROUP
    bits[named] &= ~CUES
    words = Words(hashes, owner, bits, kind, starts, ends, is_word, is_word & ~(named | pronoun | name | digit))
    again = np.zeros(len(named), bool)
    again[1:] = named[1:] & named[:-1] & (owner[1:] == owner[:-1])
    kept = np.flatnonzero(~again)
    kinds = np.maximum.reduceat(kind, kept) if len(kept) else kind
    said = _Said(words, kept, kinds)
    signs = np.zeros((n, len(SIGNS) + 1), np.float32)
    for number, sign in enumerate(SIGNS):
        signs[owner[first == ord(sign)], number] = 1
    signs[owner[digit], len(SIGNS)] = 1
    dense = np.hstack((_cues(said, n), signs, _presence(said, n)))
    piece = Piece(n, text, words, digit, kept, kinds, Columns(n, said.owner, _families(said, hasher) if len(kept) else ()))
    return piece, dense, np.bincount(owner[is_word], minlength=n), np.bincount(owner[known], minlength=n)


def _labelled(labels: Sequence[Spans], begins: Ints, starts: Ints, ends: Ints) -> Ints:
    """The kind of each word that lies in a label, else 0."""
    out = np.zeros(len(starts), np.int64)
    spans = [span for each in labels for span in each]
    if spans:
        begin = np.repeat(begins, np.fromiter(map(len, labels), np.int64, len(labels)))
        first, last, attributes = zip(*spans, strict=True)
        kinds = {attribute: terms.kind_of(attribute) for attribute in {*attributes}}
        kind = np.array([kinds[attribute] for attribute in attributes])
        low = np.searchsorted(ends, begin + np.array(first), "right")
        high = np.searchsorted(starts, begin + np.array(last), "left")
        size = np.maximum(high - low, 0)
        # The words low..high of each span, as one array.
        inside = np.repeat(low - np.concatenate(([0], np.cumsum(size)[:-1])), size) + np.arange(size.sum())
        np.maximum.at(out, inside, np.repeat(kind, size))
    return out


class _Said:
    """Words with each run of groups as one, where groups are, and the last group up to each word (-1: none in its sentence)."""

    def __init__(self, words: Words, kept: Ints, kind: Ints):
        self.hashes, self.owner, self.bits = words.hashes[kept], words.owner[kept], words.bits[kept]
        self.starts, self.ends, self.plain = words.starts[kept], words.ends[kept], words.plain[kept]
        self.kind = kind
        self.named = np.flatnonzero(kind)
        self.group = last_of(self.named, self.owner)


def last_of(places: Ints, owner: Ints) -> Ints:
    """The last of some places up to each of all words (t,), -1 where there is none in its sentence. owner: (t,) sentences."""
    if not len(places):
        return np.full(len(owner), -1)
    bounds = np.append(places, len(owner))
    out = np.concatenate((np.full(bounds[0], -1), np.repeat(places, np.diff(bounds))))
    out[owner[out] != owner] = -1
    return out


def _families(words: _Said, hasher: terms.Hasher) -> tuple[tuple[Ints | None, Ints], ...]:
    """The hashed features of words, of which there is at least one."""
    owner, said, named, t = words.owner, words.hashes, words.named, len(words.owner)
    new = np.ones(t, bool)
    np.not_equal(owner[1:], owner[:-1], out=new[1:])
    opening = np.flatnonzero(new)
    previous = np.empty_like(said)
    previous[1:] = said[:-1]
    previous[opening] = FIRST
    away = np.arange(t) - words.group
    is_near = (words.group >= 0) & (away > 0) & (away <= AFTER)
    near = np.flatnonzero(is_near)
    finals = np.append(opening[1:] - 1, t - 1)
    kind_words = KIND_WORDS[words.kind[named]]
    follows = np.append(~new[1:], False)[named]  # a word after it
    next_to = named[follows]
    preceded = ~new[named]
    before = named[preceded]
    long = np.flatnonzero(words.plain & (words.ends - words.starts > TAIL))
    starts, ends = words.starts[long], words.ends[long]
    near_long = is_near[long]
    heads = hasher(starts, np.minimum(starts + HEAD, ends))
    third = np.flatnonzero(~new[1:] & ~new[:-1]) + 1  # has two words before it
    two = _joined(said[third - 2], said[third - 1], 6)
    return (
        (None, word_columns(said)),
        (near, near_columns(said[near])),
        (None, _rest(_joined(previous, said, 1))),
        (finals, _rest(_joined(said[finals], LAST, 1))),
        (long, _rest(_joined(hasher(ends - TAIL, ends), FIRST, 3))),
        (long, _rest(_joined(heads, FIRST, 4))),
        (long[near_long], _rest(_joined(heads[near_long], GROUP, 4))),
        (named, _rest(kind_words)),
        (next_to, _rest(_joined(kind_words[follows], said[next_to + 1], 5))),
        (before, _rest(_joined(said[before - 1], kind_words[preceded], 5))),
        (third, _rest(_joined(two, said[third], 6))),
    )


def word_columns(hashes: Longs) -> Ints:
    """The columns (w,) of words."""
    return _region(hashes, 0)


def near_columns(hashes: Longs) -> Ints:
    """The columns (w,) of words behind a group."""
    return _region(hashes, 1)


def _rest(hashes: Longs) -> Ints:
    """The columns (w,) of all else."""
    return _region(hashes, 2)


def _region(hashes: Longs, number: int) -> Ints:
    out = (hashes & np.uint64(REGION - 1)).view(np.int64)
    out += number * REGION
    return out


def _joined(first: Longs, second: Longs | np.uint64, salt: int) -> Longs:
    """One hash of two."""
    out = first * np.uint64(terms.BASE)  # modulo 2**64
    out += second
    out += np.uint64(salt * int(terms.MIXER) % 2**64)
    return terms.mixed(out)


def _cues(words: _Said, n: int) -> Floats:
    """Each cue class before the first group, at or behind it, in the whole: (n, 3 * classes), 0 or 1."""
    out = np.zeros((n, 3 * len(CUE_CLASSES)), np.float32)
    cue = np.flatnonzero(words.bits & CUES)
    behind = (words.group[cue] >= 0).astype(np.int64)
    owner, bits = words.owner[cue], words.bits[cue]
    for number in range(len(CUE_CLASSES)):
        has = np.flatnonzero(bits & (1 << number))
        own = owner[has]
        out[own, 3 * number + behind[has]] = 1
        out[own, 3 * number + 2] = 1
    return out


def _presence(words: _Said, n: int) -> Floats:
    """Is there a group, a pronoun, a name; are there several groups: (n, 4), 0 or 1."""
    out = np.zeros((n, 4), np.float32)
    groups = np.bincount(words.owner[words.named], minlength=n)
    out[:, 0] = groups > 0
    out[words.owner[words.bits & PRONOUN_BIT > 0], 1] = 1
    out[words.owner[words.bits & NAME_BIT > 0], 2] = 1
    out[:, 3] = groups > 1
    return out
