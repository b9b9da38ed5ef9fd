"""How often each label of the published lists names people of its group, by kind of text.

    python tests/benchmarks/label_precision.py

The mentions are those of the part `train` of the labelled documents, whole documents read, and more
rows, drawn at random for labels with few mentions (tests/data/label_rows_README.md). None is of a
document kept for a report. A label leaves the measured lists if people are less than half of its
mentions on `KINDS` kinds of text, and less than half of all by the upper bound of Wilson's interval
of 95 %. Labels are those of language models.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path

from evenflow.transforms import wilson
from evenflow.transforms.lab.training import labelled
from evenflow.transforms.lab.training.evaluate import share
from evenflow.transforms.models.reader import PEOPLE
from evenflow.wordlists.loader import SHIPPED, load

DATA = Path(__file__).parent.parent / "data"
KINDS = 3  # kinds of text on which a label must fail
HALF = 0.5
FEW = 5  # mentions from which a label has a row
NAMES = {"state_union": "speeches", "inaugural": "speeches", "movie_reviews": "film reviews"}
LETTERS_OF_PEOPLE = {labelled.LETTERS[at] for at in PEOPLE}

Kinds = dict[str, list[bool]]


def evidence() -> dict[tuple[str, str], Kinds]:
    """Collect what was read.

    Returns:
        By attribute and label, whether each mention names people of the group, by kind of text.
    """
    out: dict[tuple[str, str], Kinds] = defaultdict(lambda: defaultdict(list))
    with gzip.open(DATA / labelled.FILE, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["split"] != labelled.TRAIN:
                continue
            people = {
                (entity["attribute"], number): entity["who"] in LETTERS_OF_PEOPLE
                for entity in row["entities"]
                for number in entity["mentions"]
            }
            for each in row["mentions"]:
                label = " ".join(row["text"][each["start"] : each["end"]].lower().split())
                own = out[each["attribute"], label][kind(row["source"])]
                own.append(people[each["attribute"], each["number"]])
    with (DATA / "label_rows.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            out[row["attribute"], row["label"]][kind(row["source"])].append(row["people"])
    return out


def kind(source: str) -> str:
    """The kind of text of a source."""
    return NAMES.get(source, source.split("-")[0])


def leaves(kinds: Kinds) -> bool:
    """Whether a label leaves the measured lists."""
    every = [each for rows in kinds.values() for each in rows]
    few_people = sum(sum(rows) < HALF * len(rows) for rows in kinds.values())
    return few_people >= KINDS and wilson.interval(sum(every) / len(every), len(every))[1] < HALF


def main() -> None:
    """Print the labels below a half, those that leave first."""
    rows = evidence()
    for attribute in SHIPPED:
        listed = load(attribute).labels
        own = {label: kinds for (name, label), kinds in rows.items() if name == attribute}
        print(f"\n## {attribute}\n")
        print("| label | n | names people [95 %] | leaves | measured | by kind of text |")
        print("|---|---|---|---|---|---|")
        for label, kinds in sorted(own.items(), key=lambda each: (not leaves(each[1]), each[0])):
            every = [each for rows in kinds.values() for each in rows]
            if len(every) < FEW or sum(every) >= HALF * len(every):
                continue
            told = ", ".join(f"{name} {sum(n)} of {len(n)}" for name, n in sorted(kinds.items()))
            said = ["yes" if each else "no" for each in (leaves(kinds), label in listed)]
            columns = (label, len(every), share(sum(every), len(every)), *said, told)
            print(f"| {' | '.join(map(str, columns))} |")


if __name__ == "__main__":
    main()
