"""Words as hashes, and the classes of those that the stereotype detector knows: terms for groups, first names, cues.

A text is read as one code a character (letters in lower case and without their accents) and every word is hashed by one
running sum, so that a batch of sentences costs a few passes of numpy over its characters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import yaml

from evenflow.transforms import people
from evenflow.wordlists import loader

TERMS_PATH = Path(__file__).with_name("stereotype_terms.yaml")
COMMON_WORD = "w"  # the mark of a first name that is a common word too
CHUNK = 1 << 17  # characters read at a time: the arrays of a step stay in the cache; one longer sentence is read alone
SLOTS = 1 << 18  # of the table that says where a word may be: ten times the words, so that few share one
LOW = np.uint64(SLOTS - 1)
BASE = 0x100000001B3  # of the polynomial that hashes characters; odd, so that it has an inverse modulo 2**64
MIXER = np.uint64(0xD6E8FEB86659FD93)  # Rettenmund's: every bit of a word reaches the low bits of the product
BLANK, OTHER_LETTER, OTHER_SIGN = 0, 1, 2  # codes of characters beside ASCII's own
# A run of groups is of the kind that stands last here: «black man» is ethnic, «female doctor» a profession.
KINDS = ("person", "profession", "place", "religion", "ethnic")
KIND_OF_ATTRIBUTE = {
    **{"religion": "religion", "profession": "profession", "occupation": "profession"},
    **dict.fromkeys(("race", "race-color", "ethnicity", "nationality", "origin"), "ethnic"),
}  # of a listed label's attribute; of any other it is a person
CUE_CLASSES = (
    *("negation", "report", "belief", "counter", "self", "question", "generic", "some"),
    *("news", "being", "past", "modal"),
)
CUES = (1 << len(CUE_CLASSES)) - 1  # the bits of all classes
PRONOUN_BIT, NAME_BIT = CUES + 1, 2 * (CUES + 1)
KIND_SHIFT = len(CUE_CLASSES) + 2  # above: the kind's index + 1, 0 for a word that names no group

Ints = npt.NDArray[np.int64]
Bits = npt.NDArray[np.int32]
Codes = npt.NDArray[np.uint8]
Longs = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Terms:
    """Words by class: hashes (t,), ascending, and the bits of each.

    slots: (SLOTS,) by a hash's low bits, twice the place of the first word that has them, plus 1 where others have them too;
    of no word, some place: whose hash it is decides. others: (o,) places of these others, ascending.
    """

    hashes: Longs
    bits: Bits
    slots: Bits
    others: Ints

    def classes(self, words: Longs) -> Bits:
        """The bits of each word (w,); 0 for a word of no class."""
        slot = self.slots.take((words & LOW).view(np.int64))
        place = slot >> 1
        out = self.bits.take(place)
        wrong = np.flatnonzero(self.hashes.take(place) != words)
        out[wrong] = 0
        again = wrong[slot[wrong] & 1 > 0]
        if len(again):
            others = self.hashes[self.others]
            place = np.minimum(np.searchsorted(others, words[again]), len(others) - 1)
            out[again] = np.where(others[place] == words[again], self.bits[self.others[place]], 0)
        return out


def terms_of(classes: Mapping[str, int]) -> Terms:
    """Terms from words and their bits. Raises ValueError for what is not one word."""
    words = sorted(classes)
    return terms_of_hashes(hashed(words), np.array([classes[word] for word in words], np.int32))


def terms_of_hashes(hashes: Longs, bits: Bits) -> Terms:
    """Terms from hashes (t,) in any order, with the bits of each."""
    order = np.argsort(hashes)
    hashes, bits = hashes[order], bits[order]
    low = (hashes & LOW).view(np.int64)
    _, first, of = np.unique(low, return_index=True, return_inverse=True)
    others = np.flatnonzero(first[of] != np.arange(len(low)))
    slots = np.zeros(SLOTS, np.int32)
    slots[low[first]] = 2 * first
    slots[low[others]] |= 1
    return Terms(hashes, bits, slots, others)


@cache
def shipped() -> Terms:
    """The terms beside this file, the labels of the shipped word lists and the first names."""
    return terms_of(words())


@cache
def words() -> dict[str, int]:
    """The same as words with their bits."""
    stored = yaml.safe_load(TERMS_PATH.read_text(encoding="utf-8"))
    kinds = {name: kind for kind, names in stored["kinds"].items() for name in names}
    terms = {form: kinds[name] for name, each in stored["groups"].items() for term in each.split() for form in _forms(term)}
    for name in loader.SHIPPED:
        for label in loader.load(name).labels:
            if label.isascii() and label.isalpha():  # a label of several words is masked where it is found as a label
                terms.setdefault(label.lower(), KIND_OF_ATTRIBUTE.get(name, "person"))
    out: dict[str, int] = {}
    for number, name in enumerate(CUE_CLASSES):
        for word in stored["cues"][name].split():
            out[word] = out.get(word, 0) | 1 << number
    for line in people.NAMES_PATH.read_text(encoding="utf-8").splitlines():
        name, _, rest = line.partition("\t")
        if name.isalpha() and name.isascii() and COMMON_WORD not in rest and name not in terms and name not in out:
            out[name] = NAME_BIT
    for word in stored["pronouns"].split():
        terms.pop(word, None)
        out[word] = out.get(word, 0) & CUES | PRONOUN_BIT
    for word, kind in terms.items():
        out[word] = (KINDS.index(kind) + 1) << KIND_SHIFT
    return out


def kind_of(attribute: str) -> int:
    """The number (from 1) of the kind of group that a listed label of an attribute names."""
    return KINDS.index(KIND_OF_ATTRIBUTE.get(attribute, "person")) + 1


def _forms(term: str) -> list[str]:
    """The words of a term, and that of its plural."""
    first, _, last = term.replace("'", "-").rpartition("-")
    plural = last[:-1] + "ies" if last.endswith("y") and last[-2:-1] not in tuple("aeiou") else last + "s"
    forms = [*(word for word in first.split("-") if word), last, plural]
    return [*forms, last + "es"] if last.endswith(("s", "sh", "ch", "x")) else forms


@cache
def _table() -> Codes:
    """The code of each character below 0x10000: letters in lower case without their accent, digits, signs, blanks."""
    out = np.full(0x10000, OTHER_SIGN, np.uint8)
    for point in range(0x10000):
        character = chr(point)
        category = unicodedata.category(character)
        if character.isspace() or category in ("Cf", "Cc"):
            out[point] = BLANK
        elif point < 0x250 and character.isalpha():
            base = unicodedata.normalize("NFKD", character)[0].lower()
            out[point] = ord(base) if base.isascii() and base.isalpha() else OTHER_LETTER
        elif point < 0x80:
            out[point] = point
        elif category[0] in "LM" or character.isalnum():
            out[point] = OTHER_LETTER
    out[[ord(character) for character in "“”«»„‟"]] = ord('"')
    out[[ord(character) for character in "‘’‚‛´`'-‐‑"]] = BLANK  # they part words and say nothing
    return out


@cache
def _ascii_table() -> bytes:
    """The codes of ASCII's characters, and of 128 that it has not, for `bytes.translate`."""
    return _table()[:256].tobytes()


