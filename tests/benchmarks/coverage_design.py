"""Whether intervals of a pattern's share hold it, where sentences come in documents.

    python tests/benchmarks/coverage_design.py [DRAWS]

Prints how often the 95 % interval has the true share (mean over patterns, and the worst one), and
its width, with Kish's design effect (all sentences of a document alike) and with each pattern's own
(`transforms.measures.coverage.clusters`). Documents are made with a given correlation within a
document, or drawn with replacement from tests/data/speeches.jsonl.gz, whose shares are then true.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from evenflow.transforms.labels.by_sentence import sentence_starts
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures.coverage.clusters import Clusters, DesignEffects
from evenflow.transforms.measures.coverage.threshold import interval
from evenflow.wordlists import loader

SPEECHES = Path(__file__).parents[1] / "data" / "speeches.jsonl.gz"
RARE = 0.2  # share below which the worst pattern is looked for besides
SHARES = np.array([0.3, 0.2, 0.15, 0.1, 0.05, 0.02, 0.01, 0.005])
Draw = Callable[[], tuple[Any, Any]]  # matches of each pattern by document, and sizes


def made(rng: Any, correlation: float, documents: int, size: int) -> Draw:
    """Documents of unequal size whose shares vary."""

    def draw() -> tuple[Any, Any]:
        sizes = np.maximum(1, rng.lognormal(np.log(size), 0.8, documents)).astype(int)
        whole = np.append(SHARES, 1 - SHARES.sum())
        own = np.tile(whole, (documents, 1))
        if correlation:
            own = rng.dirichlet(whole * (1 - correlation) / correlation, documents)
        return np.array(list(map(rng.multinomial, sizes, own)))[:, :-1], sizes

    return draw


def speeches() -> tuple[Any, Any]:
    """Matches of groups and of pairs of groups in the sentences of the speeches."""
    finder = LabelFinder([loader.load(name) for name in ("gender", "age", "religion")])
    groups = [(i, g) for i, words in enumerate(finder.lists) for g in range(len(words.groups))]
    pairs = [each for each in combinations(groups, 2) if each[0][0] != each[1][0]]
    patterns = [{each} for each in groups] + [set(each) for each in pairs]
    rows: list[list[int]] = []
    sizes: list[int] = []
    with gzip.open(SPEECHES) as lines:
        for line in lines:
            text = json.loads(line)["text"]
            every = finder.find_all(text)
            starts, named = sentence_starts(text, every), dict[int, set[tuple[int, int]]]()
            for i, found in enumerate(every):
                at = np.searchsorted(starts, found.starts, "right").tolist()
                for place, group in zip(at, found.groups.tolist(), strict=True):
                    named.setdefault(place, set()).add((i, group))
            rows.append([sum(each <= own for own in named.values()) for each in patterns])
            sizes.append(len(named))
    matches, kept = np.array(rows), np.array(sizes) > 0
    seen = matches.sum(axis=0) > 0
    return matches[kept][:, seen], np.array(sizes)[kept]


def judged(draw: Draw, truth: Any, draws: int) -> list[str]:
    """Cover of both intervals, of the worst rare pattern by its own, and their relative width."""
    held, width = np.zeros((2, len(truth))), np.zeros((2, len(truth)))
    for _ in range(draws):
        matches, sizes = draw()
        counts, total, squares = matches.sum(axis=0), sizes.sum(), (sizes**2).sum()
        codes = np.arange(len(truth))
        sums = Clusters(codes, (matches**2).sum(axis=0), (matches * sizes[:, None]).sum(axis=0))
        own = DesignEffects(sums, counts, total, squares).squares(
            codes, np.ones(len(truth), np.int64)
        )
        for which, each in enumerate((squares, own)):
            low, high = interval(counts, total, each, 0.95)
            held[which] += (low <= truth) & (truth <= high)
            width[which] += high - low
    return [
        *(f"{each.mean():.3f}, {each.min():.3f}" for each in held / draws),
        f"{held[1][truth < RARE].min() / draws:.3f}",
        f"{(width[1] / width[0]).mean():.2f}",
    ]


def main() -> None:
    """Print the table."""
    draws, rng = int(sys.argv[1]) if len(sys.argv) > 1 else 1000, np.random.default_rng(0)
    kinds = ("Kish: mean, worst", "own: mean, worst", "rare: worst", "width")
    table = Table("documents", "correlation", *kinds)
    for correlation in (0.0, 0.02, 0.1, 0.5):
        for documents, size in ((12, 200), (30, 60), (100, 20)):
            draw = made(rng, correlation, documents, size)
            name = f"{documents} of about {size}"
            table.add_row(name, str(correlation), *judged(draw, SHARES, draws))
    matches, sizes = speeches()
    for documents in (12, 30, 100):

        def drawn(documents: int = documents) -> tuple[Any, Any]:
            chosen = rng.integers(0, len(sizes), documents)
            return matches[chosen], sizes[chosen]

        truth = matches.sum(axis=0) / sizes.sum()
        table.add_row(f"{documents} speeches", "as it is", *judged(drawn, truth, draws))
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
