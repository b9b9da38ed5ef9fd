"""Compares weights with a linear program on real documents, and times them on many.

    python tests/benchmarks/calibration.py documents.jsonl.gz --by source

The least DR of each attribute alone and the least sum of all are found by HiGHS, over single
documents, with the same bounds: weights from 1 / limit to limit, the share of each source within
one point, the length within 3 %. The weights are those of `calibration`, over profiles. The last
table says how large the effective sample can be at all where each DR is so near its least, with a
proof by duality. Without a file only the times are printed.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from evenflow.schemas.config import Config
from evenflow.schemas.documents import mention_fields
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.blocks import FileReader
from evenflow.transforms.repair.calibration import Aim, Calibrator, Keep
from evenflow.transforms.repair.interior import QuadraticProgram, solve
from evenflow.transforms.repair.profiles import profiles
from evenflow.transforms.staging.block import INPUT

POINTS, LENGTH = 0.01, 0.03
SLACKS = (0.001, 0.0025, 0.005, 0.0075, 0.01, 0.02, 0.04)  # of DR above the least


def read(path: Path, by: str) -> tuple[dict, np.ndarray, np.ndarray]:
    """Mentions of each attribute (D, M) with its target, lengths (D,) and sources (D,)."""
    annotator = Annotator(Config())
    tables = [
        annotator.annotate(block).table
        for block in FileReader().segment(str(path), 0, 10**12, None)
    ]
    counts = {}
    for each in annotator.attributes:
        columns = [column.name for column in mention_fields(each)]
        parts = [np.stack([table[name].to_numpy() for name in columns], 1) for table in tables]
        groups = len(each.groups)
        target = np.full(groups, 1 / groups) if each.target is None else np.array(each.target)
        counts[each.name] = (np.concatenate(parts).astype(np.int64), target)
    texts = [text for table in tables for text in table["text"].to_pylist()]
    sources = [value for table in tables for value in table[INPUT + by].to_pylist()]
    lengths = np.array([len(text.encode()) for text in texts])
    return counts, lengths, np.unique(sources, return_inverse=True)[1]


def problem(counts: dict, lengths: np.ndarray, sources: np.ndarray, **more) -> Calibrator:
    """The calibration over profiles."""
    columns = [column for own, _ in counts.values() for column in own.T]
    of = profiles([*columns, lengths], [sources])

    def total(amounts=None):
        return np.bincount(of, amounts).astype(float)

    aims = [
        Aim(name, np.stack([total(column) for column in own.T], 1), target, np.zeros(len(target)))
        for name, (own, target) in counts.items()
    ]
    room, size = POINTS * len(of), float(lengths.sum())
    keeps = [Keep("length", total(lengths), (1 - LENGTH) * size, (1 + LENGTH) * size)]
    for value in range(sources.max() + 1):
        own = total(sources == value)
        keeps.append(Keep(f"source {value}", own, own.sum() - room, own.sum() + room))
    return Calibrator(total(), aims, keeps, **more)


def program(counts: dict, lengths, sources, limit: float, dr: dict, named: dict) -> np.ndarray:
    """Minimise the sum over attributes of (parts of DR - dr times mentions) / mentions as named."""
    size, parts = len(lengths), sum(len(target) for _, target in counts.values())
    rows, low, high = [], [], []

    def add(row, at_least, at_most):
        rows.append(sparse.csr_matrix(row))
        low.append(at_least)
        high.append(at_most)

    cost, at = np.zeros(size + parts), size
    for name, (own, target) in counts.items():
        mentions = own.sum(axis=1)
        z = (own - mentions[:, None] * target) / named[name]
        cost[:size] -= dr[name] * mentions / named[name]
        for group in range(len(target)):
            for sign in (1, -1):
                row = np.zeros(size + parts)
                row[:size], row[at] = sign * z[:, group], -1
                add(row, -np.inf, 0)
            cost[at] = 0.5
            at += 1
    for amounts, room in [
        (np.ones(size), 0.0),
        (lengths / lengths.mean(), LENGTH * size),
        *((np.array(sources == value, float), POINTS * size) for value in set(sources.tolist())),
    ]:
        row = np.concatenate([amounts, np.zeros(parts)])
        add(row, amounts.sum() - room, amounts.sum() + room)
    matrix, high_, low_ = sparse.vstack(rows).tocsr(), np.array(high), np.array(low)
    below = np.isfinite(low_)
    found = linprog(
        cost,
        A_ub=sparse.vstack([matrix, -matrix[below]]),
        b_ub=np.concatenate([high_, -low_[below]]),
        bounds=[(1 / limit, limit)] * size + [(0, None)] * parts,
        method="highs",
    )
    assert found.success, found.message
    return found.x[:size]


def least(counts: dict, lengths, sources, limit: float) -> dict[str, float]:
    """The least sum of DR, by Dinkelbach's iteration; DR of each attribute there."""

    def score(weights):
        sums = {name: weights @ own for name, (own, _) in counts.items()}
        named = {name: float(total.sum()) for name, total in sums.items()}
        return {
            name: float(np.abs(sums[name] / named[name] - target).sum() / 2)
            for name, (_, target) in counts.items()
        }, named

    now, named = score(np.ones(len(lengths)))
    for _ in range(12):
        before = now
        now, named = score(program(counts, lengths, sources, limit, before, named))
        if max(abs(now[name] - before[name]) for name in now) < 1e-7:
            break
    return now


