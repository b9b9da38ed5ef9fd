"""Finds sentence bounds by a logistic regression over hashed features, vectorised with numpy.

A candidate is every gap that could end a sentence: after punctuation, before a word that is not in
lower case, or inside “end.Next”. Its features come from two tokens on either side, at most 8
characters of each. So a decision depends on nothing further away than `REACH` characters, and never
on text beyond a blank line.

The approach is that of Gillick (2009), “Sentence Boundary Detection and the Problem with the U.S.”,
with more candidates. The weights are trained on UD English EWT (CC BY-SA 4.0) by
`tests/benchmarks/train_sentences.py`. That treebank has only some of the abbreviations that never
end a sentence before a name or a number; `abbreviations` lists this closed class.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenflow.transforms.text import abbreviations

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Index = NDArray[np.int64]

MODEL_PATH = Path(__file__).with_name("sentence_model.json")
# Characters a step: so many that numpy's overhead for some 200 calls is small, so few that the
# arrays take 20 MB.
STEP = 1 << 19
# Characters tested for ASCII together. ASCII folds six times as fast, so a text with few other
# characters gains.
SLICE = 1 << 13
# A longer run of whitespace ends a sentence whatever stands around it, so that decisions stay local
# (characters).
LONGEST_GAP = 64
# Characters that a decision can see on either side: the gap and two windows of 8 with their
# separator, rounded up.
REACH = 128
# Codes that stand for whole classes of characters outside ASCII. NUL has one too, since the line
# break has its code 0.
NEWLINE, SPACE, UPPER, LOWER, OTHER, FORMAT, ELLIPSIS, FULL_STOP = (
    0,
    0x20,
    0x81,
    0x82,
    0x83,
    0x84,
    0x85,
    0x86,
)
SPECIAL = {
    **dict.fromkeys("\n\u2028\u2029", NEWLINE),
    **dict.fromkeys("“”«»„‟", ord('"')),
    **dict.fromkeys("‘’‚‛‹›", ord("'")),
    **dict.fromkeys("–—―‐‑−", ord("-")),
    **dict.fromkeys("•·▪●", ord("*")),
    **dict.fromkeys("\u3002\uff01\uff1f\uff61", FULL_STOP),
    "…": ELLIPSIS,
    "\0": FORMAT,
}
# Properties of a character that find_gaps reads, one bit each. Its shifts rely on ODD = 2 BLANK,
# NOT_LOWER = 4 BLANK = STOP / 2 and UPPER_CASE = 8 STOP.
BLANK, ODD, NOT_LOWER, STOP, WIDE_STOP, UPPER_CASE = 1, 2, 4, 8, 16, 64
ONES = np.uint64(0x0101010101010101)
HIGH = np.uint64(0x8080808080808080)
NOT_SPACE_BIT = np.uint64(0xDFDFDFDFDFDFDFDF)
LOWER_BIT = np.uint64(0x2020202020202020)
# 2**64 / golden ratio: multiplicative hashing (Knuth, TAOCP 3, 6.4)
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Gaps(NamedTuple):
    """The n candidates; each field is (n,) int64.

    Attributes:
        start: Index of the next sentence's first character.
        last: Index of the last character before the gap.
        breaks: Number of line breaks in the gap.
    """

    start: Index
    last: Index
    breaks: Index


class BoundaryModel(NamedTuple):
    """The trained regression.

    Attributes:
        weights: One weight a bucket, (2**bits,) int8, in 1 / scale nats.
        bits: Binary logarithm of the number of buckets.
        threshold: The least sum of weights that ends a sentence, in the same unit.
    """

    weights: NDArray[np.int8]
    bits: int
    threshold: int


@cache
def _fold_table() -> Bytes:
    """The code of each character of the basic plane and, last, of all others: (65537,)."""
    table = np.full(65537, OTHER, dtype=np.uint8)
    for point in range(65536):
        char = chr(point)
        if char in SPECIAL:
            table[point] = SPECIAL[char]
        elif char.isspace():
            table[point] = SPACE
        elif point < 128:
            table[point] = point
        elif char.isupper():
            table[point] = UPPER
        elif char.isalpha() or 0x300 <= point < 0x370:
            table[point] = LOWER
        elif 0x200B <= point < 0x2070 or point == 0xFEFF:
            table[point] = FORMAT
    return table


@cache
def _ascii_table() -> bytes:
    """The first 256 codes, for bytes.translate."""
    return _fold_table()[:256].tobytes()


@cache
def _flag_table() -> bytes:
    """The flags of each code, for bytes.translate. ODD: not a letter, digit or comma."""
    flags = bytearray([ODD | NOT_LOWER] * 256)
    for code in range(256):
        char = chr(code) if code < 128 else ""
        if code in (NEWLINE, SPACE):
            flags[code] |= BLANK
        elif char.islower() or code == LOWER:
            flags[code] = 0
        elif char.isupper() or code == UPPER:
            flags[code] = NOT_LOWER | UPPER_CASE
        elif char.isdigit() or char == ",":
            flags[code] = NOT_LOWER
        elif char in (".", "!", "?") or code == ELLIPSIS:
            flags[code] |= STOP
        elif code == FULL_STOP:
            flags[code] |= WIDE_STOP
    return bytes(flags)


@cache
def _class_table() -> NDArray[np.uint64]:
    """A class below 16 for each code: (256,)."""
    table = np.full(256, 15, dtype=np.uint64)
    groups = (
        "\0 ",
        "abcdefghijklmnopqrstuvwxyz\x82",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ\x81",
        "0123456789",
        ".",
        "!",
    )
    groups += ("?\x86", ",", ":", ";", "\"'`", ")]}", "([{<", "-", "\x85")
    for number, chars in enumerate(groups):
        table[[ord(char) for char in chars]] = number
    return table


@cache
def _model() -> BoundaryModel:
    """The model of `sentence_model.json`."""
    data = json.loads(MODEL_PATH.read_text(encoding="utf-8"))
    weights = np.zeros(1 << data["bits"], dtype=np.int8)
    weights[np.cumsum(data["bucket_steps"])] = data["weights"]
    return BoundaryModel(weights, data["bits"], data["threshold"])


def fold(text: str) -> Bytes:
    """Fold a text to one code a character.

    Args:
        text: The text.

    Returns:
        The codes with `REACH` line breaks before and after, (len(text) + 2 * REACH,) uint8.
    """
    out = np.zeros(len(text) + 2 * REACH, dtype=np.uint8)
    if text.isascii():
        _fold_ascii(text, out[REACH:-REACH])
        return out
    for begin in range(0, len(text), SLICE):
        part = text[begin : begin + SLICE]
        into = out[REACH + begin : REACH + begin + len(part)]
        if part.isascii():
            _fold_ascii(part, into)
        else:
            points = np.frombuffer(part.encode("utf-32-le", "surrogatepass"), dtype="<u4")
            np.take(_fold_table(), points, mode="clip", out=into)
    return out


def _fold_ascii(text: str, out: Bytes) -> None:
    """Write the codes of ASCII text to an array of its length."""
    data = text.encode("ascii")
    raw = np.frombuffer(data, dtype=np.uint8)
    kept = raw != 10
    if ((raw < 32) & kept).any():
        raw = np.frombuffer(data.translate(_ascii_table()), dtype=np.uint8)
    # Without other control characters, only the line breaks change, and a product sets them to zero
    # in a tenth of the time of a translation.
    np.multiply(raw, kept, out=out)


def find_gaps(codes: Bytes) -> Gaps:
    """Find the candidates.

    Args:
        codes: Folded text, see `fold`.

    Returns:
        The candidates in order. Their indices are into `codes`.
    """
    flags = np.frombuffer(codes.tobytes().translate(_flag_table()), dtype=np.uint8)
    before, middle, after = flags[:-2], flags[1:-1], flags[2:]
    # A gap is a candidate after anything but a letter, digit or comma, or before anything but a
    # lower-case letter; no gap is needed in “end.Next”, “end?!next” and after an ideographic full
    # stop.
    marks = (before >> 1 | after >> 2) & middle
    marks |= (after >> 3 | before & ~(after << 1)) & middle & STOP
    marks |= middle & WIDE_STOP
    marks &= BLANK | STOP | WIDE_STOP
    marks *= ~after & BLANK
    start = np.flatnonzero(marks[REACH - 2 : -REACH] != 0) + REACH
    blank = (flags & BLANK).view(np.bool_)
    gap = blank[start - 1]
    last = start - 1 - gap
    breaks = (gap & (codes[start - 1] == NEWLINE)).astype(np.int64)
    longer = np.flatnonzero(blank[last])
    for _ in range(LONGEST_GAP):
        if not len(longer):
            break
        breaks[longer] += codes[last[longer]] == NEWLINE
        last[longer] -= 1
        longer = longer[blank[last[longer]]]
    return Gaps(start, last, breaks)


def _token(window: Words) -> Words:
    """Zero all bytes from the first whitespace on (lowest byte first)."""
    folded = window & NOT_SPACE_BIT
    found = (folded - ONES) & ~folded & HIGH
    return window & (((found & (~found + np.uint64(1))) >> np.uint64(7)) - np.uint64(1))


def _length(token: Words) -> Index:
    """Bytes in a masked token, 0 to 8."""
    return ((np.frexp(token.astype(np.float64))[1] + 7) >> 3).clip(0, 8).astype(np.int64)


def _tokens_before(codes: Bytes, last: Index) -> Words:
    """The tokens that end at characters, at most 8 bytes of each, the last byte lowest."""
    behind = np.ndarray((len(codes) - 7,), dtype=">u8", buffer=codes, strides=(1,))
    return _token(behind[last - 7].astype(np.uint64))


def features(codes: Bytes, gaps: Gaps) -> list[Words]:
    """Compute the features of the candidates.

    Args:
        codes: Folded text, see `fold`.
        gaps: The n candidates in it.

    Returns:
        One array (n,) uint64 of keys for each feature. Keys are comparable within a feature only.
    """
    classes = _class_table()
    count = len(codes) - 7
    ahead = np.ndarray((count,), dtype="<u8", buffer=codes, strides=(1,))
    behind = np.ndarray((count,), dtype=">u8", buffer=codes, strides=(1,))
    low, byte = np.uint64(0xFF), np.uint64(8)

    def class_of(words: Words) -> Words:
        """The class of the lowest byte."""
        return classes[(words & low).view(np.int64)]

    left = _tokens_before(codes, gaps.last)
    right = _token(ahead[gaps.start].astype(np.uint64))
    left_length, right_length = _length(left), _length(right)
    left_more = _token(behind[gaps.last - 8 - left_length].astype(np.uint64)) * (left_length < 8)
    right_more = _token(ahead[gaps.start + right_length + 1].astype(np.uint64)) * (right_length < 8)
    ends = [class_of(left >> (byte * np.uint64(k))) for k in range(3)]
    shape_left = ends[0] | ends[1] << np.uint64(4) | ends[2] << np.uint64(8)
    first, second = class_of(right), class_of(right >> byte)
    shape_right = first | second << np.uint64(4)
    gap = np.minimum(gaps.breaks, 1) * 2 + (gaps.start - gaps.last > 1)
    kind = gap.astype(np.uint64) << np.uint64(12)
    word = left
    for _ in range(3):
        word = np.where(class_of(word) >= 4, word >> byte, word)
    stop = shape_left & np.uint64(0xFF)
    lower_word, lower_right = word | LOWER_BIT, right | LOWER_BIT
    lengths = (left_length | right_length << 4).astype(np.uint64)
    more = class_of(left_more) << np.uint64(4) | class_of(right_more) << np.uint64(8)
    mixed = (ends[0] << np.uint64(4) | shape_right) << np.uint64(1)
    return [
        shape_left | kind,
        shape_left << np.uint64(16) | shape_right | kind,
        left,
        lower_word ^ ends[0] * ONES,
        lower_word * MULTIPLIER ^ stop << np.uint64(8) ^ first ^ kind,
        right,
        lower_right,
        (lower_right * MULTIPLIER) ^ ends[0] ^ kind,
        more | ends[0] | first << np.uint64(12) | kind << np.uint64(8),
        lengths | stop << np.uint64(8) | first << np.uint64(16),
        (right_more | LOWER_BIT) * MULTIPLIER ^ mixed,
        (left_more | LOWER_BIT) * MULTIPLIER ^ mixed,
        lower_word * MULTIPLIER ^ lower_right,
    ]


def bucket(keys: Words, number: int, bits: int) -> Index:
    """Hash the keys of a feature.

    Args:
        keys: The keys, (n,) uint64.
        number: The place of the feature in the list that `features` returns.
        bits: Binary logarithm of the number of buckets.

    Returns:
        The bucket of each key, (n,) int64 in [0, 2**bits).
    """
    salt = np.uint64((number + 1) * 0xD6E8FEB86659FD93 & 0xFFFFFFFFFFFFFFFF)
    return (((keys ^ salt) * MULTIPLIER) >> np.uint64(64 - bits)).view(np.int64)


def certain(gaps: Gaps) -> NDArray[np.bool_]:
    """Find the gaps that end a sentence whatever stands around them.

    Args:
        gaps: The n candidates.

    Returns:
        Where there is a blank line or more than `LONGEST_GAP` whitespace characters, (n,).
    """
    return (gaps.breaks >= 2) | (gaps.start - gaps.last - 1 > LONGEST_GAP)


def _step(text: str) -> Index:
    """The sentence starts within one step of text, as indices into it."""
    codes = fold(text)
    gaps = find_gaps(codes)
    sure = certain(gaps)
    # The windows of a certain gap may reach outside. Their content does not matter, but they must
    # be readable.
    gaps = gaps._replace(last=np.where(sure, gaps.start - 1, gaps.last))
    model = _model()
    total = np.zeros(len(gaps.start), dtype=np.int32)
    for number, keys in enumerate(features(codes, gaps)):
        total += model.weights[bucket(keys, number, model.bits)]
    chosen = np.flatnonzero(~sure & (total >= model.threshold))
    ends = sure.copy()
    ends[chosen] = ~abbreviations.continues_sentence(
        _tokens_before(codes, gaps.last[chosen]), codes[gaps.start[chosen]]
    )
    return gaps.start[ends] - REACH


def bounds(text: str) -> Index:
    """Find the sentences of a text.

    Sentence i is text[b[i]:b[i + 1]], and the last one ends at len(text), so together they are the
    text. Whitespace between two sentences belongs to the earlier one, and whitespace at the text's
    start to the first.

    A blank line (two line breaks with nothing but whitespace between) always ends a sentence, and
    no decision looks beyond it. So texts joined by blank lines have the bounds that each has alone,
    with each 0 moved to the text's first non-space character.

    Args:
        text: Any text; lone surrogates and NULs are allowed.

    Returns:
        The start offsets in characters, (n,) int64, ascending, the first 0; (0,) for an empty text.
    """
    if not text:
        return np.zeros(0, dtype=np.int64)
    parts = [np.zeros(1, dtype=np.int64)]
    for begin in range(0, len(text), STEP):
        origin = max(0, begin - REACH)
        starts = _step(text[origin : begin + STEP + REACH]) + origin
        parts.append(starts[(starts >= begin) & (starts < begin + STEP)])
    found = np.concatenate(parts)
    first = len(text) - len(text.lstrip()) if text[0].isspace() else 0
    return np.concatenate([parts[0], found[found > first]])


def sentences(text: str) -> list[tuple[int, int]]:
    """Find the sentences of a text without the whitespace around them.

    Args:
        text: The text.

    Returns:
        Start and end of each sentence in characters. Whitespace alone is no sentence.
    """
    return trimmed(text, bounds(text).tolist())


def trimmed(text: str, starts: Sequence[int]) -> list[tuple[int, int]]:
    """Trim the whitespace around the sentences that begin at given offsets.

    Args:
        text: The text.
        starts: The offsets, ascending, as `bounds` gives them.

    Returns:
        Start and end of each sentence in characters. Whitespace alone is no sentence.
    """
    out: list[tuple[int, int]] = []
    for start, stop in pairwise([*starts, len(text)]):
        inner = text[start:stop].lstrip()
        if inner:
            begin = stop - len(inner)
            out.append((begin, begin + len(inner.rstrip())))
    return out
