"""Coverage of DR's 95 % interval in simulation: python tests/benchmarks/interval_coverage.py
[--streams 300] [--groups 2 …]

Documents are drawn from a stream whose true DR is known: lengths geometric or lognormal, shares
within a document Dirichlet (so counts are overdispersed), and the shares drift with the length (so
long documents weigh and lean).

What the interval's constants were chosen on (--development) has other seeds, dispersions, length
laws and drifts than what is reported. The whole table takes some minutes on one core; --groups and
--documents print some of its rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import erf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from evenflow.transforms.measures.representation.interval import Intervals, intervals

Floats = NDArray[np.float64]
CONFIDENCE = 0.95
LONGEST = 3000  # mentions of a document, where the length laws are cut
DRAWN_AT_ONCE = 400_000  # documents, for memory
DOCUMENTS = (50, 200, 1000, 5000)
SCORES = (0.0, 0.02, 0.05, 0.2, 0.45, 0.9)  # DR; the last in units of the greatest possible score
TARGETS = {2: (0.6, 0.4), 3: (0.5, 0.3, 0.2), 5: (0.1, 0.35, 0.2, 0.2, 0.15)}
# A geometric law's mean, or a lognormal's mean and standard deviation of the logarithm.
LAWS = (("geometric", 7.0, 0.0), ("lognormal", 1.5, 0.6), ("lognormal", 1.0, 0.9))
OTHER_LAWS = (("geometric", 4.0, 0.0), ("lognormal", 1.0, 0.8))
# Concentrations of the shares within a document, length laws, drift of the shares with length, seed
SETTINGS = {
    "report": ((0.4, 2.0, 12.0), LAWS, 0.3, 20_000),
    "development": ((0.7, 1.0, 6.0), OTHER_LAWS, 0.4, 10_000),
}


@dataclass(frozen=True)
class Cell:
    """One row of the table. target, shares (M,); law: its name and two parameters."""

    number: int
    documents: int
    target: Floats
    shares: Floats
    shape: str
    concentration: float
    law: tuple[str, float, float]
    drift: float
    seed: int

    @property
    def dr(self) -> float:
        """The true score."""
        return float(np.abs(self.shares - self.target).sum() / 2)


def cells(name: str) -> Iterator[Cell]:
    """All rows; dispersion, length law and the deviation's shape go round."""
    concentrations, laws, drift, seed = SETTINGS[name]
    every = product(TARGETS, DOCUMENTS, SCORES, (True, False))
    for number, (groups, documents, level, uniform) in enumerate(every):
        target = np.full(groups, 1 / groups) if uniform else np.array(TARGETS[groups])
        shape = ("one", "pair", "spread")[number % 3]
        shares = deviate(target, shape, level if level < 0.9 else level * (1 - float(target.min())))
        mix = np.random.default_rng(seed + number)
        concentration = concentrations[mix.integers(len(concentrations))]
        law = laws[mix.integers(len(laws))]
        yield Cell(
            number, documents, target, shares, shape, concentration, law, drift, seed + number
        )


def deviate(target: Floats, shape: str, dr: float) -> Floats:
    """Shares (M,) with that score: one group above all others, one above one other (the rest on
    target), or spread out.

    Where that would take a share below 1/100 of its target, towards the rarest group alone.
    """
    groups = len(target)
    if shape == "one":
        direction = np.r_[1.0, -target[1:] / target[1:].sum()]
    elif shape == "pair":
        direction = np.r_[1.0, np.zeros(groups - 2), -1.0]
    else:
        direction = np.linspace(1, -1, groups)
        direction *= 2 / np.abs(direction).sum()
    shares = target + dr * direction
    if (shares < target / 100).any():
        rarest = np.eye(groups)[np.argmin(target)]
        shares = target + dr / (1 - target.min()) * (rarest - target)
    return shares


def lengths(law: tuple[str, float, float]) -> tuple[NDArray[np.int64], Floats]:
    """Numbers of mentions and their probabilities."""
    name, first, second = law
    n = np.arange(1, LONGEST + 1)
    if name == "geometric":
        weight = (1 - 1 / first) ** (n - 1)
    else:
        upper = np.array([0.5 * (1 + erf((log(k) - first) / second / sqrt(2))) for k in n.tolist()])
        weight = np.diff(upper, prepend=0.0)
    return n, weight / weight.sum()


