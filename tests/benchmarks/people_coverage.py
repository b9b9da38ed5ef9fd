"""Coverage of the interval of people's DR in simulation.

    python tests/benchmarks/people_coverage.py [--streams N] [--groups 2 …] [--until] [--doubt 0.09]

People are drawn as interval_coverage.py draws mentions, so the true DR is known. Mentions that name
nobody come beside them, of each group at its own rate. First stages go from perfect to useless; one
of them is wrong about one group. The reader says what is true. With --doubt it is wrong about each
group of a stream by a factor of its own, with that standard error, and the interval is told so; a
second figure is the coverage of one that is not. --until: reading ends once the
interval lies on one side of the gate's thresholds.
"""

from __future__ import annotations

import argparse
from math import sqrt

import numpy as np
from interval_coverage import CONFIDENCE, Cell, cells, draw, of_people
from numpy.typing import NDArray

from evenflow.schemas.documents import Cell as Read
from evenflow.schemas.documents import PeopleFigures
from evenflow.transforms.measures.representation.people import UNIT, estimate, read_until
from evenflow.transforms.models.people import DEVIATIONS

Floats = NDArray[np.float64]
IN_CELL = 6  # mentions that are read at once
DOCUMENTS, BUDGETS = (200, 1000, 5000), (64, 256)
NOBODY = (0.9, 0.2, 0.1, 0.1, 0.1)  # mentions of nobody for each person, by group
THRESHOLDS = (0.1, 0.2)
STAGES = ("perfect", "good", "weak", "useless", "wrong")


def chances(stage: str, people: NDArray[np.bool_], group: NDArray[np.int64], rng) -> Floats:
    """What a first stage says of mentions, (n,)."""
    if stage == "perfect":
        return people.astype(float)
    if stage == "useless":
        return np.full(len(people), 0.5)
    sharp = 6.0 if stage == "good" else 1.5
    first, second = np.where(people, sharp, 1.0), np.where(people, 1.0, sharp)
    found = rng.beta(first, second)
    return np.where(group == 0, found**0.3, found) if stage == "wrong" else found


def stream(
    counts: NDArray[np.int64], stage: str, budget: int, rng: np.random.Generator, doubt: float = 0
) -> tuple[PeopleFigures, dict[int, list[int]]]:
    """A stream of documents with `counts` people, (D, M): its figures, and what its cells say."""
    groups = counts.shape[1]
    nobody = rng.poisson(counts * np.array(NOBODY[:groups]))
    every = np.stack([counts, nobody], 2).reshape(-1)
    at = np.repeat(np.arange(len(every)), every)
    document, group, people = at // (2 * groups), at // 2 % groups, at % 2 == 0
    order = np.lexsort((rng.random(len(at)), document))
    document, group, people = document[order], group[order], people[order]
    first = np.searchsorted(document, np.arange(len(counts)))
    cell = (np.arange(len(at)) - first[document]) // IN_CELL
    chance = np.rint(chances(stage, people, group, rng) * UNIT).astype(np.int64)
    _, number = np.unique(document * 10_000 + cell, return_inverse=True)
    size = np.bincount(number, DEVIATIONS[chance])

    def summed(index: NDArray[np.int64], values: NDArray[np.int64], rows: int) -> NDArray:
        return np.bincount(index * groups + group, values, rows * groups).reshape(rows, groups)

    whole = summed(document, chance, len(counts))
    factor = 1 + doubt * rng.standard_normal(groups)  # of people that the reader sees
    said = people * UNIT * factor[group]
    if doubt:  # the first stage errs alike, as both learnt from the same text
        whole = np.rint(whole * factor).astype(np.int64)
    own, true = summed(number, chance, len(size)), summed(number, said, len(size))
    own = np.rint(own * factor) if doubt else own
    of = np.zeros(len(size), int)
    of[number] = document
    rank = rng.random(len(size)) / size
    chosen = np.argsort(rank)[: budget + 1]
    figures = PeopleFigures(
        len(counts),
        whole.sum(0).tolist(),
        (whole.T @ whole).tolist(),
        budget,
        [
            Read(float(rank[n]), int(size[n]), str(of[n]), list(whole[of[n]]), list(own[n]), str(n))
            for n in chosen
        ],
    )
    return figures, {int(n): true[n].tolist() for n in chosen}


def cover(
    cell: Cell, stage: str, budget: int, streams: int, until: bool, doubt: float
) -> tuple[float, str]:
    """Coverage of a setting in per cent, and its printed row."""
    rng = np.random.default_rng(cell.seed)
    found, read = [], []
    for _ in range(streams):
        figures, said = stream(draw(cell, 1, rng)[0], stage, budget, rng, doubt)
        if until:
            sums, number = read_until(
                figures, lambda one, said=said: said[int(one.text)], budget,
                cell.target.tolist(), CONFIDENCE, THRESHOLDS, doubt,
            )  # fmt: skip
        else:
            of = [said[int(each.text)] for each in figures.cells[:budget]]
            sums, number = estimate(figures, of), len(of)
        found.append(sums)
        read.append(number)
    got, share, without = of_people(cell, found, doubt)
    error = 196 * sqrt(share / 100 * (1 - share / 100) / streams)
    below, above = (got.high < cell.dr - 1e-9).mean(), (got.low > cell.dr + 1e-9).mean()
    return share, (
        f"{len(cell.target)} {cell.documents:5} {cell.dr:5.3f} {stage:8} {budget:5}"
        f" {np.mean(read):6.0f} {share:6.1f} ±{error:3.1f} {without:6.1f}"
        f" {100 * above:5.1f} {100 * below:5.1f} {(got.high - got.low).mean():7.4f}"
        f" {np.mean(got.dr) - cell.dr:+7.4f}"
    )


def main() -> None:
    """Print the table and its summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=1000, help="of each setting")
    parser.add_argument("--groups", type=int, nargs="*", default=[2, 3])
    parser.add_argument("--documents", type=int, nargs="*", default=list(DOCUMENTS))
    parser.add_argument("--budgets", type=int, nargs="*", default=list(BUDGETS))
    parser.add_argument("--stages", nargs="*", default=list(STAGES))
    parser.add_argument("--until", action="store_true")
    parser.add_argument("--doubt", type=float, default=0.0, help="standard error of the reader")
    parser.add_argument("--development", action="store_true", help="see interval_coverage.py")
    given = parser.parse_args()
    print("M  docs    DR stage   budget  read  cover  ±err  blind  low> high<   width    bias")
    shares: list[float] = []
    stages: dict[str, list[float]] = {}
    number = 0
    for cell in cells("development" if given.development else "report"):
        # The target's form goes round with the groups, documents and scores
        if len(cell.target) not in given.groups or cell.documents not in given.documents:
            continue
        number += 1
        for place, stage in enumerate(given.stages):
            budget = given.budgets[(number + place) % len(given.budgets)]
            share, line = cover(cell, stage, budget, given.streams, given.until, given.doubt)
            shares.append(share)
            stages.setdefault(stage, []).append(share)
            print(line, flush=True)
    seen = np.array(shares)
    inside = ((seen >= 93) & (seen <= 97)).sum()
    print(f"{len(seen)} settings: {inside} in 93 to 97 %, from {seen.min():.1f} to", end=" ")
    print(f"{seen.max():.1f}, mean {seen.mean():.2f}")
    for stage, own in stages.items():
        many = len(own) * given.streams
        share = float(np.mean(own))
        error = 196 * sqrt(share / 100 * (1 - share / 100) / many)
        print(f"{stage}: {share:.2f} ± {error:.2f} of {many} streams in {len(own)} settings")


if __name__ == "__main__":
    main()
