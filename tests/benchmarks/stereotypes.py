"""Figures of the stereotype detector and its removals, on data that no model learnt from.

    # every sentence of documents that were drawn at random (stereotype_documents.py)
    python tests/benchmarks/stereotypes.py --documents
    # single rows
    python tests/benchmarks/stereotypes.py

Of single rows are printed, with n and 95 % intervals: area, precision and recall on sentences that
were read one by one; rephrasings; the group gap on swapped templates; sentences that are no
stereotypes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import stereotype_documents
import stereotype_figures as figures
from stereotype_calibration import of_creed
from stereotype_examples import SHIPPED, Row, read, shown
from stereotype_training import labelled, of_documents, rephrased

from evenflow.schemas.config.stereotypes import StereotypeSettings
from evenflow.transforms.measures.stereotypes import probabilities
from evenflow.transforms.measures.stereotypes.calibration import THRESHOLD, cut
from evenflow.transforms.measures.stereotypes.judging import NEVER

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
        own = StereotypeSettings(target_precision=precision)
        cuts = {name: cut(own, name).probability for name in {row.attribute for row in rows}}
        least = [
            each
            if (each := cuts.get(row.attribute)) is not None and not of_creed(self.reader, row)
            else NEVER
            for row in rows
        ]
        return chances >= np.array(least)


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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", action="store_true", help="by whole document alone")
    parser.add_argument("--remove-from", type=float, help="with --documents")
    args = parser.parse_args()
    if args.documents:
        stereotype_documents.main(args.remove_from)
        sieved(Judge())
        return
    judge = Judge()
    by_label(judge)
    rephrasings(judge)
    swaps(judge)
    none(judge)


if __name__ == "__main__":
    main()
