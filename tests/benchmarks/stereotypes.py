"""Figures of the stereotype detector, its strength and its removals, on data that no model learnt
from.

    # every sentence of documents that were drawn at random (stereotype_documents.py)
    python tests/benchmarks/stereotypes.py --documents
    python tests/benchmarks/stereotypes.py [--published FOLDER] [--score 0.66] [--precision 0.8]

The second prints the figures by single rows. These were drawn in several ways, some because the
detector called them, so they compare models and sources, and say nothing of recall.

PUBLISHED as for stereotype_examples.py: with it, StereoSet (items that were held out, both
sentences of a context together) and the strength against people's scores. Printed, with n and 95 %
intervals, by source and attribute: area, precision and recall of what `--stereotypes remove` takes
out, on the documents of tests/data that are kept for report and were not used to calibrate
(stereotype_calibration.py); the gold set's report half; the group gap on swapped templates;
sentences that are no stereotypes; reliability in ten bins; sentences a second.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import stereotype_documents
import stereotype_figures as figures
from stereotype_calibration import of_creed
from stereotype_examples import (
    SHIPPED,
    Row,
    kind_of,
    published,
    read,
    real,
    shown,
    used_to_calibrate,
)
from stereotype_training import labelled, of_documents, rephrased

from evenflow.transforms.measures.stereotypes import probabilities
from evenflow.transforms.measures.stereotypes.detect import THRESHOLD, cut
from evenflow.transforms.measures.stereotypes.judging import NEVER
from evenflow.transforms.models.encoder import Encoder

PRECISION = 0.8  # that removal needs by default


class Judge:
    """The shipped models as they are used: probability and score of prepared sentences."""

    def __init__(self) -> None:
        self.reader = probabilities.shipped()

    def chances(self, texts: Sequence[str]) -> figures.Values:
        """Probabilities (n,); where nothing can be said, 0: nothing would be done."""
        return np.array([each or 0.0 for each in self.reader.probabilities(texts)])

    def sure(
        self, rows: Sequence[Row], chances: figures.Values, precision: float
    ) -> figures.Values:
        """Whether each row is as probable as removal needs (n,); one of a creed alone never is."""
        cuts = {name: cut(name, precision) for name in SHIPPED}
        least = [
            each
            if (each := cuts.get(row.attribute)) is not None and not of_creed(self.reader, row)
            else NEVER
            for row in rows
        ]
        return chances >= np.array(least)

    def scores(self, texts: Sequence[str]) -> figures.Values:
        return np.array([self.reader.read(text).strength for text in texts])


def by_source(
    judge: Judge, rows: Sequence[Row], strengths: Sequence[int], score: float, precision: float
) -> None:
    texts = [row.text for row in rows]
    chances, scores = judge.chances(texts), judge.scores(texts)
    cuts = {name: cut(name, precision) for name in SHIPPED}
    print(
        "removal needs a probability of "
        + ", ".join(f"{name} {each}" for name, each in cuts.items())
    )
    true = np.array([row.label for row in rows], bool)
    strong = np.array([each == 3 for each in strengths], bool)
    gone = judge.sure(rows, chances, precision) & (scores >= score)
    sources, kinds, attributes = (
        [of(row) for row in rows]
        for of in (lambda r: r.source, lambda r: kind_of(r.source), lambda r: r.attribute)
    )
    for title, groups in (
        ("all", ["all"] * len(rows)),
        ("kind", kinds),
        ("attribute", attributes),
        ("source", sources),
    ):
        for name in sorted(set(groups)):
            at = np.array([each == name for each in groups])
            own = figures.area(chances[at], true[at])
            told = (
                figures.interval(own, int(at.sum()))
                if 0 < true[at].sum() < at.sum()
                else f"(n={at.sum()}, {true[at].sum()} stereotypes)"
            )
            print(f"{title} {name}: area {told}")
            print(
                "  removed:"
                f" {figures.removal(gone[at].tolist(), true[at].tolist(), strong[at].tolist())}"
            )
            called = chances[at] >= THRESHOLD
            print(
                f"  called from {THRESHOLD}:"
                f" {figures.removal(called.tolist(), true[at].tolist(), strong[at].tolist())}"
            )
    print("reliability", *figures.reliability(chances, true), sep="\n  ")


def of_published(folder: Path) -> None:
    """StereoSet by the head of association, and strength, on what was held out."""
    encoder = Encoder.shipped()
    rows = [row for row in published(folder) if row.split == "report"]
    items = [row for row in rows if row.task == "association"]
    told = np.array([each.association for each in encoder.stereotypes([row.text for row in items])])
    true = np.array([row.label for row in items], bool)
    for part, after in (("inside a sentence", False), ("a sentence after its context", True)):
        at = np.array([i for i, row in enumerate(items) if row.doc.startswith("inter-") == after])
        area = figures.interval(figures.area(told[at], true[at]), len(at))
        print(f"StereoSet, stereotype against unrelated, {part}, held-out items: area {area}")
        pairs: dict[str, dict[int, float]] = {}
        for i in at:
            pairs.setdefault(items[i].doc, {})[items[i].label] = float(told[i])
        whole = [each for each in pairs.values() if len(each) == 2]
        print(
            f"  right in pair {figures.share(sum(each[1] > each[0] for each in whole), len(whole))}"
        )
    scored = [row for row in rows if row.task == "strength"]
    strength = np.array(
        [each.strength for each in encoder.stereotypes([row.text for row in scored])]
    )
    people = np.array([row.label for row in scored])
    print(
        "strength against people's scores: Spearman"
        f" {figures.interval(figures.rank(strength, people), len(scored))}"
    )


def by_label(judge: Judge) -> None:
    """Rows of stereotype_labels.jsonl that nothing learnt from: those drawn at random, and what is
    called in the report documents.
    """
    for title, split in (("drawn at random", "report"), ("called, or between", "check")):
        own = list(labelled(split))
        chances = judge.chances([row.text for row, _ in own])
        true = np.array([each["label"] for _, each in own], bool)
        strong = np.array([each["strength"] == 3 for _, each in own], bool)
        gone = judge.sure([row for row, _ in own], chances, PRECISION)
        listed = np.array([row.attribute in SHIPPED for row, _ in own])
        for name, at in (
            ("all", listed | True),
            ("listed groups", listed),
            ("other groups", ~listed),
            ("posts", np.array([kind_of(row.source) == "posts" for row, _ in own])),
            ("no posts", np.array([kind_of(row.source) != "posts" for row, _ in own])),
        ):
            if not at.any():
                continue
            area = figures.interval(figures.area(chances[at], true[at]), int(at.sum()))
            print(f"read one by one, {title}, {name}: area {area}")
            for what, tally in (("called", chances >= THRESHOLD), ("removed", gone)):
                each = (values[at].tolist() for values in (tally, true, strong))
                print(f"  {what}: {figures.removal(*each)}")


def rephrasings(judge: Judge) -> None:
    """Twelve rephrasings of statements that nothing learnt from."""
    statements: dict[int, list[tuple[str, int]]] = {}
    for number, _, row in rephrased("report"):
        statements.setdefault(number, []).append((row.text, row.label))
    right = same = count = 0
    spreads: list[float] = []
    for each in statements.values():
        chances = judge.chances([text for text, _ in each])
        called = chances >= THRESHOLD
        right += int((called == np.array([label for _, label in each], bool)).sum())
        count += len(each)
        same += bool(called.all() or not called.any())
        spreads.append(float(chances.max() - chances.min()))
    print(
        f"rephrasings of {len(statements)} statements: called as they are labelled"
        f" {figures.share(right, count)}, all twelve alike {figures.share(same, len(statements))};"
        f" greatest less least probability {np.mean(spreads):.3f} in the mean, {max(spreads):.3f}"
        " at worst"
    )


def swaps(judge: Judge) -> None:
    """The gap of a group: the mean probability of its sentences less that of all groups' on the
    same templates.
    """
    for attribute in ("gender", "age", "religion", "nationality", "race"):
        own = [each for each in read("stereotype_swaps") if each["attribute"] == attribute]
        gaps: dict[str, list[float]] = {}
        for each in own:
            texts = [each["template"].replace("{}", one["word"]) for one in each["fillers"]]
            chances = judge.chances([shown(text, attribute) or text for text in texts])
            for one, chance in zip(each["fillers"], chances.tolist(), strict=True):
                gaps.setdefault(one["group"], []).append(chance - float(chances.mean()))
        greatest = max(abs(float(np.mean(each))) for each in gaps.values())
        print(
            f"group gap, {attribute}: {greatest:.3f} ({len(own)} templates; the greatest of"
            f" {len(gaps)} groups)"
        )


def none(judge: Judge) -> None:
    """Sentences that are no stereotypes, by kind: how many are called."""
    kinds: dict[str, list[tuple[bool, bool]]] = {}
    for each in read("not_stereotypes"):
        for attribute in SHIPPED:
            if (text := shown(each["text"], attribute)) is not None:
                row = Row(text, "stereotype", 0, "", "", "report", attribute)
                chances = judge.chances([text])
                gone = bool(judge.sure([row], chances, PRECISION)[0])
                kinds.setdefault(each["kind"], []).append((bool(chances[0] >= THRESHOLD), gone))
    for kind, found in sorted(kinds.items()):
        called, removed = (sum(each[at] for each in found) for at in (0, 1))
        print(f"no stereotype, {kind}: called {figures.share(called, len(found))}, sure {removed}")


def sieved(judge: Judge) -> None:
    """How many sentences the sieve clears, and how many of those that the encoder would call."""
    reader = judge.reader
    rows = [row for row, _ in of_documents(stereotype_documents.documents()[0])]
    cleared = np.array(reader.sieve.stereotypes([row.text for row in rows])) < reader.cleared
    held = [probabilities.held_probability(reader.read(row.text)) for row in rows]
    called = np.array(held) >= THRESHOLD
    right = called & np.array([bool(row.label) for row in rows])
    for what, every in (("", cleared | True), ("called ", called), ("rightly called ", right)):
        told = figures.share(int((every & cleared).sum()), int(every.sum()))
        print(f"the sieve clears of {what}sentences {told}")


def speed(judge: Judge, texts: Sequence[str]) -> None:
    start = time.perf_counter()
    judge.reader.sieve.stereotypes(list(texts) * 20)
    first = len(texts) * 20 / (time.perf_counter() - start)
    start = time.perf_counter()
    judge.reader.second.stereotypes(texts[:200])
    print(
        f"sieve {first:,.0f} sentences a second, encoder {200 / (time.perf_counter() - start):,.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--published", type=Path)
    parser.add_argument("--score", type=float, default=0.66)
    parser.add_argument("--precision", type=float, default=0.8)
    parser.add_argument("--documents", action="store_true", help="by whole document alone")
    args = parser.parse_args()
    if args.documents:
        stereotype_documents.main()
        sieved(Judge())
        return
    judge = Judge()
    every = [
        (row, strength)
        for row, strength in real()
        if row.task == "stereotype" and row.split == "report"
    ]
    kept = [each for each in every if not used_to_calibrate(each[0])]
    print("== report documents, real text ==")
    by_source(
        judge,
        [row for row, _ in kept],
        [strength for _, strength in kept],
        args.score,
        args.precision,
    )
    gold = [each for each in kept if each[0].source.endswith("-older")]
    print("== of these, the older sets (report half of the gold set among them) ==")
    by_source(
        judge,
        [row for row, _ in gold],
        [strength for _, strength in gold],
        args.score,
        args.precision,
    )
    if args.published:
        of_published(args.published)
    by_label(judge)
    rephrasings(judge)
    swaps(judge)
    none(judge)
    speed(judge, [row.text for row, _ in every])


if __name__ == "__main__":
    main()
