"""Counts mentions by stratum: a source of documents that is compared with itself.

A stratum is the value of a field (`reference.by`), else a file: its name without digits and ending,
so that the parts of one data set are one stratum. A file whose name says nothing, or that is one
document, counts by its folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import PurePosixPath
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from evenflow.schemas.ledger import Sums
from evenflow.transforms.io import formats
from evenflow.transforms.io.blocks import BETWEEN, position
from evenflow.transforms.io.fields import by_name, values_of
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.searched import Searched
from evenflow.transforms.measures.measure import Columns, Counter
from evenflow.wordlists.loader import WordList

MOST = 256  # strata that are kept apart: an entry of the ledger stays below 40 kB
LONGEST_NUMBER = 16  # characters of a number in a text, which comes from outside
OTHER = "other"  # the strata that came after the first 255
NONE = "none"  # documents without the field
LONGEST = 64  # characters of a name; it is data from outside
SAYS_NOTHING = frozenset(
    ("", "part", "data", "train", "test", "shard", "chunk", "split", "documents")
)

Ints = npt.NDArray[np.int64]
# Documents with a mention, counts (M,), upper triangle of the products (M, M), and documents that a
# group leads, with more than half of their mentions (M,). Older outputs do not have the last
Packed = list[int]
Unit = Literal["mentions", "documents"]  # what is compared: mentions, or documents by their group
UNITS: tuple[Unit, ...] = get_args(Unit)
Strata = dict[str, tuple[int, dict[str, Packed]]]  # all documents, and sums by attribute


@lru_cache(maxsize=1024)
def of_file(name: str) -> str:
    """The stratum of a file, from its name alone; of a partition the topic and its number."""
    if name.startswith("kafka:"):
        return _printable(name.removeprefix("kafka:"))
    path = PurePosixPath(name)
    stem = re.sub(r"[\W\d_]+(of)?[\W\d_]*$|^[\W\d_]+", "", path.name.split(".")[0])
    if formats.of(name).is_text or stem.lower() in SAYS_NOTHING:
        stem = path.parent.name or stem
    return _printable(stem) or NONE


def of_value(value: object) -> str:
    """The stratum of a document, by the value of its field."""
    return NONE if value is None else _printable(str(value))


def _printable(name: str) -> str:
    """A name as terminals and pages can show it."""
    return "".join(each if each.isprintable() else " " for each in name[:LONGEST])


class StratumCounter(Counter):
    """Counts mentions by stratum.

    Args:
        field: The field whose values are strata; None: files are.
        lists: The word lists of the measured attributes.
    """

    def __init__(self, field: str | None, lists: Sequence[WordList]):
        self._field, self._lists = field, lists
        self.fields = () if field is None else (field,)

    def count(
        self, found: Documents, piece: Searched, columns: Columns | None = None
    ) -> dict[str, Any]:
        """Count documents that were searched together (see `Counter.count`)."""
        counts = {
            each.attribute: piece.counts(number, len(each.groups))
            for number, each in enumerate(self._lists)
        }
        size = len(piece.texts)
        if self._field is None and BETWEEN not in found.file:  # one file: one name
            every = {attribute: pack(own) for attribute, own in counts.items()}
            return {of_file(found.file): _sums(size, every)}
        return by_stratum(self.names(found, piece.first, piece.first + size), counts)

    def names(self, found: Documents, first: int, last: int) -> list[str]:
        """The strata of some documents of a block."""
        if self._field is None:
            return [of_file(position(found.file, place)[0]) for place in found.places[first:last]]
        cell = by_name(found.fields.items(), {self._field}).get(self._field)
        values = [None] * last if cell is None else values_of(*cell)
        return [of_value(each) for each in values[first:last]]


def by_stratum(names: Sequence[str], counts: Mapping[str, Ints]) -> dict[str, Any]:
    """What a counter counts of documents by stratum, so that it adds up key by key.

    Args:
        names: The documents' strata (D,).
        counts: Their mentions (D, M), by attribute.
    """
    every, codes = np.unique(np.array(names, object), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    first = np.searchsorted(codes[order], np.arange(len(every)))
    sizes = np.diff(first, append=len(names)).tolist()
    sums = {
        attribute: np.add.reduceat(numbers_of(own)[order], first).tolist()
        for attribute, own in counts.items()
    }
    return {
        name: _sums(sizes[at], {attribute: own[at] for attribute, own in sums.items()})
        for at, name in enumerate(every.tolist())
    }


def _sums(documents: int, every: Mapping[str, Packed]) -> dict[str, Any]:
    """The sums of a stratum's documents."""
    attributes = {
        attribute: {str(at): each for at, each in enumerate(own)}
        for attribute, own in every.items()
        if own[0]
    }
    return {"documents": documents, "attributes": attributes}