class Text(NamedTuple):
    """A text's characters as numbers, and as codes (`_table`)."""

    points: npt.NDArray[np.uint8] | npt.NDArray[np.uint32]
    codes: Codes

    def capital(self, places: Ints) -> npt.NDArray[np.bool_]:
        """Which characters are capitals (of ASCII)."""
        points = self.points.take(places)
        return (points >= ord("A")) & (points <= ord("Z"))


def read(text: str) -> Text:
    """A text as numbers."""
    if text.isascii():
        plain = text.encode("ascii")
        return Text(np.frombuffer(plain, np.uint8), np.frombuffer(plain.translate(_ascii_table()), np.uint8))
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return Text(points, _table().take(points, mode="clip"))  # the last character of the table is no letter, nor are those above


def encode(text: str) -> Codes:
    """One code a character, (len(text),)."""
    return read(text).codes


def tokens(codes: Codes) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
    """Starts and ends (t,) of words and signs, and which of them are words."""
    word = (codes >= ord("a")) & (codes <= ord("z")) | (codes >= ord("0")) & (codes <= ord("9")) | (codes == OTHER_LETTER)
    sign = ~word & (codes != BLANK)
    before = np.concatenate(([False], word[:-1]))
    after = np.concatenate((word[1:], [False]))
    starts = np.flatnonzero(sign | (word & ~before))
    ends = np.flatnonzero(sign | (word & ~after)) + 1
    return starts, ends, word[starts]


def hashed(each: Sequence[str]) -> Longs:
    """The hashes (w,) of words as sentences have them. Raises ValueError for what is not one word."""
    codes = encode(" ".join(each))
    starts, ends, _ = tokens(codes)
    if len(starts) != len(each):
        raise ValueError("a word was expected, not several or none")
    return Hasher(codes)(starts, ends)


class Hasher:
    """Hashes any ranges of a text's codes (Rabin and Karp, 1987) from one running sum."""

    def __init__(self, codes: Codes):
        powers, self._inverse = _powers(1 << max(CHUNK, len(codes)).bit_length())
        self._sums = np.zeros(len(codes) + 1, np.uint64)
        np.cumsum(powers[: len(codes)] * codes, out=self._sums[1:])

    def __call__(self, starts: Ints, ends: Ints) -> Longs:
        """The hashes (n,) of codes[start:end]."""
        return mixed((self._sums[ends] - self._sums[starts]) * self._inverse[starts])


@cache
def _powers(size: int) -> tuple[Longs, Longs]:
    """BASE**i and its inverse for i below size, modulo 2**64."""
    bases = (BASE, pow(BASE, -1, 2**64))
    first, second = (np.concatenate(([np.uint64(1)], np.cumprod(np.full(size - 1, base, np.uint64)))) for base in bases)
    return first, second


def mixed(value: Longs) -> Longs:
    """Spreads every bit over all of them."""
    for _ in range(2):
        value = value ^ (value >> np.uint64(32))
        value *= MIXER
    return value
