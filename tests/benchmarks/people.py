"""Estimates of people against what annotators read in whole documents.

    # documents kept for the report, of the kinds of text that the models learnt from
    python tests/benchmarks/people.py
    # and of kinds that they did not learn from, whose texts do not ship
    python tests/benchmarks/people.py --texts CORPUS.jsonl.gz …

By attribute, group and kind of text: the share of the mentions that name people of the group, as
read, by the first stage alone, and estimated with a sample of passages; with the interval, by
resampling documents and with the reader's own error (`PeopleHead.doubt`). Then of all mentions: of
those counted (by their chance), the share that name people; and of those that do, the share that is
counted. Labels are those of language models.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from exchange import texts
from figures import share

from evenflow.schemas.documents import Cell
from evenflow.transforms.annotation.people import PeopleCounter, cut_cell, mention_chances
from evenflow.transforms.lab.training import labelled
from evenflow.transforms.lab.training.labelled import Labelled
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.models.passages import CELL
from evenflow.transforms.models.people import UNIT, PeopleHead, to_bytes
from evenflow.transforms.models.reader import PEOPLE
from evenflow.wordlists.loader import load

DATA = Path(__file__).parent.parent / "data"
FEW = 40  # mentions from which a kind of text has a row
DRAWS = 1000  # resamples of documents
POINTS = 0.03


class Judge:
    """What the first stage and the reading say of the mentions of labelled documents."""

    def __init__(self, attribute: str):
        words, self._attribute = load(attribute), attribute
        self._finder = LabelFinder([words])
        self.labels = self._finder.labels(0)
        self._counter = PeopleCounter([words], [self.labels], 0)
        self.doubt = PeopleHead.shipped().doubt(attribute)

    def first(self, each: Labelled):
        """The mentions that the list of today finds: found, thousandths, whether people (n,)."""
        (found,) = self._finder.find_all(each.text)
        none, end = np.zeros_like(found.starts), np.full_like(found.starts, len(each.text))
        chance = self._counter.chances(0, to_bytes(each.text), found, none, end)
        owners = each.owners
        at = {place.start: owners[n] for n, place in enumerate(each.places)}
        true = [start in at and each.meant[at[start]].who in PEOPLE for start in found.starts]
        known = np.array([start in at for start in found.starts.tolist()], bool)
        return found, chance, np.array(true, bool), known

    def read(self, each: Labelled, found, chance) -> np.ndarray:
        """The reading's chances, thousandths (n,)."""
        out = np.array(chance)
        numbers = found.starts // CELL
        for cell in sorted(set(numbers.tolist())):
            part, places, low = cut_cell(each.text, cell, 0, found, chance)
            first, last = np.searchsorted(numbers, [cell, cell + 1]).tolist()
            made = Cell(0, 1, "", [], [], *part, places, (first - low, last - low))
            for at, value in mention_chances(made, self._attribute).items():
                out[at + low] = value
        return out


def report(title: str, documents: Sequence[Labelled]) -> None:
    """Print the tables of some documents."""
    heads = ("attribute", "group", "kind", "n", "documents", "read", "first stage", "reading")
    heads += ("interval", "within 3 points", "holds")
    print(f"## {title}\n\n| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    kept: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    large, good, holds, rows = 0, 0, 0, 0
    for attribute in dict.fromkeys(each.attribute for each in documents):
        judge = Judge(attribute)
        # By group and kind: of each document n, people, first stage, reading
        cells: dict[tuple[str, str], list[tuple[float, ...]]] = defaultdict(list)
        for each in (one for one in documents if one.attribute == attribute):
            found, chance, true, known = judge.first(each)
            reading = judge.read(each, found, chance)
            values = true[known], chance[known] / UNIT, reading[known] / UNIT
            kept[attribute] += zip(*values, strict=True)
            groups = load(attribute).groups
            for number in set(found.groups[known].tolist()):
                own = known & (found.groups == number)
                sums = (
                    own.sum(),
                    true[own].sum(),
                    chance[own].sum() / UNIT,
                    reading[own].sum() / UNIT,
                )
                for kind in ("all", each.source):
                    cells[groups[number], kind].append(sums)
        for (group, kind), sums in sorted(cells.items()):
            each = np.array(sums, float)
            n, people, first, reading = each.sum(0)
            if n < FEW:
                continue
            low, high = interval(each, judge.doubt)
            close, inside = abs(reading - people) / n <= POINTS, low <= people / n <= high
            rows, holds = rows + 1, holds + inside
            if n >= 300 and kind != "all":
                large, good = large + 1, good + close
            print(
                f"| {attribute} | {group} | {kind} | {n:.0f} | {len(each)} | {people / n:.3f} |"
                f" {first / n:.3f} | {reading / n:.3f} | {low:.3f}–{high:.3f} |"
                f" {'yes' if close else 'no'} | {'yes' if inside else 'no'} |"
            )
    print(
        f"\nrows of one kind with n >= 300 within 3 points: {good} of {large}; intervals that"
        f" hold: {share(holds, rows)}\n"
    )
    for attribute, values in kept.items():
        true, first, reading = np.array(values, float).T
        stages = {"words": np.ones(len(true)), "first stage": first, "reading": reading}
        for name, chance in stages.items():
            counted = chance >= 0.5
            print(
                f"{attribute}, {name}: of mentions counted by chance people"
                f" {(true * chance).sum() / chance.sum():.3f}, of people counted"
                f" {(true * chance).sum() / true.sum():.3f}; from 0.5:"
                f" {share(int(true[counted].sum()), int(counted.sum()))},"
                f" recall {share(int(true[counted].sum()), int(true.sum()))}"
            )
    print()


def interval(each: np.ndarray, doubt: float) -> tuple[float, float]:
    """Of the reading's share, 95 %, by resampling documents, (D, 4), and the reader's errors."""
    rng = np.random.default_rng(0)
    weights = rng.multinomial(len(each), np.full(len(each), 1 / len(each)), size=DRAWS)
    n, _, _, reading = (weights @ each).T
    error = 1 + doubt * rng.standard_normal(DRAWS)
    low, high = np.quantile(reading / n * error, [0.025, 0.975])
    return float(low), float(high)


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="corpora of the texts")
    parser.add_argument("--data", type=Path, default=DATA / "documents.jsonl.gz")
    given = parser.parse_args()
    documents = labelled.read(given.data, texts(given.texts))
    report("kept for the report", labelled.part(documents, labelled.REPORT))
    if unseen := labelled.part(documents, labelled.UNSEEN):
        report("kinds that no model learnt from", unseen)


if __name__ == "__main__":
    main()
