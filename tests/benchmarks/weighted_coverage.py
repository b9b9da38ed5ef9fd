"""Coverage of the weighted DR's 95 % interval in simulation:
python tests/benchmarks/weighted_coverage.py [--streams N] [--settings NAME …]

Documents are drawn as in interval_coverage.py: shares within a document are Dirichlet, lengths
geometric or lognormal, and long documents lean. Each has a source, which leans too, and mentions of
a second attribute, which no weight is asked for. Each stream's weights are calibrated on its own
documents, as a pane's are. The true score is what the same calibration reaches on TRUTH documents:
what the weighted score tends to. A met target is 0 in the stream and in truth, so every interval
holds it; these settings are left to the second attribute.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from interval_coverage import CONFIDENCE, Cell, covered, deviate, draw
from numpy.typing import NDArray

from evenflow.transforms.measures.representation.interval import intervals
from evenflow.transforms.repair.calibration import PRICE, Aim, Calibrator, Keep, ProfileWeights
from evenflow.transforms.repair.linearised import Linearised
from evenflow.transforms.repair.profiles import profiles

Floats = NDArray[np.float64]
TRUTH = 90_000  # documents: ten times as sure as the largest stream
SECOND = 0.5, 0.5  # target of the second attribute
POINTS, LENGTH = 0.01, 0.03


@dataclass(frozen=True)
class Setting:
    """How documents are drawn and weighed."""

    name: str
    cell: Cell
    limit: float
    floor: float = 0.0
    keep: bool = False


def settings() -> Iterator[Setting]:
    """All settings: cluster sizes, shares, weight limits, totals that stay."""
    laws = {"short": ("geometric", 4.0, 0.0), "long": ("lognormal", 1.5, 0.9)}
    rows = (
        (2, 200, "short", 0.40, 1.5, 0.0, False),
        (2, 1000, "long", 0.40, 2.0, 0.0, False),
        (2, 1000, "short", 0.30, 1.5, 0.0, True),
        (2, 1000, "short", 0.40, 4.0, 0.9, False),
        (2, 1000, "long", 0.30, 4.0, 0.8, True),
        (3, 1000, "short", 0.35, 4.0, 0.7, True),
        (3, 1000, "long", 0.35, 2.0, 0.0, False),
        (5, 1000, "short", 0.30, 2.0, 0.0, False),
        (2, 1000, "long", 0.20, 4.0, 0.0, True),
    )
    for number, (groups, documents, length, dr, limit, floor, keep) in enumerate(rows):
        target = np.full(groups, 1 / groups)
        cell = Cell(
            number,
            documents,
            target,
            deviate(target, ("one", "spread")[number % 2], dr),
            "one",
            2.0 if number % 2 else 0.6,
            laws[length],
            0.3,
            30_000 + number,
        )
        tail = f"{' keep' if keep else ''}{f' floor {floor:g}' if floor else ''}"
        yield Setting(
            f"{groups} groups, {documents}, {length}, limit {limit:g}{tail}",
            cell,
            limit,
            floor,
            keep,
        )


def others(
    counts: NDArray[np.int64], cell: Cell, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sources (S, D) and mentions of the second attribute (S, D, 2), both by what is named."""
    leans = counts[..., 0] > cell.shares[0] * counts.sum(axis=2)
    source = (rng.random(leans.shape) < np.where(leans, 0.7, 0.35)).astype(np.int64)
    size = rng.poisson(2 + 2 * source)
    first = rng.binomial(size, rng.beta(3, np.where(leans, 1.5, 4)))
    return source, np.stack([first, size - first], axis=2)


def calibrated(
    counts: NDArray[np.int64], source: NDArray[np.int64], own: Setting
) -> tuple[Calibrator, ProfileWeights, NDArray[np.int64]]:
    """The calibration of documents with counts (D, M) and sources (D,), and their profiles (D,)."""
    length = counts.sum(axis=1)
    of = profiles([*counts.T], [source], TRUTH)

    def total(amounts=None):
        return np.bincount(of, amounts).astype(float)

    size = np.stack([total(column) for column in counts.T], 1)
    aim = Aim("weighed", size, own.cell.target, np.zeros(size.shape[1]))
    keeps = []
    if own.keep:
        room, whole = POINTS * len(of), float(length.sum())
        keeps = [Keep("length", total(length), (1 - LENGTH) * whole, (1 + LENGTH) * whole)]
        for value in (0, 1):
            amounts = total(source == value)
            keeps.append(Keep(str(value), amounts, amounts.sum() - room, amounts.sum() + room))
    one = Calibrator(total(), [aim], keeps, own.limit, own.floor)
    # As `calibrate` does, to 2e-4 of DR, and without the least DR that it reports
    found = one._priced(PRICE, [aim], np.ones(len(one.documents)))
    return one, (one._cheaper(found, [aim]) if found.effective < own.floor else found), of


def score(sums: Floats, target: Floats) -> float:
    return float(np.abs(sums / sums.sum() - target).sum() / 2)


def row(own: Setting, streams: int) -> None:
    """Print a setting's row for each attribute."""
    rng = np.random.default_rng(own.cell.seed)
    targets = {"weighed": own.cell.target, "other": np.array(SECOND)}
    truth: dict[str, float] = {}
    found: dict[tuple[str, str], list] = {}
    effective = []
    for stream in range(-1, streams):
        cell = own.cell if truth else replace(own.cell, documents=TRUTH)
        [counts] = draw(cell, 1, rng)
        [source], [second] = others(counts[None], own.cell, rng)
        both = {"weighed": counts, "other": second}
        one, made, of = calibrated(counts, source, own)
        w = made.weights[of]
        if stream < 0:
            truth = {name: score(w @ each, targets[name]) for name, each in both.items()}
            continue
        effective.append(made.effective)
        linear = Linearised(one, made)
        columns = {name: list(each.T) for name, each in both.items()}
        for name, each in both.items():
            weighed = each * w[:, None]
            [terms] = linear.terms(of, columns, name, np.zeros(each.shape[1]), w)
            for kind, mine in (("plain", weighed), ("residuals", terms)):
                sums = each.any(axis=1).sum(), weighed.sum(axis=0), mine.T @ mine
                found.setdefault((name, kind), []).append(sums)
    for name in targets:
        shown = ""
        for kind in ("plain", "residuals"):
            rows = zip(*found[name, kind], strict=True)
            documents, totals, products = (np.array(each, float) for each in rows)
            got = intervals(documents, totals, products, targets[name], CONFIDENCE)
            share = covered(got.low, got.high, truth[name])
            error = 196 * sqrt(share / 100 * (1 - share / 100) / streams)
            shown += f" {np.mean(got.high - got.low):8.4f} {share:6.1f} ±{error:3.1f}"
        print(
            f"{own.name:45} {name:8} {truth[name]:6.4f} {np.mean(effective):6.3f}"
            f" {np.std(got.dr):7.4f} {shown}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--settings", nargs="*", help="parts of settings' names")
    given = parser.parse_args()
    began = time.process_time()
    print(
        f"{given.streams:,} streams a setting; plain: products of the weighted mentions; residuals:"
        " what the calibration leaves of them"
    )
    print(
        f"{'':45} {'':8} {'DR':6} {'eff.':>6} {'sd DR':>7}  {'plain: width, holds':>19}"
        f" {'residuals: width, holds':>27}"
    )
    for each in settings():
        if not given.settings or any(part in each.name for part in given.settings):
            row(each, given.streams)
    print(f"{time.process_time() - began:.0f} s of CPU")


if __name__ == "__main__":
    main()
