"""Is a stereotype said of a creed alone, or of people? What the head learns from, and its figures.

    python tests/benchmarks/stereotype_creeds.py creeds.jsonl   # what the head learns from
    python tests/benchmarks/stereotype_creeds.py                # its figures

The rows are sentences of tests/data that state a stereotype, and whose `about` says of what. Those
of the splits `report` and `check`, and of the report half of the older sets, are reported; those of
`tune` and `cut` calibrate what is removed. The head learns from the others, without documents and
wordings of these. The figures are of religion, where creeds have names. For comparison: the rule
that a sentence is of a creed alone if all its words for the groups are names of creeds.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from figures import share
from stereotype_examples import REAL, Row, of_hash, read, same, shown

from evenflow.transforms.measures.stereotypes.indicators import OF_CREED
from evenflow.transforms.measures.stereotypes.probabilities import WORD
from evenflow.transforms.models.encoder import Encoder

CREEDS, PEOPLE = "creed", frozenset({"folk", "folks"})  # words of a masked sentence
REPORTED, CALIBRATING = ("report", "check"), ("tune", "cut")


def rows() -> list[Row]:
    """The labelled sentences: 1 of a creed alone, 0 of people."""
    out: list[Row] = []
    for name in ("stereotype_labels", *REAL):
        for each in read(name):
            text = shown(each["sentence"], each["attribute"]) if each.get("about") else None
            if text is None:
                continue
            split = each.get("split") or {"dev": "train"}.get(each.get("half", ""), "report")
            if name == "stereotype_read":
                split = "report" if each["drawn"] == "called" else of_hash(each["id"])
            if name == "stereotype_dev":
                split = "train"
            label = int(each["about"] == "creed")
            out.append(
                Row(text, "creed", label, each["source"], each["id"], split, each["attribute"])
            )
    return out


def once(given: Sequence[Row]) -> list[Row]:
    """The first of the rows with the same wording."""
    return list({same(row.text): row for row in reversed(given)}.values())[::-1]


def learnt() -> list[Row]:
    """What the head learns from."""
    kept = [row for row in rows() if row.split in (*REPORTED, *CALIBRATING)]
    documents, wordings = {row.doc for row in kept}, {same(row.text) for row in kept}
    return once(
        [
            row
            for row in rows()
            if row.split == "train" and row.doc not in documents and same(row.text) not in wordings
        ]
    )


def figures(title: str, own: Sequence[Row]) -> None:
    """Print how often the head is right, and the rule."""
    said = [each.creed or 0.0 for each in Encoder.shipped().stereotypes([row.text for row in own])]
    words = [set(WORD.findall(row.text.lower())) for row in own]
    for name, called in (
        ("head", [each >= OF_CREED for each in said]),
        ("rule", [CREEDS in each and not PEOPLE & each for each in words]),
    ):
        right = [bool(row.label) == each for row, each in zip(own, called, strict=True)]
        creeds = [each for row, each in zip(own, right, strict=True) if row.label]
        people = [each for row, each in zip(own, right, strict=True) if not row.label]
        print(
            f"{title}, {name}: right {share(sum(right), len(right))}; of creeds alone"
            f" {share(sum(creeds), len(creeds))}, of people {share(sum(people), len(people))}"
        )


def main() -> None:
    """Write the rows, or print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, nargs="?")
    args = parser.parse_args()
    if args.out is not None:
        lines = (json.dumps(row._asdict(), ensure_ascii=False) + "\n" for row in learnt())
        args.out.write_text("".join(lines), encoding="utf-8")
        return
    own = [row for row in rows() if row.attribute == "religion"]
    figures("report documents", once([row for row in own if row.split in REPORTED]))
    figures("calibration documents", once([row for row in own if row.split in CALIBRATING]))


if __name__ == "__main__":
    main()
