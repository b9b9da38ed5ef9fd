"""Builds `transforms/text/names.tsv`: first names, the sex they are given to, and whether they are
common words too; and `name_pairs.tsv`: female and male names of the same rank.

    python tests/benchmarks/cda_build_names.py census_1990_female_first.txt
    census_1990_male_first.txt documents.jsonl.gz

The census files have a name and its share of the sex in per cent a line. The documents (JSON lines
with «text») say which names are words in lower case: those count as a person's only beside other
evidence.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from pathlib import Path

OUT = Path(__file__).parents[2] / "transforms" / "text" / "names.tsv"
PAIRS = OUT.with_name("name_pairs.tsv")
LEAST = 0.002  # per cent: rarer first names are left out, they are as often surnames and words
ONE_SIDED = 0.9  # share of a name's bearers from which it is one sex's


def shares(path: Path) -> dict[str, float]:
    """Per cent of the sex by name, in lower case."""
    rows = (line.split() for line in path.read_text(encoding="ascii").splitlines())
    return {row[0].lower(): float(row[1]) for row in rows if len(row) >= 2}


def pairs(rows: list[str], female: dict[str, float], male: dict[str, float]) -> str:
    """Names of one sex, the most frequent first, paired by rank."""
    kinds = dict(row.split("\t") for row in rows)

    def ranked(sex: str, shares: dict[str, float]) -> list[str]:
        own = [name for name, kind in kinds.items() if kind[0] == sex]
        return sorted(own, key=lambda name: (-shares[name], name))

    lines = map("\t".join, zip(ranked("f", female), ranked("m", male), strict=False))
    head = "# Given names: female, male of the same rank. US census 1990, public domain.\n"
    return head + "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("female", type=Path)
    parser.add_argument("male", type=Path)
    parser.add_argument("documents", type=Path)
    args = parser.parse_args()
    female, male = shares(args.female), shares(args.male)
    lower: Counter[str] = Counter()
    upper: Counter[str] = Counter()
    with gzip.open(args.documents, "rt", encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line)["text"]
            if text.lower() == text:
                continue  # written without capitals: says nothing about names
            lower.update(re.findall(r"\b[a-z]+\b", text))
            upper.update(word.lower() for word in re.findall(r"(?<=[a-z,] )[A-Z][a-z]+\b", text))
    rows: list[str] = []
    for name in sorted({*female, *male}):
        f, m = female.get(name, 0.0), male.get(name, 0.0)
        if f + m < LEAST or len(name) < 2:
            continue
        sex = "f" if f >= ONE_SIDED * (f + m) else "m" if m >= ONE_SIDED * (f + m) else "e"
        word = lower[name] > 0.2 * upper[name] and lower[name] >= 2
        rows.append(f"{name}\t{sex}{'w' if word else ''}")
    head = (
        "# First names: f, m or e (either); w: a common word too. US census 1990, public domain.\n"
    )
    OUT.write_text(head + "\n".join(rows) + "\n", encoding="ascii")
    PAIRS.write_text(pairs(rows, female, male), encoding="ascii")
    print(len(rows), "names,", sum(row.endswith("w") for row in rows), "of them words")


if __name__ == "__main__":
    main()
