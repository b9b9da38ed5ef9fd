"""Coverage of the interval of named people's DR in simulation.

    python tests/benchmarks/names_coverage.py [--streams N] [--documents 200 …] [--doubt 0]

People are drawn as interval_coverage.py draws mentions, so the true DR is known. First names are
drawn from the census by sex, and a name counts once a document. Words that name nobody come beside.
The recogniser is about as sharp as tests/benchmarks/names.py prints, and its chances are right but
for a factor of each sex in a stream, with the shipped standard error (`--doubt`: another one).
“blind” is the coverage of an interval that is not told of these factors.
"""

from __future__ import annotations

import argparse
from math import sqrt
from pathlib import Path

import numpy as np
from interval_coverage import Cell, cells, draw, of_people
from numpy.typing import NDArray

from evenflow.schemas.ledger import Sums
from evenflow.transforms.measures.names import recogniser
from evenflow.transforms.measures.names.measure import LEAST, UNIT

Floats = NDArray[np.float64]
SHARP = 0.15, 0.22  # of the beta law of chances: from 0.5 precision 0.88, recall 0.87


def census() -> Floats:
    """The census' shares of women and of men who bear each name, thousandths of a per cent."""
    path = Path(recogniser.__file__).with_name(recogniser.NAMES)
    lines = path.read_text(encoding="ascii").splitlines()
    return np.array([line.split("\t")[1:3] for line in lines if not line.startswith("#")], float)


def stream(
    counts: NDArray[np.int64], borne: Floats, doubt: float, rng: np.random.Generator
) -> Sums:
    """What the measure counts of documents with `counts` women and men, (D, 2)."""
    nobody = rng.poisson(counts * SHARP[1] / SHARP[0])
    every = np.stack([counts, nobody], 2).reshape(-1)
    at = np.repeat(np.arange(len(every)), every)
    document, sex, person = at // 4, at // 2 % 2, at % 2 == 0
    name = np.zeros(len(at), np.int64)
    for group in (0, 1):
        own = sex == group
        name[own] = rng.choice(len(borne), own.sum(), p=borne[:, group] / borne[:, group].sum())
    chance = rng.beta(SHARP[0] + person, SHARP[1] + ~person)
    chance *= (1 + doubt * rng.standard_normal(2))[sex]
    _, first = np.unique(document * len(borne) + name, return_index=True)
    first = first[chance[first] >= LEAST / UNIT]
    female = (borne[:, 0] + 0.5) / (borne.sum(1) + 1)
    women = chance[first] * female[name[first]]
    each = np.stack([women, chance[first] - women], 1)
    of = document[first]
    total = np.stack([np.bincount(of, part, len(counts)) for part in each.T], 1)
    products = total.T @ total + np.diag(total.sum(0)) - each.T @ each  # as `measure.expected`
    return Sums(
        documents=int(total.any(1).sum()),
        counts=total.sum(0).tolist(),
        products=products.tolist(),
    )


def row(cell: Cell, streams: int, borne: Floats, doubt: float) -> tuple[float, str]:
    """Coverage of a setting in per cent, and its printed row."""
    rng = np.random.default_rng(cell.seed)
    found = [stream(draw(cell, 1, rng)[0], borne, doubt, rng) for _ in range(streams)]
    got, share, without = of_people(cell, found, doubt)
    return share, (
        f"{cell.documents:5} {cell.dr:5.3f} {share:6.1f} {without:6.1f}"
        f" {(got.high - got.low).mean():7.4f} {got.dr.mean() - cell.dr:+7.4f}"
    )


def main() -> None:
    """Print the table and its summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=200, help="of each setting")
    parser.add_argument("--documents", type=int, nargs="*", default=[200, 1000])
    parser.add_argument("--doubt", type=float, default=recogniser.Recogniser.shipped().doubt)
    given = parser.parse_args()
    borne, shares = census(), []
    print(" docs    DR  cover  blind   width    bias")
    for cell in cells("report"):
        if len(cell.target) == 2 and cell.documents in given.documents:
            share, line = row(cell, given.streams, borne, given.doubt)
            shares.append(share)
            print(line, flush=True)
    mean = float(np.mean(shares))
    error = 196 * sqrt(mean / 100 * (1 - mean / 100) / len(shares) / given.streams)
    print(f"mean of {len(shares)} settings {mean:.1f} ± {error:.1f} %, from", end=" ")
    print(f"{min(shares):.1f} to {max(shares):.1f}")


if __name__ == "__main__":
    main()
