"""Design effects: how much less the records of documents say than as many independent ones.

The share p of a pattern is a ratio of sums over documents, which are clusters: a_d of a document's
n_d records match. Its linearised variance (Cochran 1977, section 11.8; Korn and Graubard 1998) is
Σ(a_d - p n_d)² / (Σ n_d)². It needs Σ a_d², Σ a_d n_d and Σ n_d², which can be added. A square is
no sum over combinations of values, so these sums are kept for each pattern that occurs.

What is in few documents tells little of its own variance. So a design effect is at least that of
all patterns together. It is at most Kish's, which takes a document's records to be all alike. Few
or unequal documents widen the interval as Student's t does, with the effective number of documents,
(Σ n_d)² / Σ n_d², less one as degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from evenflow.transforms.measures.coverage.patterns import Counts, Ints, Lattice

LEVEL = 2  # most values of a pattern whose sums are kept: their number grows with its power
FEWEST = 2.0  # effective documents that a variance needs


@dataclass(frozen=True)
class Clusters:
    """Sums over documents for each pattern with at most LEVEL values that occurs, X everywhere too.

    `codes`: The patterns, ascending, (n,). `aa`: Σ a_d² of each, (n,). `an`: Σ a_d n_d of each,
    (n,).
    """

    codes: Ints
    aa: Counts
    an: Counts

    @classmethod
    def of(
        cls, lattice: Lattice, values: Sequence[Sequence[str]], counted: Mapping[str, Any]
    ) -> Clusters:
        """Read what `sums` returned, or what was added up of it."""
        places = [{value: i for i, value in enumerate(each)} for each in values]
        rows = [
            [
                len(own) if value is None else own[value]
                for own, value in zip(places, orjson.loads(key), strict=True)
            ]
            for key in counted["aa"]
        ]
        codes = lattice.encode(np.array(rows, np.int64).reshape(-1, len(values)))
        order = np.argsort(codes)
        aa, an = (np.array([counted[of][key] for key in counted["aa"]]) for of in ("aa", "an"))
        return cls(codes[order], aa[order], an[order])


class DesignEffects:
    """The design effects of patterns.

    `counts`: Records that match each of their patterns, (n,).
    """

    def __init__(self, clusters: Clusters, counts: Counts, total: float, squares: float):
        shares = counts / total
        variances = clusters.aa - 2 * shares * clusters.an + shares**2 * squares
        plain = shares * (1 - shares) * total  # of independent records, also times total²
        documents = total**2 / squares
        self._codes, self._total, self._kish = clusters.codes, total, squares / total
        self._pooled, self._own = self._kish, np.full(len(counts), self._kish)
        if documents >= FEWEST and plain.any():
            from scipy.special import ndtri, stdtrit  # most runs need none of scipy

            widened = (stdtrit(documents - 1, 0.975) / ndtri(0.975)) ** 2
            widened *= documents / (documents - 1)
            own = np.divide(variances, plain, out=np.zeros(len(counts)), where=plain > 0)
            self._pooled = float(np.clip(variances.sum() / plain.sum() * widened, 1, self._kish))
            self._own = np.clip(own * widened, self._pooled, self._kish)

    def squares(self, codes: Ints, levels: Ints) -> npt.NDArray[np.float64]:
        """What stands for Σ n_d² in the interval of each pattern (`threshold.interval`), (n,)."""
        places = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        own = np.where(self._codes[places] == codes, self._own[places], self._pooled)
        return self._total * np.where(levels <= LEVEL, own, self._kish)


def sums(
    owners: Ints, sizes: Ints, of: Ints, rows: Sequence[Sequence[Sequence[str]]]
) -> dict[str, dict[str, int]]:
    """Sum over documents, for each pattern with at most LEVEL values.

    `owners`: The document of each record, (U,). `sizes`: The number of records of each document,
    (D,). `of`: The number of each record's combination, (U,).
    """
    names: dict[tuple[str | None, ...], int] = {}
    matched = [
        [names.setdefault(each, len(names)) for each in _patterns(values)] for values in rows
    ]
    cells, counts = np.unique(owners * len(rows) + of, return_counts=True)
    lengths = np.array([len(each) for each in matched], np.int64)[cells % len(rows)]
    hit = [each for cell in (cells % len(rows)).tolist() for each in matched[cell]]
    keys = np.repeat(cells // len(rows), lengths) * len(names) + np.array(hit, np.int64)
    pairs, places = np.unique(keys, return_inverse=True)
    a = np.bincount(places, np.repeat(counts, lengths)).astype(np.int64)
    documents, patterns = pairs // len(names), pairs % len(names)
    found = {"aa": a * a, "an": a * sizes[documents]}
    added = {name: np.bincount(patterns, each, len(names)) for name, each in found.items()}
    return {
        name: {
            orjson.dumps(each).decode(): int(own)
            for each, own in zip(names, values.tolist(), strict=True)
        }
        for name, values in added.items()
    }


def few_values(lattice: Lattice, most: int) -> Iterator[Ints]:
    """The patterns with one to LEVEL values, by their attributes; not where there are too many."""
    for chosen in _subsets(len(lattice.sizes)):
        sizes = lattice.sizes[list(chosen)]
        if chosen and np.prod(sizes.astype(float)) <= most:
            digits = np.tile(lattice.sizes, (int(sizes.prod()), 1))
            digits[:, chosen] = np.indices(sizes.tolist()).reshape(len(sizes), -1).T
            yield lattice.encode(digits)


def below(codes: Ints, lattice: Lattice, above: Ints) -> npt.NDArray[np.bool_]:
    """Which patterns have more values than one of `above`, and all of its; (n,)."""
    digits, out = lattice.decode(codes), np.zeros(len(codes), bool)
    for chosen in _subsets(len(lattice.sizes)):
        fewer = np.tile(lattice.sizes, (len(codes), 1))
        fewer[:, chosen] = digits[:, chosen]
        general = lattice.encode(fewer)
        out |= np.isin(general, above) & (general != codes)
    return out


def _subsets(attributes: int) -> Iterator[tuple[int, ...]]:
    for size in range(LEVEL + 1):
        yield from combinations(range(attributes), size)


def _patterns(values: Sequence[Sequence[str]]) -> Iterator[tuple[str | None, ...]]:
    """The patterns with at most LEVEL values that a record matches."""
    for chosen in _subsets(len(values)):
        for own in product(*(values[i] for i in chosen)):
            given = dict(zip(chosen, own, strict=True))
            yield tuple(given.get(i) for i in range(len(values)))
