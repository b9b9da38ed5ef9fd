"""What exchanges leave of a corpus's associations: drawn ones beside those that lean most.

    # documents of tests/data/documents.jsonl.gz, exchanges of the careful judge: an hour
    python tests/benchmarks/aim.py
    python tests/benchmarks/aim.py --judge fast --halves 10 --budgets 100,200

A half of the documents is drawn. Its gender exchanges that the gate lets through are made, in both
directions, of as many mentions: drawn ones, those whose neighbours lean most to their own group,
and those with the most neighbours. A word leans by the mentions of each group
within 6 words of it in the same half: z of a binomial. `kept` is the part of the other half's
leanings that word vectors of this half have (see `evenflow lab paper`, model vectors); the table
has its change. Intervals are over documents: the spread of halves is the standard error of the
whole (delete-half jackknife).
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenflow.pipelines.lab.paper.vectors import Vocabulary
from evenflow.schemas.config import load
from evenflow.transforms.lab.bias_score.corpus_vectors import WINDOW, Pairs, vectors
from evenflow.transforms.labels.finder import LabelFinder, uncut
from evenflow.transforms.measures import registry
from evenflow.transforms.models.static import FirstStage
from evenflow.transforms.substitution import reading
from evenflow.transforms.substitution.counterfactuals import chooser, exchanged
from evenflow.transforms.substitution.sets import Edit, apply
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.transforms.text.sentences import bounds, trimmed
from evenflow.transforms.text.words import split_runs

DATA = Path(__file__).parent.parent / "data"
AROUND = 120  # characters in which the words next to an exchange are looked for


class Swap(NamedTuple):
    """An exchange that the judge lets through; `sign`: 1 where it leaves the second group."""

    document: int
    sign: int
    edits: tuple[Edit, ...]


def swaps(texts: Sequence[str], judge_name: str) -> Iterator[Swap]:
    """All exchanges of gender that the gate lets through, in both directions."""
    config = load(None, {"repair.judge": judge_name, "repair.mode": "substitute"}, ("gender",))
    lists, judge = config.word_lists(), reading.judge_of(config, stops=True)
    substituter = Substituter(lists, "gender", "gc", FirstStage.shipped(), draws=True)
    bar = registry.bar(lists)
    finder, least = LabelFinder(lists), reading.min_probability(config, "gender")
    for number, text in enumerate(texts):
        found = finder.find_all(text)
        sentences = trimmed(text, uncut(bounds(text), found).tolist())
        proposed = substituter.propose(text, sentences, finder.named(found))
        done = exchanged(text, proposed, least, chooser(text), judge, bar)
        for own, target in zip(done.sets, done.targets, strict=True):
            if target is not None:
                sign = 1 if own.source == lists[0].groups[1] else -1
                yield Swap(number, sign, tuple(own.edits[target]))


class Halves:
    """Measures what exchanges in a half of the documents leave of the other half's leanings."""

    def __init__(self, texts: Sequence[str], made: Sequence[Swap]):
        self._texts, self._made = texts, made
        self._words = Vocabulary(texts, load(None, {}, ("gender",)).word_lists()[0])
        self._near = [self._neighbours(each) for each in made]

    def measure(self, seed: int, budgets: Sequence[int]) -> dict[int, list[float]]:
        """The change of `kept` by budget: drawn, aimed, with the most neighbours."""
        random = np.random.default_rng(seed)
        order = random.permutation(len(self._texts))
        own, other = order[: len(order) // 2].tolist(), order[len(order) // 2 :].tolist()
        held = self._leanings(own=other)[self._words.neutral]
        leaning = self._counted(own)
        here = set(own)
        mine = [at for at, each in enumerate(self._made) if each.document in here]
        says = [self._made[at].sign * leaning[self._near[at]].sum() for at in mine]
        sizes = np.array([len(self._made[at].edits) for at in mine])
        orders = [
            (order, sizes[order].cumsum())
            for order in (
                random.permutation(len(mine)),
                np.argsort(-np.array(says) / sizes),
                np.argsort([-len(self._near[at]) for at in mine]),
            )
        ]

        def kept(chosen: Sequence[int]) -> float:
            found = self._leanings(own, [self._made[at] for at in chosen])[self._words.neutral]
            return float(np.cov(found, held)[0, 1])

        whole = kept(())
        return {
            most: [
                kept([mine[at] for at in order[size <= most]]) / whole - 1 for order, size in orders
            ]
            for most in budgets
            if most <= sizes.sum()
        }

    def _neighbours(self, swap: Swap) -> NDArray[np.int64]:
        """The places of the neutral words next to an exchange."""
        text, places = self._texts[swap.document].lower(), self._words.places
        near = [
            word
            for start, end, _ in swap.edits
            for word in (
                *split_runs(text[max(0, start - AROUND) : start])[-WINDOW:],
                *split_runs(text[end : end + AROUND])[:WINDOW],
            )
        ]
        known = np.array([places[word] for word in near if word in places], np.int64)
        return known[np.isin(known, self._words.neutral)]

    def _pairs(self, own: Sequence[int], made: Sequence[Swap] = ()) -> Pairs:
        """What stands near what in some documents after some exchanges."""
        edits = defaultdict[int, list[Edit]](list)
        for each in made:
            edits[each.document] += each.edits
        texts = (
            apply(self._texts[at], sorted(edits[at])) if at in edits else self._texts[at]
            for at in own
        )
        return Pairs([self._words.numbers(text) for text in texts], len(self._words.places))

    def _leanings(self, own: Sequence[int], made: Sequence[Swap] = ()) -> NDArray[np.float64]:
        """How much more each word's vector goes with the second group's, (V,)."""
        return self._words.leanings(vectors(self._pairs(own, made).counts(np.ones(len(own)))))

    def _counted(self, own: Sequence[int]) -> NDArray[np.float64]:
        """How much more each word stands near the second group than both do, (V,): z."""
        near = self._pairs(own).counts(np.ones(len(own)))
        second, both = near @ (self._words.signs > 0), near @ np.abs(self._words.signs)
        share = second.sum() / both.sum()
        return (second - both * share) / np.sqrt(np.maximum(both, 1) * share * (1 - share))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("corpus", nargs="?", default=DATA / "documents.jsonl.gz", type=Path)
    parser.add_argument("--judge", default="careful", help="careful or fast")
    parser.add_argument("--halves", default=10, type=int, help="halves that are drawn")
    parser.add_argument("--budgets", default="200,400", help="mentions that change")
    args = parser.parse_args()
    with gzip.open(args.corpus, "rt", encoding="utf-8") as lines:
        texts = [text for line in lines if (text := json.loads(line).get("text"))]
    made = list(swaps(texts, args.judge))
    print(f"{len(texts)} documents, {len(made)} exchanges")
    halves, budgets = Halves(texts, made), list(map(int, args.budgets.split(",")))
    each = [halves.measure(seed, budgets) for seed in range(args.halves)]
    print("| mentions | drawn | aimed | most neighbours | aimed - drawn | aimed - most |")
    print("|---|---|---|---|---|---|")
    for budget in budgets:
        found = np.array([own[budget] for own in each if budget in own]).reshape(-1, 3)
        if len(found) < 2:
            print(f"| {budget} | too few exchanges or halves |  |  |  |  |")
            continue
        less = [
            (own.mean(), 1.96 * own.std(ddof=1))
            for own in (found[:, 1] - found[:, 0], found[:, 1] - found[:, 2])
        ]
        cells = [
            *(f"{mean:.3f}" for mean in found.mean(0)),
            *(f"{mean:.3f} [{mean - half:.3f}, {mean + half:.3f}]" for mean, half in less),
        ]
        print(f"| {budget} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
