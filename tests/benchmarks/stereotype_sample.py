"""Draws the relevant sentences of the stereotype gold set: python tests/benchmarks/stereotype_sample.py documents.jsonl[.gz]

    python tests/benchmarks/stereotype_sample.py documents.jsonl.gz --after stereotype_gold.jsonl   # the development set

The development set is drawn with another seed from other documents, and without sentences that differ from one drawn before
in the group alone.

A unit is a sentence with one attribute that it names a label of. Strata are source by attribute, each drawn without
replacement. Reddit gets half of the first round and all of the second, since the other sources hold few stereotypes; the
weight of a stratum (units in the corpus a unit drawn, of both rounds) brings figures back to the corpus. A sentence that
stands in the corpus more than once is in the frame once, at its first place, so that no sentence is in both halves.
Documents, not sentences, are dealt to the halves.

Prints JSON lines in a shuffled order, so that whoever labels them goes through all strata at once. Labels are given by
reading and are not made here: see tests/data/stereotype_gold_README.md.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evenflow.transforms.labels import LabelFinder
from evenflow.transforms.sentences import bounds, trimmed
from evenflow.transforms.stereotyping import stereotype_minilm
from evenflow.wordlists.loader import SHIPPED, load

SEED = 20240611
# Corpus part -> source as reported: both collections of presidential speeches are one stratum.
SOURCES = {
    "inaugural": "speeches",
    "state_union": "speeches",
    "abc": "news",
    "movie_reviews": "movie_reviews",
    "reddit": "reddit",
}
# Units drawn from each stratum, a round. The first gives 300, as the speeches have only 13 sentences on religion. The
# second was drawn when the first was labelled: where its stereotypes were, and so where the error of a share is large.
FIRST = {"speeches": 16, "news": 17, "movie_reviews": 17, "reddit": 51}
ROUNDS = (
    {(source, attribute): number for source, number in FIRST.items() for attribute in SHIPPED},
    {("reddit", "gender"): 50, ("reddit", "religion"): 80, ("reddit", "age"): 20},
)
# The development set, for training and choosing.
DEVELOPMENT_SEED = 20250707
DEVELOPMENT = (
    {
        **{(source, attribute): 11 for source in ("speeches", "news", "movie_reviews") for attribute in SHIPPED},
        **{("reddit", "gender"): 110, ("reddit", "religion"): 130, ("reddit", "age"): 60},
    },
)
# Characters of the text before the sentence that are kept: enough for the sentence before it.
CONTEXT = 300

Stratum = tuple[str, str]  # source, attribute


@dataclass(frozen=True)
class Unit:
    """A sentence with an attribute that it names labels of.

    id: of the document. start: offset of the sentence in it, in characters. before: the text just before the sentence,
    at most CONTEXT characters. labels: the labels found. half: dev or report.
    """

    id: str
    start: int
    source: str
    attribute: str
    labels: tuple[str, ...]
    before: str
    sentence: str
    half: str


def half_of(document: str) -> str:
    """dev or report, by a hash of the document's id: a document's sentences are never on both sides."""
    return ("dev", "report")[hashlib.sha256(document.encode("utf-8")).digest()[0] & 1]


def units(documents: Iterator[Mapping[str, str]], finder: LabelFinder) -> Iterator[Unit]:
    """The frame: each distinct relevant sentence once an attribute, in the corpus's order."""
    seen: set[str] = set()
    for document in documents:
        text = document["text"]
        mentions = finder.find(text)
        if not mentions:
            continue
        for start, end in trimmed(text, bounds(text).tolist()):
            sentence = text[start:end]
            found: dict[str, list[str]] = {}
            for mention in mentions:
                if start <= mention.start < end:
                    found.setdefault(mention.attribute, []).append(mention.label)
            key = " ".join(sentence.casefold().split())
            if not found or key in seen:
                continue
            seen.add(key)
            for attribute, labels in found.items():
                yield Unit(
                    id=document["id"],
                    start=start,
                    source=SOURCES[document["source"]],
                    attribute=attribute,
                    labels=tuple(labels),
                    before=text[max(0, start - CONTEXT) : start],
                    sentence=sentence,
                    half=half_of(document["id"]),
                )


def without_kin(frame: Sequence[Unit], before: Path) -> list[Unit]:
    """The units of other documents than those drawn before (JSON lines), and unlike them in more than the group."""
    rows = list(read(before))
    documents = {row["id"] for row in rows}
    kin = {stereotype_minilm.masked(row["sentence"]).casefold() for row in rows}
    return [unit for unit in frame if unit.id not in documents and stereotype_minilm.masked(unit.sentence).casefold() not in kin]


def draw(frame: list[Unit], rounds: Sequence[Mapping[Stratum, int]], seed: int) -> list[tuple[Unit, float, int]]:
    """Units with their weights and rounds (from 0): each round shuffled, the first round first.

    rounds: stratum -> units drawn, of those that no earlier round drew. A stratum with fewer units gives all it has.
    """
    left: dict[Stratum, list[Unit]] = {}
    for unit in frame:
        left.setdefault((unit.source, unit.attribute), []).append(unit)
    sizes = {stratum: len(inside) for stratum, inside in left.items()}
    drawn: Counter[Stratum] = Counter()
    sample: list[tuple[Stratum, Unit, int]] = []
    for number, wanted in enumerate(rounds):
        generator = random.Random(seed + number)
        chosen: list[tuple[Stratum, Unit, int]] = []
        for stratum in sorted(wanted):
            units_left = left.get(stratum, [])
            picked = generator.sample(units_left, min(wanted[stratum], len(units_left)))
            taken = set(picked)
            left[stratum] = [unit for unit in units_left if unit not in taken]
            drawn[stratum] += len(picked)
            chosen += [(stratum, unit, number) for unit in picked]
        generator.shuffle(chosen)
        sample += chosen
    return [(unit, sizes[stratum] / drawn[stratum], number) for stratum, unit, number in sample]


def read(path: Path) -> Iterator[dict[str, str]]:
    """Documents of a JSON lines file, plain or gzip: id, source, text."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the sentences of the stereotype gold set.")
    parser.add_argument("documents", type=Path, help="JSON lines, plain or gzip: id, source, text")
    parser.add_argument("--after", type=Path, help="draws the development set, apart from these rows")
    arguments = parser.parse_args()
    frame = list(units(read(arguments.documents), LabelFinder([load(attribute) for attribute in SHIPPED])))
    rounds, seed = ROUNDS, SEED
    if arguments.after:
        frame, rounds, seed = without_kin(frame, arguments.after), DEVELOPMENT, DEVELOPMENT_SEED
    for unit, weight, number in draw(frame, rounds, seed):
        row = asdict(unit) | {"weight": round(weight, 3), "round": number + 1}
        sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
