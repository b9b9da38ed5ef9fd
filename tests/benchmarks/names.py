"""How well the recogniser finds first names of people, and what the census says of their gender.

    python tests/benchmarks/names.py
    # and what pronouns say of the same people: GAP (Webster et al. 2018), which does not ship
    python tests/benchmarks/names.py --gap gap-development.tsv.gz gap-validation.tsv.gz

The rows are words of two collections that it did not learn from (GUM, UD English EWT), drawn at
random and read one by one. Two baselines: each word of the census counts, and the rules of
`transforms.text.names`. Words that the census lacks were drawn apart: they say how many people have
a first name that cannot be found.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from evenflow.pipelines.lab.train.names import documents, rows
from evenflow.transforms import wilson
from evenflow.transforms.lab.training.evaluate import share
from evenflow.transforms.measures.names.recogniser import WORD, Recogniser
from evenflow.transforms.text import names

DATA = Path(__file__).parent.parent / "data"
HELD_OUT = ("gum", "ewt")
HALF = 0.5


def by_rules(text: str, at: int) -> bool:
    """Whether the rules find a name with a known sex that begins at a character."""
    for found in names.find(text, max(at - 100, 0), min(at + 100, len(text))):
        first = next(re.finditer(names.WORD, text[found.start : found.end]), None)
        if first is not None and found.start + first.start() == at:
            return first[0].lower() in names.first_names()
    return False


def recognised(recogniser: Recogniser) -> None:
    """Print precision, recall and the number of people by kind of text."""
    texts = documents(DATA)
    read = rows(DATA, "exam")
    found = {
        number: {at: chance for at, _, chance in recogniser.find(texts[number]["text"])}
        for number in {row["number"] for row in read}
    }
    chance = np.array([found[row["number"]][row["start"]] for row in read])
    rules = np.array([by_rules(texts[row["number"]]["text"], row["start"]) for row in read])
    true = np.array([row["person"] for row in read])
    kinds = np.array([texts[row["number"]]["source"].split("-")[0] for row in read])
    ways = {"census": np.ones(len(read), bool), "rules": rules, "recogniser": chance >= HALF}
    print("| kind of text | way | precision [95 %] | recall [95 %] |\n|---|---|---|---|")
    for kind in ("all", *HELD_OUT):
        own = np.ones(len(read), bool) if kind == "all" else kinds == kind
        for way, counted in ways.items():
            right = int((true & counted & own).sum())
            precision = share(right, int((counted & own).sum()))
            print(f"| {kind} | {way} | {precision} | {share(right, int((true & own).sum()))} |")
        expected = chance[own].sum()
        print(f"{kind}: people expected {expected:.1f}, read {int(true[own].sum())}\n")
    unlisted = rows(DATA, "unlisted")
    held = [row for row in texts.values() if row["source"].split("-")[0] in HELD_OUT]
    words = [match[0].lower() for row in held for match in WORD.finditer(row["text"])]
    known = sum(word in recogniser.names for word in words)
    people = sum(row["person"] for row in unlisted)
    low, high = wilson.interval(people / len(unlisted), len(unlisted))
    named = known * true.mean()
    shares = [
        named / (named + (len(words) - known) * part)
        for part in (people / len(unlisted), high, low)
    ]
    print(
        "people whose first name the census has:"
        f" {shares[0]:.2f} [{shares[1]:.2f}, {shares[2]:.2f}]"
        f" ({people} of {len(unlisted)} other words with a capital name people)"
    )


def by_pronoun(recogniser: Recogniser, paths: Sequence[Path]) -> None:
    """Print women as pronouns say it beside women as the census says it."""
    pairs: list[tuple[float, bool]] = []
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                for each in "AB":
                    own = recogniser.names.get(row[each].split(" ")[0].lower())
                    if row[f"{each}-coref"].upper() == "TRUE" and own is not None:
                        female = row["Pronoun"].lower() in ("she", "her", "hers")
                        pairs.append((own.female, female))
    said, true = np.array(pairs, float).T
    print("\n| share of women among bearers | n | women by the census | by pronouns [95 %] |")
    print("|---|---|---|---|")
    edges = (0, 0.05, 0.2, 0.8, 0.95, 1.01)
    for low, high in (*pairwise(edges), (0, 1.01)):
        own = (said >= low) & (said < high)
        women = share(int(true[own].sum()), int(own.sum()))
        print(f"| {low} to {min(high, 1)} | {own.sum()} | {said[own].mean():.3f} | {women} |")


def main() -> None:
    """Read the arguments and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gap", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    recogniser = Recogniser.shipped()
    recognised(recogniser)
    if args.gap:
        by_pronoun(recogniser, args.gap)


if __name__ == "__main__":
    main()
