"""Candidates for sentence bounds in a text, and their features, vectorised with numpy.

A text is folded to one code a character. A candidate is every gap that could end a sentence: after
punctuation, before a word that is not in lower case, or inside “end.Next”.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenflow.transforms.text.narrow import narrow

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Index = NDArray[np.int64]

# A longer run of whitespace always ends a sentence, so that decisions stay local
# (characters).
LONGEST_GAP = 64
# Characters that a decision can see on either side: the gap and two windows of 8 with their
# separator, rounded up.
REACH = 128
# Codes that stand for whole classes of characters outside ASCII. NUL has one too, since the line
# break has its code 0.
NEWLINE, SPACE = 0, 0x20
UPPER, LOWER, OTHER, FORMAT, ELLIPSIS, FULL_STOP = range(0x81, 0x87)
SPECIAL = {
    **dict.fromkeys("\n\u2028\u2029", NEWLINE),
    **dict.fromkeys("“”«»„‟", ord('"')),
    **dict.fromkeys("‘’‚‛‹›", ord("'")),
    **dict.fromkeys("–—―‐‑−", ord("-")),
    **dict.fromkeys("•·▪●", ord("*")),
    **dict.fromkeys("\u3002\uff01\uff1f\uff61", FULL_STOP),
    "…": ELLIPSIS,
    "\0": FORMAT,
    "\u200b": SPACE,  # a blank without width (Unicode Standard Annex 29, 4.1)
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
    """The n candidates; each field is (n,) int64."""

    start: Index
    last: Index
    breaks: Index


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


def fold(text: str) -> Bytes:
    """Fold a text to one code a character.

    Returns the codes with `REACH` line breaks before and after, (len(text) + 2 * REACH,) uint8.
    """
    raw, places, points = narrow(text)
    out = np.zeros(len(raw) + 2 * REACH, dtype=np.uint8)
    codes = np.frombuffer(raw, dtype=np.uint8)
    kept = codes != 10
    if ((codes < 32) & kept).any():
        codes = np.frombuffer(raw.translate(_ascii_table()), dtype=np.uint8)
    # Without other control characters, only the line breaks change, and a product sets them to zero
    # in a tenth of the time of a translation.
    np.multiply(codes, kept, out=out[REACH:-REACH])
    if len(points):  # the table takes a while to make, and many texts need none
        out[REACH + places] = _fold_table().take(points, mode="clip")
    return out


def find_gaps(codes: Bytes) -> Gaps:
    """Find the candidates."""
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
        # Two line breaks are a blank line: how long it is does not matter
        longer = longer[blank[last[longer]] & (breaks[longer] < 2)]
    return Gaps(start, last, breaks)


def _token(window: Words) -> Words:
    """Zero all bytes from the first whitespace on (lowest byte first)."""
    folded = window & NOT_SPACE_BIT
    found = (folded - ONES) & ~folded & HIGH
    return window & (((found & (~found + np.uint64(1))) >> np.uint64(7)) - np.uint64(1))


def _length(token: Words) -> Index:
    """Bytes in a masked token, 0 to 8."""
    return ((np.frexp(token.astype(np.float64))[1] + 7) >> 3).clip(0, 8).astype(np.int64)


def tokens_before(codes: Bytes, last: Index) -> Words:
    """The tokens that end at characters, at most 8 bytes of each, the last byte lowest."""
    behind = np.ndarray((len(codes) - 7,), dtype=">u8", buffer=codes, strides=(1,))
    return _token(behind[last - 7].astype(np.uint64))


def compute_features(codes: Bytes, gaps: Gaps) -> list[Words]:
    """Compute the features of the candidates.

    Returns one array (n,) uint64 of keys for each feature. Keys are comparable within a feature
    only.
    """
    classes = _class_table()
    count = len(codes) - 7
    ahead = np.ndarray((count,), dtype="<u8", buffer=codes, strides=(1,))
    behind = np.ndarray((count,), dtype=">u8", buffer=codes, strides=(1,))
    low, byte = np.uint64(0xFF), np.uint64(8)

    def class_of(words: Words) -> Words:
        """The class of the lowest byte."""
        return classes[(words & low).view(np.int64)]

    left = tokens_before(codes, gaps.last)
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
    # “(US” and “(2009),”: the first character of what precedes, the last of what follows
    begun = class_of(left >> (byte * (left_length - 1).clip(0).astype(np.uint64)))
    closed = class_of(right >> (byte * (right_length - 1).clip(0).astype(np.uint64)))
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
        begun << np.uint64(4) | ends[0] | shape_right << np.uint64(8) | kind << np.uint64(4),
        closed << np.uint64(16) | shape_right << np.uint64(4) | ends[0] | kind << np.uint64(8),
    ]


def hash_keys(keys: Words, number: int, bits: int) -> Index:
    """Hash the keys of a feature.

    `keys`: The keys, (n,) uint64.

    Returns the bucket of each key, (n,) int64 in [0, 2**bits).
    """
    salt = np.uint64((number + 1) * 0xD6E8FEB86659FD93 & 0xFFFFFFFFFFFFFFFF)
    return (((keys ^ salt) * MULTIPLIER) >> np.uint64(64 - bits)).view(np.int64)


def find_certain(gaps: Gaps) -> NDArray[np.bool_]:
    """Find the gaps that always end a sentence.

    Returns where there is a blank line or more than `LONGEST_GAP` whitespace characters, (n,).
    """
    return (gaps.breaks >= 2) | (gaps.start - gaps.last - 1 > LONGEST_GAP)
