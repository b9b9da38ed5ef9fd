"""Speed of the search for maximal uncovered patterns: python tests/benchmarks/coverage.py [--quick]

Two tables are printed. The first: the ways to search, on tables of growing size with skewed values.
Brute force and the three algorithms of Asudeh et al. (2019) are written here with bitmaps, as in
the paper; array and search are Evenflow's. All must find the same. The second: 10 attributes of 5
values and 10 million records, with the time to count, to search and to add panes of 10,000 and of
100 records, and the peak memory of the process. Brute force over that lattice is not run: its last
column scales up the time of 200 of its patterns.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np

from evenflow.schemas.threshold import Threshold
from evenflow.transforms.measures.coverage.mups import Coverage, Cube, Known
from evenflow.transforms.measures.coverage.patterns import Lattice
from evenflow.transforms.measures.coverage.table import Table, count

Pattern = tuple[int, ...]


def table(attributes: int, values: int, records: int, seed: int, skew: float) -> Table:
    """Random records: value v has a share that falls by `skew` from each to the next."""
    rng = np.random.default_rng(seed)
    shares = skew ** -np.arange(values)
    shares /= shares.sum()
    lattice = Lattice([values] * attributes)
    codes = np.zeros(records, np.int64)
    for stride in lattice.strides:
        codes += rng.choice(values, records, p=shares) * stride
    names = tuple(f"a{i}" for i in range(attributes))
    each = tuple(f"v{i}" for i in range(values))
    return Table(names, (each,) * attributes, *count(codes, lattice), records)


class Bitmaps:
    """An inverted index: for each value the combinations that have it (Asudeh et al., 3.1)."""

    def __init__(self, of: Table):
        rows = of.lattice.decode(of.codes)
        self.sizes, self.counts = of.lattice.sizes.tolist(), of.counts
        self.bits = [
            [np.packbits(rows[:, i] == v) for v in range(size)] for i, size in enumerate(self.sizes)
        ]
        self.cache: dict[Pattern, int] = {}

    def cov(self, pattern: Pattern) -> int:
        if pattern not in self.cache:
            bits = None
            for own, v, size in zip(self.bits, pattern, self.sizes, strict=True):
                if v != size:
                    bits = own[v] if bits is None else bits & own[v]
            if bits is None:
                self.cache[pattern] = int(self.counts.sum())
            else:
                hits = np.unpackbits(bits, count=len(self.counts)).view(bool)
                self.cache[pattern] = int(self.counts[hits].sum())
        return self.cache[pattern]

    def parents(self, pattern: Pattern) -> list[Pattern]:
        return [
            (*pattern[:i], size, *pattern[i + 1 :])
            for i, (v, size) in enumerate(zip(pattern, self.sizes, strict=True))
            if v != size
        ]

    def right(self, pattern: Pattern) -> list[Pattern]:
        """Children that give a value right of the last one: each pattern once (rule 1)."""
        given = [i for i, v in enumerate(pattern) if v != self.sizes[i]]
        return [
            (*pattern[:i], v, *pattern[i + 1 :])
            for i in range(max(given, default=-1) + 1, len(pattern))
            for v in range(self.sizes[i])
        ]


def brute(of: Table, limit: int) -> set[Pattern]:
    """Every pattern is counted."""
    index = Bitmaps(of)
    every = [tuple(row) for row in of.lattice.decode(np.arange(of.lattice.patterns)).tolist()]
    low = {pattern for pattern in every if index.cov(pattern) < limit}
    return {p for p in low if not any(parent in low for parent in index.parents(p))}


def breaker(of: Table, limit: int) -> set[Pattern]:
    """PatternBreaker: level by level from the root, below covered patterns only."""
    index, found = Bitmaps(of), set()
    level, covered = {tuple(index.sizes)}, set()
    above: set[Pattern] = set()
    while level:
        covered = set()
        for pattern in level:
            if all(parent in above for parent in index.parents(pattern)):
                (covered if index.cov(pattern) >= limit else found).add(pattern)
        level = {child for pattern in covered for child in index.right(pattern)}
        above = covered
    return found


def combiner(of: Table, limit: int) -> set[Pattern]:
    """PatternCombiner: from whole combinations up, a count is the sum over one attribute."""
    index = Bitmaps(of)
    rows = of.lattice.decode(np.arange(of.lattice.patterns))
    full = rows[(rows != of.lattice.sizes).all(axis=1)].tolist()
    seen = dict(
        zip(map(tuple, of.lattice.decode(of.codes).tolist()), of.counts.tolist(), strict=True)
    )
    level = {p: n for row in full if (n := seen.get(p := tuple(row), 0)) < limit}
    found: set[Pattern] = set()
    while level:
        above: dict[Pattern, int] = {}
        for pattern in level:
            maximal = True
            for i, (v, size) in enumerate(zip(pattern, index.sizes, strict=True)):
                if v == size:
                    continue
                parent = (*pattern[:i], size, *pattern[i + 1 :])
                if parent not in above:
                    parts = [level.get((*pattern[:i], w, *pattern[i + 1 :])) for w in range(size)]
                    # A part that is covered makes the parent covered
                    above[parent] = limit if None in parts else sum(parts)  # type: ignore[arg-type]
                maximal &= above[parent] >= limit
            if maximal:
                found.add(pattern)
        level = {p: n for p, n in above.items() if n < limit}
    return found


def diver(of: Table, limit: int) -> set[Pattern]:
    """DeepDiver: down to an uncovered pattern, up from it to a MUP, which prunes the rest."""
    index = Bitmaps(of)
    found: list[Pattern] = []
    table = np.zeros((0, len(index.sizes)), np.int64)
    sizes = np.array(index.sizes)
    stack = [tuple(index.sizes)]
    while stack:
        pattern = stack.pop()
        row = np.array(pattern)
        if ((table == sizes) | (table == row)).all(axis=1).any():
            continue  # below a MUP
        is_above = len(table) and ((row == sizes) | (table == row)).all(axis=1).any()
        if not is_above and index.cov(pattern) < limit:
            while low := [p for p in index.parents(pattern) if index.cov(p) < limit]:
                pattern = low[0]
            if pattern not in found[-1:]:
                found.append(pattern)
                table = np.vstack([table, pattern])
        else:
            stack += index.right(pattern)
    return set(found)


def own(kind: Callable[..., Cube | Known]) -> Callable[[Table, int], set[Pattern]]:
    def run(of: Table, limit: int) -> set[Pattern]:
        counted = kind(of) if kind is Cube else kind(of, limit)
        return set(map(tuple, of.lattice.decode(counted.mups(limit)).tolist()))

    return run


WAYS = {
    "brute force": brute,
    "top-down": breaker,
    "bottom-up": combiner,
    "DeepDiver": diver,
    "search": own(Known),
    "array": own(Cube),
}


def compare(quick: bool) -> None:
    """Print the seconds of each way."""
    print(f"{'attributes':>10} {'values':>6} {'records':>9} {'τ':>6} {'MUPs':>6} ", end="")
    print("".join(f"{way:>12}" for way in WAYS))
    cases = [(5, 3, 20_000, 0.01), (6, 4, 100_000, 0.01), (7, 4, 100_000, 0.001)]
    for attributes, values, records, share in cases[: 2 if quick else 3]:
        data = table(attributes, values, records, 1, 1.6)
        limit = Threshold.parse(str(share)).needed(data.total)
        seconds, expected = [], None
        for way in WAYS.values():
            begin = time.perf_counter()
            found = way(data, limit)
            seconds.append(time.perf_counter() - begin)
            expected = found if expected is None else expected
            assert found == expected, "the ways disagree"
        print(f"{attributes:10} {values:6} {records:9,} {share:6} {len(expected or ()):6} ", end="")
        print("".join(f"{each:12.3f}" for each in seconds), flush=True)


def large(records: int, share: str, skew: float) -> None:
    """Print the time of 10 attributes of 5 values."""
    data = table(10, 5, 1000, 2, skew)
    rng = np.random.default_rng(4)
    shares = skew ** -np.arange(5.0)
    rows = rng.choice(5, (records, 10), p=shares / shares.sum()).astype(np.int8)
    begin = time.perf_counter()
    codes = np.zeros(records, np.int64)
    for i, stride in enumerate(data.lattice.strides):
        codes += rows[:, i] * stride
    whole = Table(data.attributes, data.values, *count(codes, data.lattice), records)
    counted = time.perf_counter() - begin
    del codes
    coverage = Coverage(whole, Threshold.parse(share))
    searched = time.perf_counter() - begin - counted
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    added = []
    for size in (10_000, 100):
        pane = table(10, 5, size, 5, skew)
        begin = time.perf_counter()
        coverage.add(pane)
        added.append(time.perf_counter() - begin)
    begin, sample = time.perf_counter(), 200
    index = Bitmaps(whole)
    for code in rng.integers(0, whole.lattice.patterns, sample).tolist():
        index.cov(tuple(whole.lattice.decode(np.array([code]))[0].tolist()))
    scaled = (time.perf_counter() - begin) / sample * whole.lattice.patterns
    print(
        f"{records:11,} {skew:5} {share:>7} {len(whole.codes):12,} {len(coverage.mups()):9,}"
        f" {counted:8.2f} {searched:9.2f} {added[0]:11.2f} {added[1]:8.2f} {peak:8.2f}"
        f" {scaled:14,.0f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller tables")
    parser.add_argument("--only-large", action="store_true", help="only the second table")
    given = parser.parse_args()
    if not given.only_large:
        compare(given.quick)
        print()
    print(
        f"{'records':>11} {'skew':>5} {'τ':>7} {'combinations':>12} {'MUPs':>9} {'count s':>8}"
        f" {'search s':>9} {'pane 10k s':>11} {'100 s':>8} {'peak GiB':>8} {'brute force s':>14}"
    )
    records = 100_000 if given.quick else 10_000_000
    for share, skew in (("0.001", 1.0), ("0.001", 1.6), ("1000", 1.6)):
        large(records, share, skew)


if __name__ == "__main__":
    main()
