"""Measures how much of what may be exchanged is exchanged, on documents that were read whole.

    python tests/benchmarks/exchange_floor.py

The documents of the report split (tests/data/documents_README.md) are one pane, in mode substitute.
By attribute it prints DR before, DR after the default substitution, and the floor: DR with a
judge that knows the labels, without a first stage. «Done» is the default's share of the fall of DR
that the floor has. Age and religion are labelled for one target, and no other is right here.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from rich.console import Console
from rich.table import Table

from evenflow.gates.ledger.files import read_entries
from evenflow.pipelines.engine.files.driver import Run
from evenflow.schemas.config import load
from evenflow.schemas.ledger import Repair
from evenflow.transforms.models import static
from evenflow.transforms.substitution import reading
from evenflow.transforms.substitution.judges import Asked, Judged

DOCUMENTS = Path(__file__).parents[1] / "data" / "documents.jsonl.gz"
ATTRIBUTES = ("gender", "age", "religion")


class Labels:
    """A judge that knows the labels: the sets of one entity are joined, and change if it may.

    Args:
        rows: The labelled documents.
    """

    def __init__(self, rows: Iterable[dict[str, Any]]):
        self._rows = {row["text"]: row for row in rows}

    def exchanges(self, documents: Iterable[Asked]) -> Iterator[list[Judged]]:
        """Judge exchanges, see `judges.ExchangeJudge`."""
        return (self._document(each) for each in documents)

    def _document(self, asked: Asked) -> list[Judged]:
        row, name = self._rows[asked.text], asked.sets[0].attribute
        places = {each["start"]: each for each in row["mentions"] if each["attribute"] == name}
        entities = {
            number: entity
            for entity in row["entities"]
            if entity["attribute"] == name
            for number in entity["mentions"]
        }
        named = [
            {places[each.start]["number"] for each in own.mentions if each.start in places}
            for own in asked.sets
        ]
        out: list[Judged] = []
        for number, target in asked.exchanges:
            together = whole({number}, named, entities)
            meant = [entities[each] for at in together for each in named[at] if each in entities]
            changed = {each for at in together for each in named[at]}
            shown = [
                places[each.start].get("target", target)
                for each in asked.sets[number].mentions
                if each.start in places
            ]
            right = (
                bool(meant)
                and all(each["label"] in "ra" and changed >= {*each["mentions"]} for each in meant)
                and all(target in asked.sets[at].edits for at in together)
                and set(shown) == {target}
            )
            out.append(Judged(float(right), "", tuple(sorted(together)) if right else (number,)))
        return out


def whole(
    found: set[int], named: Sequence[set[int]], entities: dict[int, dict[str, Any]]
) -> set[int]:
    """The sets that name somebody whom one of them names."""
    while True:
        meant = {
            other
            for at in found
            for each in named[at]
            for other in entities.get(each, {"mentions": ()})["mentions"]
        }
        more = {at for at, own in enumerate(named) if own & meant} | found
        if more == found:
            return found
        found = more


class Likely:
    """A first stage that lets everything through."""

    def exchanges(self, attribute: str, each: Sequence[Sequence[str]]) -> list[float]:
        """Give every exchange the same probability."""
        return [1.0] * len(each)


def repaired(texts: Sequence[str], work: Path, name: str, **more: Any) -> dict[str, Repair]:
    """The repair of the texts as one pane, by attribute."""
    path = work / "in.jsonl"
    lines = (json.dumps({"id": f"d{n}", "text": text}) + "\n" for n, text in enumerate(texts))
    path.write_text("".join(lines), encoding="utf-8")
    config = load(None, {"repair.mode": "substitute", "pane.mib": 1024, **more}, ATTRIBUTES)
    Run([str(path)], work / name, config).go()
    [entry] = read_entries(work / name)
    return {
        name: found.repair for name, found in entry.attributes.items() if found.repair is not None
    }


def score(repair: Repair, after: bool) -> float:
    """DR before or after a repair."""
    counts = repair.mentions if after else repair.before.counts
    return sum(abs(each / sum(counts) - 1 / len(counts)) for each in counts) / 2


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    with gzip.open(DOCUMENTS, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["split"] == "report" and "text" in row]
    rows = list({row["text"]: row for row in rows}.values())
    texts = [row["text"] for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        default = repaired(texts, work, "default")
        with (
            patch.object(reading.DocumentJudge, "shipped", lambda *_: Labels(rows)),
            patch.object(static.FirstStage, "shipped", Likely),
        ):
            floor = repaired(texts, work, "floor", **{"repair.strictness": 0.5})
    title = f"{len(texts)} documents of the report split"
    heads = (
        "attribute",
        "mentions",
        "DR before",
        "default",
        "floor",
        "done",
        "sets changed",
        "by labels",
    )
    table = Table(*heads, title=title)
    for name, own in default.items():
        before, after, least = score(own, False), score(own, True), score(floor[name], True)
        done = (before - after) / (before - least) if before > least else 1.0
        table.add_row(
            name,
            str(sum(own.before.counts)),
            *(f"{each:.3f}" for each in (before, after, least)),
            f"{done:.0%}",
            str(own.changed),
            str(floor[name].changed),
        )
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
