"""How often the 95 % interval of a weighted DR holds where the floor of the effective sample may
hold DR up: python tests/benchmarks/weighted_interval.py [STREAMS]

Streams are drawn with replacement from a pool: 60,000 simulated documents (`interval_coverage`), or
the labelled ones. The true DR is that of the pool under its own weights.
"""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from interval_coverage import Cell, deviate, draw

from evenflow.transforms.measures.representation.interval import intervals
from evenflow.transforms.repair.calibration import PRICE, Aim, Calibrator
from evenflow.transforms.repair.linearised import Linearised
from evenflow.transforms.repair.profiles import profiles

DATA = Path(__file__).parent.parent / "data" / "documents.jsonl.gz"
POOL, DOCUMENTS = 60_000, (112, 300, 1000)
LAWS = {"s": ("geometric", 3.0, 0.0), "m": ("geometric", 7.0, 0.0), "l": ("lognormal", 1.5, 0.6)}
# Groups, DR, concentration, law of the lengths, floor, limit
SIMULATED = ((2, 0.25, 1, "m", 0.85, 4), (2, 0.15, 4, "s", 0.95, 4), (3, 0.25, 1, "l", 0.8, 4))
LABELLED = (
    ("gender", ("female", "male"), 0.95),  # without forum posts
    ("age", ("young", "old"), 0.7),
    ("age", ("young", "old"), 0.85),
    ("religion", ("christianity", "judaism", "islam"), 0.9),
)


def simulated(groups: int, dr: float, concentration: float, law: str) -> np.ndarray:
    target, name = np.full(groups, 1 / groups), f"sim:{groups}:{dr}:{concentration}:{law}"
    shares, seed = deviate(target, "one", dr), zlib.crc32(name.encode()) + 1
    cell = Cell(0, POOL, target, shares, "one", concentration, LAWS[law], 0.3, seed)
    return draw(cell, 1, np.random.default_rng(seed))[0]


def labelled(attribute: str, groups: tuple[str, ...]) -> np.ndarray:
    out = []
    for line in gzip.decompress(DATA.read_bytes()).decode("utf-8").splitlines():
        row = json.loads(line)
        found = Counter(m["group"] for m in row["mentions"] if m["attribute"] == attribute)
        if (attribute != "gender" and found) or (
            attribute == "gender" and row["source"] != "reddit"
        ):
            out.append([found[group] for group in groups])
    return np.array(out)


def calibrated(counts: np.ndarray, floor: float, limit: float):
    columns, groups = list(counts.T.astype(np.int32)), counts.shape[1]
    of = profiles(columns, [])
    sums = np.stack([np.bincount(of, own).astype(float) for own in columns], 1)
    aim = Aim("a", sums, np.full(groups, 1 / groups), np.zeros(groups))
    one = Calibrator(np.bincount(of).astype(float), [aim], [], limit, floor)
    found = one._priced(PRICE, [aim])
    if found.effective < floor:
        own = replace(one, distance="chi2")
        found = own._priced(PRICE, [aim])
        found = own._cheaper(found, [aim]) if found.effective < floor else found
    return one, found, of, aim


def of_stream(counts: np.ndarray, floor: float, limit: float) -> tuple[float, float, bool]:
    """The interval, and whether the floor holds."""
    one, found, of, aim = calibrated(counts, floor, limit)
    weights = found.weights[of]
    own = Linearised(one, found).terms(of, {"a": list(counts.T)}, "a", aim.before, weights)
    terms, named = np.concatenate(list(own)), float((counts.sum(1) > 0).sum())
    sums = (counts * weights[:, None]).sum(0)[None]
    made = intervals(np.array([named]), sums, (terms.T @ terms)[None], aim.target, 0.95)
    return made.low[0], made.high[0], found.price < PRICE


def main() -> None:
    streams = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    pools = [(str(each), simulated(*each[:4]), *each[4:]) for each in SIMULATED]
    pools += [(f"{name}, {floor}", labelled(name, own), floor, 4) for name, own, floor in LABELLED]
    for name, pool, floor, limit in pools:
        _, found, _, aim = calibrated(pool, floor, limit)
        truth = aim.dr(found.weights)
        for size in DOCUMENTS:
            rng = np.random.default_rng(199)
            low, high, held = np.array(
                [
                    of_stream(pool[rng.integers(0, len(pool), size)], floor, limit)
                    for _ in range(streams)
                ]
            ).T
            held_by = ((low <= truth + 1e-9) & (high >= truth - 1e-9)).mean()
            error = 196 * (held_by * (1 - held_by) / streams) ** 0.5
            print(
                f"{name}, {size} documents: DR {truth:.3f}, floor holds in {held.mean():.0%},"
                f" interval in {100 * held_by:.1f} ± {error:.1f} %",
                flush=True,
            )


if __name__ == "__main__":
    main()