def largest(
    counts: dict, lengths: np.ndarray, sources: np.ndarray, limit: float, most: dict[str, float]
) -> tuple[float, float]:
    """The largest effective sample where DR is at most `most`, and a bound that none exceeds.

    It minimises sum w^2 with the mean weight 1, a convex program. The bound is its dual's value:
    by weak duality it holds for every choice of weights, whatever the solver did. None is
    possible: (nan, 0).
    """
    size = len(lengths)
    rows, values, widths = [np.ones(size) / size], [1.0], [0.0]
    for amounts, room in [
        (lengths / lengths.sum(), LENGTH),
        *((np.array(sources == value) / size, POINTS) for value in set(sources.tolist())),
    ]:
        rows.append(amounts)
        values.append(amounts.sum() - room)
        widths.append(2 * room)
    groups = []
    for own, target in counts.values():
        mentions = own.sum(axis=1)
        rows += list((own - mentions[:, None] * target).T / mentions.sum())
        groups.append(len(target))
    rows += [-most[name] * own.sum(axis=1) / own.sum() for name, (own, _) in counts.items()]
    free = [at for at, width in enumerate(widths) if width]
    parts, below = sum(groups), len(rows) - len(groups)
    unit = np.eye(len(rows))
    split = unit[:, len(widths) : below]
    half = np.zeros_like(split)
    for at, owner in enumerate(np.repeat(np.arange(len(groups)), groups)):
        half[below + owner, at] = 0.5
    matrix = np.hstack(
        [np.stack(rows), -unit[:, free], half - split, half + split, unit[:, below:]]
    )
    values += [0.0] * (len(rows) - len(values))
    others = len(free) + 2 * parts + len(groups)
    low = np.concatenate([np.full(size, 1 / limit), np.zeros(others)])
    # The parts of a group's deviation, and what is left of DR, cannot be above these
    high = np.concatenate(
        [np.full(size, limit), np.array(widths)[free], np.full(2 * parts + len(groups), 2 * limit)]
    )

    def cost(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, second = np.zeros_like(x), np.zeros_like(x)
        first[:size], second[:size] = x[:size] / size, 1 / size
        return first, second

    scale = np.concatenate([np.full(size, 1 / size), np.full(others, 1 / len(rows))])
    start = np.concatenate([np.ones(size), np.array(widths)[free] / 2, np.full(2 * parts, 0.05)])
    start = np.concatenate([start, np.full(len(groups), 0.05)])
    found = solve(QuadraticProgram(matrix, np.array(values), low, high, scale), cost, start)
    pulled = found.multipliers @ matrix
    best = np.where(pulled > 0, high, low)
    best[:size] = np.clip(pulled[:size] * size, 1 / limit, limit)
    dual = (
        found.multipliers @ np.array(values) - pulled @ best + (best[:size] ** 2).sum() / size / 2
    )
    weights = found.x[:size]
    reached = weights.sum() ** 2 / size / (weights**2).sum() if found.converged else np.nan
    return float(reached), float(1 / (2 * dual)) if dual > 0 else np.inf


def frontier(counts: dict, lengths, sources, limit: float, alone: dict[str, float]) -> None:
    """Print the largest effective sample for each distance of every DR from its least alone."""
    print("each DR above its least at most   largest effective sample   none can exceed")
    for slack in SLACKS:
        most = {name: dr + slack for name, dr in alone.items()}
        try:
            reached, bound = largest(counts, lengths, sources, limit, most)
        except ValueError:  # SciPy refuses the numbers to which a program without a solution leads
            reached, bound = np.nan, 0.0
        print(f"{slack:32.4f} {reached:26.4f} {bound:17.4f}", flush=True)


def compare(path: Path, by: str, limit: float) -> None:
    """Print least DR by linear program and by calibration."""
    counts, lengths, sources = read(path, by)
    alone = {}
    for name, own in counts.items():
        alone |= least({name: own}, lengths, sources, limit)
    together = least(counts, lengths, sources, limit)
    print(f"{len(lengths):,} documents, limit {limit:g}")
    print(f"{'':>30} " + " ".join(f"{name:>9}" for name in counts))

    def line(text, found):
        print(f"{text:>30} " + " ".join(f"{found[name]:9.4f}" for name in counts))

    line("linear program, alone", alone)
    line("linear program, together", together)
    for floor in (0.0, 0.6, 0.7):
        found = problem(counts, lengths, sources, limit=limit, least_effective=floor).calibrate()
        line(f"weights, floor {floor:g}", {each.name: each.after for each in found.aims})
        if not floor:
            line("proven, alone", {each.name: each.proven for each in found.aims})
        print(f"{'':>30} effective sample {found.effective:.3f}")
    frontier(counts, lengths, sources, limit, alone)


def timed(documents: int) -> None:
    """Print the time and memory of profiles, sums and weights of random documents."""
    rng = np.random.default_rng(1)
    rate = rng.gamma(0.3, 8, documents)
    counts = {
        name: (
            np.stack([rng.poisson(rate * part).astype(np.int32) for part in parts], 1),
            np.full(len(parts), 1 / len(parts)),
        )
        for name, parts in (
            ("gender", (0.5, 1.0)),
            ("age", (0.2, 0.01, 0.05)),
            ("religion", (0.01, 0.2, 0.01, 0.05, 0.07)),
        )
    }
    lengths, sources = rng.integers(100, 9000, documents), rng.integers(0, 5, documents)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, cpu = time.perf_counter(), time.process_time()
    one = problem(counts, lengths, sources, least_effective=0.7)
    middle = time.process_time()
    found = one.calibrate()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"{documents:,} documents, {len(one.documents):,} profiles: {middle - cpu:.2f} s CPU for"
        f" profiles and sums, {time.process_time() - middle:.2f} s for weights"
        f" ({time.perf_counter() - began:.1f} s in all), {grown:.0f} MiB more; effective sample"
        f" {found.effective:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--by", default="source")
    parser.add_argument("--limit", type=float, default=4.0)
    parser.add_argument("--documents", type=int, nargs="*", default=[1_000_000, 10_000_000])
    own = parser.parse_args()
    for count in own.documents:
        timed(count)
    if own.file is not None:
        compare(own.file, own.by, own.limit)


if __name__ == "__main__":
    main()
