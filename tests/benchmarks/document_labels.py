"""How often two annotators who read documents whole agree: python
tests/benchmarks/document_labels.py [--data FOLDER]

Every mention of gender, age and religion has a number. The annotator says which mentions are one
person or group (an entity), who that is, and whether the document stays right if the entity changes
(tests/data/document_guideline.md). `exchange.py` and `people.py` read their corpora here: a corpus
is a .jsonl.gz file of {"id", "source" or "kind", "text"}, or UD's .conllu.gz.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import itertools
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from figures import share

ATTRIBUTES = ("gender", "age", "religion")
SEED = "2026-11"
LONGEST = 6000  # characters of a document that are shown: about three pages
SECOND = "documents_second.jsonl.gz"
Row = dict[str, Any]
PERSONS = "NPGCF"  # a person or people of the group; see the guideline


def hashed(*parts: object) -> int:
    """A number of 64 bits that depends on some values."""
    name = "\0".join(map(str, parts))
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big")


def documents(path: Path) -> Iterator[tuple[str, str, str]]:
    """The documents of a file: source, id and text."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        if ".conllu" in path.name:
            yield from _conllu(lines)
            return
        for row in map(json.loads, lines):
            yield row.get("source") or row["kind"], row["id"], row["text"]


def _conllu(lines: Iterator[str]) -> Iterator[tuple[str, str, str]]:
    """The documents of a treebank, a paragraph a line."""
    name, parts = "", [""]
    for line in lines:
        if line.startswith("# newdoc id = "):
            if name:
                yield "ewt-" + name.split("-")[0], name, "\n".join(parts).strip()
            name, parts = line[14:].strip(), [""]
        elif line.startswith("# newpar"):
            parts.append("")
        elif line.startswith("# text = "):
            parts[-1] = f"{parts[-1]} {line[9:].strip()}".strip()
    yield "ewt-" + name.split("-")[0], name, "\n".join(parts).strip()


def passages(identity: str, text: str) -> Iterator[tuple[int, int]]:
    """A document, or passages of a long one: at most three, whole lines or sentences."""
    if len(text) <= LONGEST * 1.3:
        yield 0, len(text)
        return
    count = min(3, len(text) // LONGEST)
    for number in range(count):
        room = len(text) // count
        start = number * room + hashed(SEED, identity, number) % max(1, room - LONGEST)
        start = max(text.rfind("\n", 0, start), text.rfind(". ", 0, start) + 1, 0)
        yield start, max(text.rfind(". ", start, start + LONGEST) + 1, start + LONGEST // 2)


def labelled(path: Path) -> list[Row]:
    """The rows of a file of labelled documents."""
    return list(map(json.loads, gzip.decompress(path.read_bytes()).splitlines()))


def agreement(first: dict[int, Row], second: Sequence[Row]) -> None:
    """Print how often two annotators agree, by attribute: on mentions, and on pairs of them."""
    for name in ATTRIBUTES:
        who, right, pairs = [], [], []
        for row in second:
            one, other = (
                {n: (e["who"], e["label"] != "w", at) for at, e in enumerate(each["entities"])
                 if e["attribute"] == name for n in e["mentions"]}
                for each in (first[row["number"]], row)
            )  # fmt: skip
            both = sorted(one.keys() & other.keys())
            who += [(one[n][0], other[n][0]) for n in both]
            right += [(one[n][1], other[n][1]) for n in both]
            pairs += [
                (one[a][2] == one[b][2], other[a][2] == other[b][2])
                for a, b in itertools.combinations(both, 2)
            ]
        for title, found in (("who", who), ("right", right), ("same person", pairs)):
            if found:
                same = sum(a == b for a, b in found) / len(found)
                chance = (
                    sum(
                        sum(a == v for a, _ in found) * sum(b == v for _, b in found)
                        for v in {v for pair in found for v in pair}
                    )
                    / len(found) ** 2
                )
                kappa = (same - chance) / (1 - chance) if chance < 1 else 1.0
                print(f"{name} {title}: n {len(found)}, same {same:.3f}, kappa {kappa:.2f}")
        # As above: of the mentions that one reading calls people, those that the other does
        named = [
            other in PERSONS for pair in who for one, other in (pair, pair[::-1]) if one in PERSONS
        ]
        print(f"{name}, people of one are people of the other: {share(sum(named), len(named))}")
    found = [
        all(n in right for n in entity["mentions"])
        for row in second
        for one, other in ((first[row["number"]], row), (row, first[row["number"]]))
        for right in [{n for each in _right(other) for n in each["mentions"]}]
        for entity in _right(one)
    ]
    # Nobody who is measured by one reading can be right more often than this
    print(f"gender, whom one calls right the other calls right: {share(sum(found), len(found))}")


def _right(row: Row) -> list[Row]:
    """Those whose gender may change."""
    return [
        each for each in row["entities"] if each["attribute"] == "gender" and each["label"] != "w"
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(__file__).parent.parent / "data")
    data = parser.parse_args().data
    first, second = (labelled(data / name) for name in ("documents.jsonl.gz", SECOND))
    agreement({row["number"]: row for row in first}, second)


if __name__ == "__main__":
    main()