@cache
def triangle(groups: int) -> tuple[Ints, Ints]:
    """The rows and columns of the upper triangle of a matrix (M, M)."""
    return np.triu_indices(groups)


def numbers_of(counts: Ints) -> Ints:
    """What documents (D, M) add to packed sums, (D, K)."""
    rows, columns = triangle(counts.shape[1])
    naming = counts.any(axis=1, keepdims=True).astype(np.int64)
    led = (2 * counts > counts.sum(axis=1, keepdims=True)).astype(np.int64)
    products = counts[:, rows] * counts[:, columns]
    return np.concatenate([naming, counts, products, led], axis=1)


def pack(counts: Ints) -> Packed:
    """The sums of mentions (D, M) that a verdict needs, as one list."""
    return numbers_of(counts).sum(axis=0).tolist()


def symmetric(upper: npt.NDArray[Any], groups: int) -> npt.NDArray[Any]:
    """Symmetric matrices (..., M, M) from their upper triangles (..., T)."""
    out = np.zeros((*upper.shape[:-1], groups, groups), upper.dtype)
    rows, columns = triangle(groups)
    out[..., rows, columns] = out[..., columns, rows] = upper
    return out


def unpacked(packed: Sequence[int]) -> Sums:
    """The sums that DR and its interval need, of a packed list."""
    groups = groups_of(packed)
    upper = np.array(packed[1 + groups :][: len(triangle(groups)[0])], object)
    products = symmetric(upper, groups).tolist()
    return Sums(documents=packed[0], counts=packed[1 : 1 + groups], products=products)


def groups_of(packed: Sequence[int]) -> int:
    """M of a packed list of 1 + M + M (M + 1) / 2 numbers, or of M more."""
    return int((-3 + (9 + 8 * (len(packed) - 1)) ** 0.5) / 2)


def packed_size(groups: int) -> int:
    """The number of numbers in a packed list of M groups."""
    return 1 + 2 * groups + groups * (groups + 1) // 2


def has_led(packed: Sequence[int]) -> bool:
    """Whether a packed list says how many documents are led by each group."""
    return len(packed) == packed_size(groups_of(packed))


def short(packed: Sequence[int]) -> list[int]:
    """A packed list with -n for n > 1 zeros in a row, as the ledger keeps it."""
    out: list[int] = []
    for each in packed:
        if each == 0 and out and out[-1] <= 0:
            out[-1] = min(out[-1], -1) - 1
        else:
            out.append(each)
    return out


def long(packed: Sequence[int], most: int) -> Packed:
    """The packed list that was made short; it has at most so many numbers.

    Raises:
        ValueError: It has more.
    """
    if sum(max(-each, 1) for each in packed) > most:
        raise ValueError(f"a packed list has at most {most} numbers")
    return [number for each in packed for number in ([each] if each > 0 else [0] * max(-each, 1))]


def text_of(own: Sequence[Any]) -> str:
    """A stratum's documents and its short lists as one word each: numbers of base 36."""
    documents, *lists = own
    return " ".join(
        ",".join(np.base_repr(each, 36) for each in one) for one in ([documents], *lists)
    )


def of_text(text: str) -> list[Any]:
    """The documents and the short lists of a stratum that were written as words.

    Raises:
        ValueError: They are none.
    """
    [documents], *lists = (
        [int(each[:LONGEST_NUMBER], 36) for each in word.split(",") if each]
        for word in text.split(" ")
    )
    return [documents, *lists]


def packed(figures: Mapping[str, Any]) -> Strata:
    """What a pane's counters counted, packed."""
    return {
        name: (
            own["documents"],
            {
                attribute: [each[str(at)] for at in range(len(each))]
                for attribute, each in sorted(own["attributes"].items())
            },
        )
        for name, own in sorted(figures.items())
    }


def pooled(strata: Strata, kept: Sequence[str]) -> Strata:
    """Strata with the newest ones in `other`, so that there are at most MOST with the kept ones."""
    known = set(kept)
    room = MOST - 1 - len(known - {OTHER})
    fresh = sorted(name for name in strata if name not in known and name != OTHER)
    fresh.sort(key=lambda name: -strata[name][0])
    named = known | set(fresh[: max(room, 0)])
    out: Strata = {name: each for name, each in strata.items() if name in named}
    for name in sorted(strata.keys() - named):
        out = added(out, {OTHER: strata[name]})
    return dict(sorted(out.items()))


def plus(a: Packed, b: Packed) -> Packed:
    """The sums of two; without led documents where one, of an older output, does not have them."""
    return [x + y for x, y in zip(a, b, strict=False)]


def added(a: Strata, b: Strata) -> Strata:
    """The sums of two."""
    out = dict(a)
    for name, (documents, own) in b.items():
        before, known = out.get(name, (0, {}))
        more = {n: plus(known[n], each) if n in known else list(each) for n, each in own.items()}
        out[name] = before + documents, known | more
    return out
