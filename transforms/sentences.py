"""Sentence bounds: a logistic regression over hashed features of the gap between two words, vectorised with numpy.

Every gap that could end a sentence (after punctuation, before a word that is not in lower case, at a line break, or inside
«end.Next») is a candidate. Its features come from the 8 bytes on either side, so a decision depends on nothing further away
than `REACH` characters, and never on what lies beyond a blank line. The approach is that of Gillick (2009), «Sentence
Boundary Detection and the Problem with the U.S.», with more candidates. The weights are trained on UD English EWT
(CC BY-SA 4.0) by `tests/benchmarks/train_sentences.py`.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Index = NDArray[np.int64]

MODEL_PATH = Path(__file__).with_name("sentence_model.json")
# Characters a step: small enough that a step's arrays stay in the cache, large enough that numpy's overhead a call is small.
STEP = 1 << 18
# A longer run of whitespace ends a sentence whatever stands around it, so that decisions stay local (characters).
LONGEST_GAP = 64
# Farthest character that a decision can see: the gap, and two windows of 8 with their separator (characters), rounded up.
REACH = 128
# Codes that stand for whole classes of characters outside ASCII (and NUL: 0 is taken by the line break).
NEWLINE, SPACE, UPPER, LOWER, OTHER, FORMAT, ELLIPSIS, FULL_STOP = 0, 0x20, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86
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
ONES = np.uint64(0x0101010101010101)
HIGH = np.uint64(0x8080808080808080)
NOT_SPACE_BIT = np.uint64(0xDFDFDFDFDFDFDFDF)
LOWER_BIT = np.uint64(0x2020202020202020)
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio: multiplicative hashing (Knuth, TAOCP 3, 6.4)


class Gaps(NamedTuple):
    """Candidates, n of them. start: index of the next sentence's first character. last: index of the last character before
    the gap. breaks: number of line breaks in the gap. All (n,) int64."""

    start: Index
    last: Index
    breaks: Index


class Model(NamedTuple):
    """weights: (2**bits,) int8 in units of the file's scale. bits: log2 of the buckets. threshold: least sum that ends a
    sentence, in the same units."""

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
def _class_table() -> NDArray[np.uint64]:
    """A class below 16 for each code: (256,)."""
    table = np.full(256, 15, dtype=np.uint64)
    groups = ("\0 ", "abcdefghijklmnopqrstuvwxyz\x82", "ABCDEFGHIJKLMNOPQRSTUVWXYZ\x81", "0123456789", ".", "!", "?\x86", ",")
    groups += (":", ";", "\"'`", ")]}", "([{<", "-", "\x85")
    for number, chars in enumerate(groups):
        table[[ord(char) for char in chars]] = number
    return table


@cache
def _model() -> Model:
    data = json.loads(MODEL_PATH.read_text(encoding="utf-8"))
    weights = np.zeros(1 << data["bits"], dtype=np.int8)
    weights[np.cumsum(data["bucket_steps"])] = data["weights"]
    return Model(weights, data["bits"], data["threshold"])


def fold(text: str) -> Bytes:
    """One code a character, with two line breaks before and after and room for a window of 8: (len(text) + 2 * REACH,)."""
    out = np.zeros(len(text) + 2 * REACH, dtype=np.uint8)
    if text.isascii():
        out[REACH:-REACH] = np.frombuffer(text.encode("ascii").translate(_ascii_table()), dtype=np.uint8)
    else:
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        np.take(_fold_table(), points, mode="clip", out=out[REACH:-REACH])
    return out


def find_gaps(codes: Bytes) -> Gaps:
    """The candidates in folded text, in order; indices are into `codes`."""
    blank = (codes & 0xDF) == 0
    lower = ((codes - np.uint8(97)) < 26) | (codes == LOWER)
    upper = ((codes - np.uint8(65)) < 26) | (codes == UPPER)
    plain = lower | upper | (codes == 44) | ((codes - np.uint8(48)) < 10)
    stop = (codes == 46) | (codes == 33) | (codes == 63) | (codes == ELLIPSIS)
    marks = np.zeros(len(codes), dtype=bool)
    marks[2:] = blank[1:-1] & ~blank[2:] & ~(plain[:-2] & lower[2:])
    marks[2:] |= stop[1:-1] & (upper[2:] | (stop[:-2] & lower[2:]))
    marks[2:] |= (codes[1:-1] == FULL_STOP) & ~blank[2:]
    start = np.flatnonzero(marks[:-REACH]).astype(np.int64)
    start = start[np.searchsorted(start, REACH) :]
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


def features(codes: Bytes, gaps: Gaps) -> list[Words]:
    """Features of the candidates as 64-bit keys, each (n,); position in the list tells the features apart."""
    classes = _class_table()
    count = len(codes) - 7
    ahead = np.ndarray((count,), dtype="<u8", buffer=codes, strides=(1,))
    behind = np.ndarray((count,), dtype=">u8", buffer=codes, strides=(1,))
    low, byte = np.uint64(0xFF), np.uint64(8)
    left = _token(behind[gaps.last - 7].astype(np.uint64))
    right = _token(ahead[gaps.start].astype(np.uint64))
    left_length, right_length = _length(left), _length(right)
    left_more = _token(behind[gaps.last - 8 - left_length].astype(np.uint64)) * (left_length < 8)
    right_more = _token(ahead[gaps.start + right_length + 1].astype(np.uint64)) * (right_length < 8)
    ends = [classes[(left >> (byte * np.uint64(k))) & low] for k in range(3)]
    shape_left = ends[0] | ends[1] << np.uint64(4) | ends[2] << np.uint64(8)
    first, second = classes[right & low], classes[(right >> byte) & low]
    shape_right = first | second << np.uint64(4)
    gap = np.minimum(gaps.breaks, 1) * 2 + (gaps.start - gaps.last > 1)
    kind = gap.astype(np.uint64) << np.uint64(12)
    word = left
    for _ in range(3):
        word = np.where(classes[word & low] >= 4, word >> byte, word)
    stop = shape_left & np.uint64(0xFF)
    lower_word, lower_right = word | LOWER_BIT, right | LOWER_BIT
    lengths = (left_length | right_length << 4).astype(np.uint64)
    more = classes[left_more & low] << np.uint64(4) | classes[right_more & low] << np.uint64(8)
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
    """The bucket of each key of feature `number`: (n,) in [0, 2**bits)."""
    salt = np.uint64((number + 1) * 0xD6E8FEB86659FD93 & 0xFFFFFFFFFFFFFFFF)
    return (((keys ^ salt) * MULTIPLIER) >> np.uint64(64 - bits)).view(np.int64)


def certain(gaps: Gaps) -> NDArray[np.bool_]:
    """Where the gap alone ends a sentence: a blank line, or more than LONGEST_GAP whitespace characters."""
    return (gaps.breaks >= 2) | (gaps.start - gaps.last - 1 > LONGEST_GAP)


def _step(text: str) -> Index:
    """Starts within one step of text, as indices into it."""
    codes = fold(text)
    gaps = find_gaps(codes)
    sure = certain(gaps)
    # The windows of a certain gap may reach outside; what they hold does not matter, only that they can be read.
    gaps = gaps._replace(last=np.where(sure, gaps.start - 1, gaps.last))
    model = _model()
    total = np.zeros(len(gaps.start), dtype=np.int32)
    for number, keys in enumerate(features(codes, gaps)):
        total += model.weights[bucket(keys, number, model.bits)]
    return gaps.start[sure | (total >= model.threshold)] - REACH


def bounds(text: str) -> Index:
    """Start offsets of the sentences of a text, in characters: (n,) int64, ascending, the first 0.

    Sentence i is text[b[i]:b[i + 1]], the last ends at len(text); their concatenation is the text. Whitespace between two
    sentences belongs to the earlier one, whitespace at the text's start to the first. An empty text has no sentence: (0,).
    A blank line (two line breaks with nothing but whitespace between) always ends a sentence and nothing beyond it is
    looked at: texts joined by blank lines have the bounds that each has alone (its 0 moved to its first non-space).
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
    """Start and end offset of each sentence without the whitespace around it; stretches of whitespace give no sentence."""
    starts = bounds(text).tolist()
    out: list[tuple[int, int]] = []
    for start, stop in pairwise([*starts, len(text)]):
        part = text[start:stop]
        inner = part.lstrip()
        if inner:
            begin = stop - len(inner)
            out.append((begin, begin + len(inner.rstrip())))
    return out
