"""Whether a label is a word of prose, no token of code and no part of a name; it is learnt.

Three logistic regressions: one on the characters of a text says how technical it is; the others,
with that, on what stands beside a mention. In a technical text the mentions of a label are decided
together. In every text a mention with a capital may be a part of a name, as in “Butler University”.
`tests/benchmarks/register.py` fits them, and says from what.
"""

from __future__ import annotations

import json
import re
import string
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenflow.transforms.labels.matching import Found
from evenflow.transforms.text.shipped import data

PATH = Path(__file__).with_name("register_model.json")
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
LEARNT = frozenset(["gender", "age", "religion"])  # attributes whose lists it was fitted with
BEGINNING = 2048  # characters of a text that say of which register it is
TOGETHER = 128  # texts whose characters are counted together, in the processor's cache
SHORT = 200  # characters below which a text says of no register
PROSE = (string.ascii_letters + string.digits + string.whitespace + ".,'\"!?-").encode()
AROUND = 80  # characters on each side that are read
NEAR = 6  # words or marks on each side that are read
MOST = 8  # mentions of a label that are read in a text
# What signs of a name, in hundredths of a logit, must come to: those of a label, with a capital,
# and those before the empty sign; below, 1 in 100 names is found with all of them
LABEL, GLANCE = -80, -40
LETTER, DIGIT, BLANK = re.compile(r"[^\W\d_]"), re.compile(r"\d"), re.compile(r"[ \t]")
TOKEN = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_|\n")
FUNCTION, FEW = 3, 6  # letters at most of most words of grammar; words that say of their share
STEP, DENSEST = 40, 6  # the density of symbols is in steps of 1/40, up to 6 of them
SURE = 1  # steps from which a text is surely prose
LOGITS, FURTHEST = 1.5, 4  # how technical a text is: in steps of 1.5 logits, up to 4 of them


class Model(NamedTuple):
    """The weights: of 128 characters and a last one for the text; of each sign, in hundredths.

    Attributes:
        signs: That a mention is a word of prose, in a technical text.
        names: That a mention with a capital is part of a name.
    """

    characters: Floats
    signs: dict[str, int]
    names: dict[str, int]


@cache
def shipped() -> Model:
    """The model of `register_model.json`; the weight of the empty sign is always added."""
    read = json.loads(data(PATH))
    return Model(np.array(read["characters"]), read["signs"], read["names"])


def characters(texts: Sequence[str]) -> Floats:
    """How often ASCII's characters stand at texts' beginnings: log(1 + per mille), (D, 128)."""
    raws = [text[:BEGINNING].encode("ascii", "ignore").replace(b"\r", b"") for text in texts]
    lengths = np.fromiter(map(len, raws), np.int64, len(raws))
    keys = np.repeat(np.arange(len(raws)) * 128, lengths)
    keys += np.frombuffer(b"".join(raws), np.uint8)
    counts = np.bincount(keys, minlength=len(raws) * 128).reshape(-1, 128)
    return np.log1p(counts * (1000 / np.maximum(1, lengths))[:, None])


def registers(texts: Sequence[str], weights: Floats) -> list[int]:
    """Of which register texts are, in steps: below 0 technical, above 0 prose."""
    # Not by a matrix product, whose last bits depend on how many texts there are
    logits = (characters(texts) * weights[:-1]).sum(axis=1) + weights[-1]
    return np.clip(np.floor(logits / LOGITS), -FURTHEST, FURTHEST).astype(int).tolist()


def registers_of(texts: Sequence[str], numbers: Collection[int]) -> dict[int, int]:
    """The registers of the texts of some numbers; a short one counts as prose."""
    long = [number for number in numbers if len(texts[number]) >= SHORT]
    parts = (long[at : at + TOGETHER] for at in range(0, len(long), TOGETHER))
    read = (registers([texts[at] for at in part], shipped().characters) for part in parts)
    return dict.fromkeys(numbers, SURE) | dict(zip(long, chain(*read), strict=True))


