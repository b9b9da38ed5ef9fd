"""Draws sentences that name people of a group, to be read and labelled
(docs/stereotype_guideline.md).

    python tests/benchmarks/stereotype_sample.py DOCUMENTS… [--random N] [--called N] [--from P] >
    drawn.jsonl

DOCUMENTS: JSON Lines (.gz too) with id, text and source or kind. A unit is a sentence and an
attribute. --random draws N of each source and attribute; --called draws N of each attribute and
kind of text (posts, other) among those whose probability by the shipped models is P or more. A
sentence that differs from another in the group alone is drawn once; so are not drawn at all
sentences, and documents, that stand in a labelled set of tests/data. Seeds are fixed; the order is
shuffled, and no score is printed, so that whoever labels them sees none.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stereotype_examples import REAL, SHIPPED, TESTS, kind_of, read, shown, spans

from evenflow.transforms.measures.stereotypes import detect
from evenflow.transforms.text.sentences import bounds, trimmed

SEED = 15
LEAST, MOST = 20, 700  # characters of a sentence: shorter ones say nothing, longer ones are lists


class Unit(NamedTuple):
    """A sentence and an attribute that it names a group of."""

    id: str
    start: int
    source: str
    attribute: str
    sentence: str
    drawn: str


def documents(paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def same(text: str) -> str:
    """A prepared sentence as it is compared."""
    return re.sub(r"\W+", " ", text.lower())


def taken() -> tuple[set[str], set[str]]:
    """Prepared sentences that are labelled already, and ids of documents that stand in a labelled
    set.
    """
    texts, ids = set[str](), set[str]()
    for path in TESTS.glob("*.jsonl"):
        for row in read(path.stem):
            ids |= {str(row.get(name, "")).split(":")[-1] for name in ("id", "doc", "source")}
            if path.stem in REAL and (text := shown(row["sentence"], row["attribute"])) is not None:
                texts.add(same(text))
    return texts, ids


def units(paths: Sequence[Path]) -> list[Unit]:
    """All units that may be drawn."""
    seen, ids = taken()
    out: list[Unit] = []
    for document in documents(paths):
        if document["id"] in ids:
            continue
        text = document["text"]
        for start, end in trimmed(text, sorted({0, *bounds(text).tolist()})):
            sentence = text[start:end]
            named = (
                {each[2] for each in spans(sentence)} if LEAST <= len(sentence) <= MOST else set()
            )
            for attribute in SHIPPED:
                key = same(shown(sentence, attribute) or "") if attribute in named else ""
                if key and key not in seen:
                    seen.add(key)
                    source = document.get("source") or document["kind"]
                    out.append(Unit(document["id"], start, source, attribute, sentence, "random"))
    return out


def drawn(pool: Sequence[Unit], number: int, called: int, least: float) -> list[Unit]:
    rng = random.Random(SEED)
    strata: defaultdict[tuple[str, str], list[Unit]] = defaultdict(list)
    for unit in pool:
        strata[unit.source, unit.attribute].append(unit)
    out = [
        unit for _, own in sorted(strata.items()) for unit in rng.sample(own, min(number, len(own)))
    ]
    if called:
        labels = [
            [each for each in spans(unit.sentence) if each[2] == unit.attribute] for unit in pool
        ]
        chances = detect.shipped().detect([unit.sentence for unit in pool], labels)
        kinds: defaultdict[tuple[str, str], list[Unit]] = defaultdict(list)
        for unit, chance in zip(pool, chances, strict=True):
            if chance is not None and chance >= least and unit not in out:
                kinds[kind_of(unit.source), unit.attribute].append(unit._replace(drawn="called"))
        out += [
            unit
            for _, own in sorted(kinds.items())
            for unit in rng.sample(own, min(called, len(own)))
        ]
    rng.shuffle(out)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("documents", type=Path, nargs="+")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--called", type=int, default=0)
    parser.add_argument("--from", type=float, default=detect.THRESHOLD, dest="least")
    args = parser.parse_args()
    for unit in drawn(units(args.documents), args.random, args.called, args.least):
        print(json.dumps(unit._asdict(), ensure_ascii=False))


if __name__ == "__main__":
    main()
