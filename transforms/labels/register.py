"""Whether a label is a word of prose in a text of code, markup, logs or manuals; it is learnt.

Two logistic regressions: one on the characters of a text says how technical it is; the other, with
that, on what stands beside a mention. The mentions of a label in a text are decided together.
`tests/benchmarks/register.py` fits both, and says from what. Texts that are surely prose have no
look.
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
LETTER, DIGIT, BLANK = re.compile(r"[^\W\d_]"), re.compile(r"\d"), re.compile(r"[ \t]")
TOKEN = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_|\n")
FUNCTION, FEW = 3, 6  # letters at most of most words of grammar; words that say of their share
STEP, DENSEST = 40, 6  # the density of symbols is in steps of 1/40, up to 6 of them
SURE = 1  # steps from which a text is surely prose
LOGITS, FURTHEST = 1.5, 4  # how technical a text is: in steps of 1.5 logits, up to 4 of them


class Model(NamedTuple):
    """The weights: of 128 characters and a last one for the text; of each sign, in hundredths."""

    characters: Floats
    signs: dict[str, int]


@cache
def shipped() -> Model:
    """The model of `register_model.json`; the weight of the empty sign is always added."""
    read = json.loads(data(PATH))
    return Model(np.array(read["characters"]), read["signs"])


def symbols(text: str) -> int:
    """The number of ASCII characters in a text that prose seldom has."""
    return len(text.encode("ascii", "ignore").translate(None, PROSE))


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
    texts: Sequence[str],
    begins: Ints,
    owners: Ints,
    starts: Ints,
    ends: Ints,
    labels: Ints,
    registers: Mapping[int, int],
) -> npt.NDArray[np.bool_]:
    """Find the mentions that are words of prose.

    Args:
        texts: The documents, (D,).
        begins: Where each begins where they are joined, (D,).
        owners: The numbers of the mentions' documents, (n,).
        starts: Where the mentions start there, (n,).
        ends: Where they end there, (n,).
        labels: Their labels, (n,).
        registers: The registers of the texts that have mentions, from `registers_of`.

    Returns:
        Whether each mention is one, (n,).
    """
    kept = np.ones(len(starts), bool)
    looked = np.array([registers.get(number, SURE) < SURE for number in range(len(texts))], bool)
    touch = np.append(starts[1:] == ends[:-1], False)  # the halves of an inclusive form stay
    some = (looked[owners] & ~touch & ~np.append(False, touch[:-1])).nonzero()[0]
    places = defaultdict[tuple[int, int], list[int]](list)
    for place, owner, label in zip(some, owners[some], labels[some], strict=True):
        places[int(owner), int(label)].append(int(place))
    for (owner, _), own in places.items():
        spans = np.stack((starts[own[:MOST]], ends[own[:MOST]]), 1) - begins[owner]
        kept[own] = is_prose(texts[owner], spans.tolist(), registers[owner])
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
        register with some of that (T).
    """
    word = text[start:end]
    left, right = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    density = symbols(left + right) / max(1, len(left) + len(right))
    step, mention = min(DENSEST, int(density * STEP)), f"w={word.lower()}"
    before, behind = TOKEN.findall(left), TOKEN.findall(right)
    words = [near for near in before + behind if near.isalpha()]
    short = sum(len(near) <= FUNCTION and near.islower() for near in words) * 10
    before, behind = before[-NEAR:], behind[:NEAR]
    last, next_ = before[-1] if before else "^", behind[0] if behind else "$"
    capitals = _capitals(word)
    further = (next(filter(str.isalpha, each), "^") for each in (reversed(before), behind))
    yield ""
    yield mention
    yield f"{mention}T{max(-2, min(2, register // 2))}"
    yield f"T={register}"
    yield f"d={step}"
    yield f"d={step}T{register}"
    yield f"f={min(5, short // len(words)) if len(words) >= FEW else 'few'}"
    yield from {f"b={near.lower()}" for near in before + behind if near.isalpha()}
    before_it, behind_it = _shape(left[-2:]), _shape(right[:2])
    yield f"<{before_it[-1:]}"
    yield f">{behind_it[:1]}"
    yield f"k={capitals.join(map(_capitals, further))}"
    for sign in (
        f"c={capitals}",
        f"s={_capitals(last)}{capitals}{_capitals(next_)}",
        f"p={last.lower()}",
        f"n={next_.lower()}",
        f"<<{before_it}",
        f">>{behind_it}",
    ):
        yield sign
        yield f"{mention}{sign}"


def is_prose(text: str, spans: Sequence[tuple[int, int]], register: int) -> bool:
    """Whether the mentions of a label, at these spans of a text, are words of prose on average."""
    weights = shipped().signs
    return sum(weights.get(each, 0) for span in spans for each in signs(text, *span, register)) > 0


def _capitals(word: str) -> str:
    """U: in capitals; T: with one; l: without; x: no word."""
    if len(word) > 1 and word.isupper():
        return "U"
    return "T" if word[:1].isupper() else "l" if word[:1].islower() else "x"


@lru_cache(1024)
def _shape(text: str) -> str:
    """Characters with a letter for each letter, and a digit for each digit."""
    return BLANK.sub("_", DIGIT.sub("9", LETTER.sub("a", text)))