def of_prose(
    joined: str,
    texts: Sequence[str],
    begins: Ints,
    owners: Ints,
    seen: Found,
    registers: Mapping[int, int],
    looks: npt.NDArray[np.bool_],
) -> npt.NDArray[np.bool_]:
    """Find the mentions that are words of prose.

    Args:
        joined: The documents, joined.
        texts: The documents, (D,).
        begins: Where each begins there, (D,).
        owners: The numbers of the mentions' documents, (n,).
        seen: The mentions there, n of them.
        registers: The registers of the texts that have mentions, from `registers_of`.
        looks: Whether each label may be a part of a name, by number (`may_name`).

    Returns:
        Whether each mention is one, (n,).
    """
    starts, ends = seen.starts, seen.ends
    kept = np.ones(len(starts), bool)
    looked = np.array([registers.get(number, SURE) < SURE for number in range(len(texts))], bool)
    touch = np.append(starts[1:] == ends[:-1], False)  # the halves of an inclusive form stay
    alone = ~touch & ~np.append(False, touch[:-1])

    def rows(some: Ints) -> Iterator[tuple[int, ...]]:
        own = owners[some]
        parts = own, seen.labels[some], starts[some] - begins[own], ends[some] - begins[own]
        return zip(some.tolist(), *(part.tolist() for part in parts), strict=True)

    places = defaultdict[tuple[int, int], list[tuple[int, int, int]]](list)
    for place, owner, label, start, end in rows((looked[owners] & alone).nonzero()[0]):
        places[owner, label].append((place, start, end))
    for (owner, _), own in places.items():
        spans = [each[1:] for each in own[:MOST]]
        kept[[each[0] for each in own]] = is_prose(texts[owner], spans, registers[owner])
    some = (kept & alone & looks[seen.labels]).nonzero()[0]
    heads = np.array([joined[at].isupper() for at in starts[some].tolist()], bool)
    for place, owner, _, start, end in rows(some[heads]):
        if texts[owner][start : start + 2].istitle():
            kept[place] = not is_name(texts[owner], start, end, registers[owner])
    return kept


def signs(text: str, start: int, end: int, register: int) -> Iterator[str]:
    """Yield what says of which register a mention is.

    Args:
        text: The text of its document.
        start: Where the mention starts.
        end: Where it ends.
        register: The text's, from `registers_of`.

    Yields:
        The mention (w), the words or marks beside it (p, n) and near it (b), the shapes of the two
        characters before and behind, the capitals of it (c), of its neighbours (s) and of the next
        words (k), the share of short words (f), the density of symbols around it (d), and the
        register with some of that (T). The empty sign stands before those that take time.
    """
    word = text[start:end]
    left, right = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    capitals, mention = _capitals(word), f"w={word.lower()}"
    before_it, behind_it = _shape(left[-2:]), _shape(right[:2])
    yield from (mention, f"{mention}T{max(-2, min(2, register // 2))}", f"T={register}")
    yield from (f"<{before_it[-1:]}", f">{behind_it[:1]}")
    for sign in f"c={capitals}", f"<<{before_it}", f">>{behind_it}":
        yield from (sign, f"{mention}{sign}")
    yield ""
    symbols = len((left + right).encode("ascii", "ignore").translate(None, PROSE))
    step = min(DENSEST, symbols * STEP // max(1, len(left) + len(right)))
    before, behind = TOKEN.findall(left), TOKEN.findall(right)
    words = [near for near in before + behind if near.isalpha()]
    short = len([1 for near in words if len(near) <= FUNCTION and near.islower()]) * 10
    before, behind = before[-NEAR:], behind[:NEAR]
    last, next_ = before[-1] if before else "^", behind[0] if behind else "$"
    further = (next(filter(str.isalpha, each), "^") for each in (reversed(before), behind))
    yield from (f"d={step}", f"d={step}T{register}")
    yield f"f={min(5, short // len(words)) if len(words) >= FEW else 'few'}"
    yield from {f"b={near.lower()}" for near in before + behind if near.isalpha()}
    yield f"k={capitals.join(map(_capitals, further))}"
    shapes = f"s={_capitals(last)}{capitals}{_capitals(next_)}"
    for sign in shapes, f"p={last.lower()}", f"n={next_.lower()}":
        yield from (sign, f"{mention}{sign}")


def is_prose(text: str, spans: Sequence[tuple[int, int]], register: int) -> bool:
    """Whether the mentions of a label, at these spans of a text, are words of prose on average."""
    weights = shipped().signs
    return sum(weights.get(each, 0) for span in spans for each in signs(text, *span, register)) > 0


def may_name(labels: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Whether each label has a look where it has a capital, (n,)."""
    weights = shipped().names
    own = [sum(weights.get(f"w={each}{more}", 0) for more in ("", "c=T")) for each in labels]
    return np.array(own, np.int64) > LABEL


def is_name(text: str, start: int, end: int, register: int) -> bool:
    """Whether a mention with a capital is a part of a name."""
    weights, logit = shipped().names, 0
    for sign in signs(text, start, end, register):
        logit += weights.get(sign, 0)
        if not sign and logit < GLANCE:
            return False
    return logit > 0


def _capitals(word: str) -> str:
    """U: in capitals; T: with one; l: without; x: no word."""
    if len(word) > 1 and word.isupper():
        return "U"
    return "T" if word[:1].isupper() else "l" if word[:1].islower() else "x"


@lru_cache(1024)
def _shape(text: str) -> str:
    """Characters with a letter for each letter, and a digit for each digit."""
    return BLANK.sub("_", DIGIT.sub("9", LETTER.sub("a", text)))