def draw(cell: Cell, streams: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Counts (streams, D, M).

    The shares of a document with n mentions have mean p (1 + drift g(n) w), with E n g(n) = 0 and
    sum p w = 0: so the stream's shares, a ratio of expectations, are p exactly.
    """
    n, probability = lengths(cell.law)
    mass = n * probability
    lean = np.tanh(np.log(n / mass.sum()))
    lean -= (mass * lean).sum() / mass.sum()
    way = np.linspace(1, -1, len(cell.shares))
    way -= (cell.shares * way).sum()
    way /= np.abs(way).max() * max(1.0, np.abs(lean).max())
    at = rng.choice(len(n), size=streams * cell.documents, p=probability)
    alpha = cell.concentration * cell.shares * (1 + cell.drift * lean[:, None] * way)
    gamma = rng.standard_gamma(alpha[at]) + 1e-300
    within = gamma / gamma.sum(axis=1, keepdims=True)
    if len(cell.shares) == 2:
        first = rng.binomial(n[at], within[:, 0])
        counts = np.stack([first, n[at] - first], axis=1)
    else:
        counts = rng.multinomial(n[at], within * (1 - 1e-12))
    return counts.reshape(streams, cell.documents, -1)


def covered(low: Floats, high: Floats, dr: float) -> float:
    """Share of intervals that hold the score, in per cent."""
    return 100 * float(((low <= dr + 1e-9) & (high >= dr - 1e-9)).mean())


def row(cell: Cell, streams: int) -> tuple[str, float]:
    """The printed row of a cell, and its coverage in per cent."""
    rng = np.random.default_rng(cell.seed)
    at_once = max(1, DRAWN_AT_ONCE // cell.documents)
    totals, products = [], []
    for begin in range(0, streams, at_once):
        counts = draw(cell, min(at_once, streams - begin), rng)
        totals.append(counts.sum(axis=1))
        products.append(counts.transpose(0, 2, 1).astype(float) @ counts)
    found: Intervals = intervals(
        np.full(streams, float(cell.documents)),
        np.concatenate(totals).astype(float),
        np.concatenate(products),
        cell.target,
        CONFIDENCE,
    )
    share = covered(found.low, found.high, cell.dr)
    figures = (
        f"{share:6.1f} ±{196 * sqrt(share / 100 * (1 - share / 100) / streams):3.1f}"
        f" {100 * (found.low > cell.dr + 1e-9).mean():5.1f}"
        f" {100 * (found.high < cell.dr - 1e-9).mean():5.1f} {(found.high - found.low).mean():7.4f}"
        f" {found.dr.mean() - cell.dr:+8.4f} {found.corrected.mean() - cell.dr:+8.4f}"
    )
    uniform = "uniform" if np.ptp(cell.target) < 1e-12 else "other"
    law = f"{cell.law[0]} {cell.concentration:g}"
    return (
        (
            f"{len(cell.target)} {cell.documents:5} {cell.dr:5.3f}"
            f" {uniform:8}{cell.shape:7}{law:15}{figures}"
        ),
        share,
    )


def main() -> None:
    """Prints the table and its summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=2000, help="streams a cell")
    parser.add_argument("--groups", type=int, nargs="*", default=list(TARGETS))
    parser.add_argument("--documents", type=int, nargs="*", default=list(DOCUMENTS))
    parser.add_argument(
        "--development", action="store_true", help="the settings that constants were chosen on"
    )
    given = parser.parse_args()
    streams, began = given.streams, time.perf_counter()
    print(
        f"{streams} streams a cell; {100 * CONFIDENCE:g} % intervals; ± is 1.96 standard errors of"
        " the simulation"
    )
    print("M  docs    DR target  shape  length, conc.    cover  ±err  low>  high<   width", end="")
    print("     bias corrected")
    shares = []
    for cell in cells("development" if given.development else "report"):
        if len(cell.target) in given.groups and cell.documents in given.documents:
            line, share = row(cell, streams)
            shares.append(share)
            print(line, flush=True)
    seen = np.array(shares)
    inside = ((seen >= 93) & (seen <= 97)).sum()
    print(f"{len(seen)} cells: {inside} in 93 to 97 %", end="")
    print(f", from {seen.min():.1f} to {seen.max():.1f}, mean {seen.mean():.2f}")
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
