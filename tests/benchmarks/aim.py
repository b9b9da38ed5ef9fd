"""What `repair.aim_share` leaves of a corpus's associations, and what it costs.

    # documents of tests/data/documents.jsonl.gz, exchanges of the careful judge: half an hour
    python tests/benchmarks/aim.py
    python tests/benchmarks/aim.py --halves 10 --share 0.1

A half of the documents is a pane. Its gender exchanges are made by the plan alone; as by
`repair.aim_share`, and then by the plan; and drawn in both directions, of as many mentions, and
then by the plan. The judge is asked once about each set by itself. `kept` is the part of the other
half's leanings that word vectors of this half have (see `evenflow lab paper`, model vectors); the
table has its change, and DR. Intervals are over documents: the spread of halves is the standard
error of the whole (delete-half jackknife).
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenflow.pipelines.lab.paper.vectors import Vocabulary
from evenflow.schemas.config import load
from evenflow.transforms.lab.bias_score.corpus_vectors import Pairs, vectors
from evenflow.transforms.labels.finder import LabelFinder, uncut
from evenflow.transforms.measures import registry
from evenflow.transforms.models.static import FirstStage
from evenflow.transforms.repair import aim, draw, eligibility
from evenflow.transforms.repair.draw import Unit
from evenflow.transforms.substitution import reading
from evenflow.transforms.substitution.counterfactuals import chooser, exchanged
from evenflow.transforms.substitution.sets import Edit, Set, apply
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.transforms.text.sentences import bounds, trimmed

DATA = Path(__file__).parent.parent / "data" / "documents.jsonl.gz"
ARMS = ("plan", "drawn", "aimed")
WORDS = load(None, {}, ("gender",)).word_lists()[0]


class Judged(NamedTuple):
    """A set that may be drawn; `right`: the judge lets its exchange through."""

    document: int
    own: Set
    right: bool


def judged(texts: Sequence[str]) -> Iterator[Judged]:
    """All sets of gender that may be drawn, in both directions."""
    config = load(None, {"repair.mode": "substitute"}, ("gender",))
    lists, judge = config.word_lists(), reading.judge_of(config)
    substituter = Substituter(lists, "gender", "gc", FirstStage.shipped(), draws=True)
    finder, bar = LabelFinder(lists), registry.bar(lists)
    probable = reading.min_probability(config, "gender")
    least = reading.least(judge, probable) or 1e-9  # a set of no probability does not change
    for number, text in enumerate(texts):
        found = finder.find_all(text)
        sentences = trimmed(text, uncut(bounds(text), found).tolist())
        proposed = substituter.propose(text, sentences, finder.named(found))
        done = exchanged(text, proposed, probable, chooser(text), judge, bar)
        for own, target in zip(proposed, done.targets, strict=True):
            if own.edits and own.confidence >= least:
                yield Judged(number, own, target is not None)


class Halves:
    """Measures what exchanges in a half of the documents leave of the other half's leanings."""

    def __init__(self, texts: Sequence[str], made: Sequence[Judged]):
        self._texts, self._made = texts, made
        self._words, finder = Vocabulary(texts, WORDS), LabelFinder([WORDS])
        named = (finder.named(finder.find_all(text)) for text in texts)
        found = [Counter(each.group for each in mentions) for mentions in named]
        self._counts = np.array([[each[group] for group in WORDS.groups] for each in found])

    def measure(self, seed: int, share: float) -> list[tuple[float, int, int, float]]:
        """By arm the change of `kept`, mentions that change before the plan and in all, and DR."""
        random = np.random.default_rng(seed)
        order = random.permutation(len(self._texts))
        own, other = order[: len(order) // 2].tolist(), order[len(order) // 2 :].tolist()
        held, here = self._leanings(other), set(own)
        mine = [at for at, each in enumerate(self._made) if each.document in here]
        own_sets = ((at, *self._made[at][:2]) for at in mine)
        lean = aim.leanings(((at, each, self._texts[of]) for at, of, each in own_sets), WORDS)
        before = float(np.cov(self._leanings(own), held)[0, 1])
        aimed = self._chosen(own, lean, share)
        by_chance = dict(zip(mine, random.random(len(mine)).tolist(), strict=True))
        out: list[tuple[float, int, int, float]] = []
        drawn = self._chosen(own, by_chance, 1.0, aimed[0])
        for first, chosen, dr in (self._chosen(own, lean, 0.0), drawn, aimed):
            kept = float(np.cov(self._leanings(own, chosen), held)[0, 1]) / before - 1
            out.append((kept, first, sum(len(self._made[at].own.mentions) for at in chosen), dr))
        return out

    def _chosen(
        self, own: Sequence[int], lean: Mapping[int, float], share: float, most: float = math.inf
    ) -> tuple[int, list[int], float]:
        """Mentions that change before the plan, what changes in all, and DR."""
        units: list[Unit] = []
        for at in lean:
            document, each, *_ = self._made[at]
            key = draw.key(0, WORDS.attribute, str(document), at, each.confidence)
            units.append(Unit(key, *eligibility.measure_set(WORDS.groups, each), at))
        taken, left = draw.take_both_ways(WORDS.groups, units, self._judge, share, lean)
        sizes = np.cumsum([0, *(unit.size.mentions for unit, _ in taken)])
        first = taken[: int((sizes[1:] <= most).sum())]
        counts = draw.moved(self._counts[own].sum(axis=0).tolist(), first)
        left = [*left, *(unit for unit, _ in taken[len(first) :])]
        drawn = draw.draw(counts, None, WORDS.groups, left, self._judge)
        places = [unit.place for unit, _ in (*first, *drawn.chosen)]
        return int(sizes[len(first)]), places, drawn.plan.dr or 0.0

    def _judge(self, asked: list[tuple[Unit, str]]) -> list[Unit | None]:
        """What is left of units, see `draw.Judge`."""
        for unit, target in asked:
            unit.settled = (target,)  # those that are refused are not asked about again
        return [unit if self._made[unit.place].right else None for unit, _ in asked]

    def _leanings(self, own: Sequence[int], chosen: Sequence[int] = ()) -> NDArray[np.float64]:
        """How much more each neutral word's vector goes with the second group's."""
        texts = {at: self._texts[at] for at in own}
        edits = defaultdict[int, list[Edit]](list)
        for document, each, _ in (self._made[at] for at in chosen):
            edits[document] += each.edits[each.targets[0]]
        texts |= {at: apply(texts[at], each) for at, each in edits.items()}
        numbers = [self._words.numbers(text) for text in texts.values()]
        near = Pairs(numbers, len(self._words.places)).counts(np.ones(len(own)))
        return self._words.leanings(vectors(near))[self._words.neutral]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--halves", default=10, type=int, help="halves that are drawn")
    parser.add_argument("--share", default=0.2, type=float, help="repair.aim_share")
    args = parser.parse_args()
    with gzip.open(DATA, "rt", encoding="utf-8") as lines:
        texts = [text for line in lines if (text := json.loads(line).get("text"))]
    made = list(judged(texts))
    print(f"{len(texts)} documents, {len(made)} sets, {sum(each.right for each in made)} right")
    halves = Halves(texts, made)
    found = np.array([halves.measure(seed, args.share) for seed in range(args.halves)])
    print("| arm | kept changes by | mentions both ways | in all | DR | aimed less this |")
    print("|---|---|---|---|---|---|")
    for name, own in zip(ARMS, found.swapaxes(0, 1), strict=True):
        kept, *rest, dr = own.mean(axis=0).tolist()
        less = found[:, -1, 0] - own[:, 0]
        mean, half = less.mean(), 1.96 * less.std(ddof=1)
        cells = [f"{kept:.3f}", *(f"{each:.0f}" for each in rest), f"{dr:.4f}"]
        within = f"{mean:.3f} [{mean - half:.3f}, {mean + half:.3f}]"
        print(f"| {name} | {' | '.join(cells)} | {within} |")


if __name__ == "__main__":
    main()
