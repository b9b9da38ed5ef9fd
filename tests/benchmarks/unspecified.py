"""How often words for people without a group name people, and whether the text says their group.

    python tests/benchmarks/unspecified.py
    python tests/benchmarks/unspecified.py --draw 14 > rows.jsonl
    python tests/benchmarks/unspecified.py --speed

Rows are mentions of the key `unspecified` of the list gender and of “they”, drawn at random in each
kind of text from documents of the split train with an odd number; words were chosen on the others.
They were read one by one with 150 characters on each side. The pronouns left the list by what was
read. The weighted share counts the nouns of each kind by its mentions.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evenflow.schemas.config import Config
from evenflow.transforms import wilson
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.finder import LabelFinder, Mention
from evenflow.wordlists.loader import UNSPECIFIED, load

DATA = Path(__file__).parent.parent / "data"
ROWS = DATA / "unspecified_rows.jsonl"
AROUND = 150  # characters that are shown on each side
PIECE, TIMES, RUNS = 4000, 10, 5  # of a document of the speed: characters; copies; repetitions
SPEECHES = ("inaugural", "state_union")
PRONOUNS = ("they", "them", "their", "theirs", "themselves", "themself")
VERDICTS = {"p": "people, no gender said", "g": "people whose gender is said", "0": "nobody"}


def found(more: Sequence[str] = ()) -> dict[str, list[tuple[int, Mention, str]]]:
    """The mentions by kind of text, also of more words: document's number, mention, text."""
    words = load("gender")
    own = replace(words, unspecified=(*words.unspecified, *more))
    finder = LabelFinder([own.with_unspecified])
    out: dict[str, list[tuple[int, Mention, str]]] = defaultdict(list)
    with gzip.open(DATA / "documents.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["split"] != "train" or not row.get("text") or not row["number"] % 2:
                continue
            kind = "speeches" if row["source"] in SPEECHES else row["source"].split("-")[0]
            mentions = finder.find(row["text"])
            out[kind] += [
                (row["number"], each, row["text"]) for each in mentions if each.group == UNSPECIFIED
            ]
    return out


def draw(most: int) -> None:
    """Print mentions to be read, as many of each kind."""
    for kind, each in sorted(found(PRONOUNS).items()):
        for number, at, text in random.Random(kind).sample(each, min(most, len(each))):
            before, behind = text[max(0, at.start - AROUND) : at.start], text[at.end :][:AROUND]
            shown = " ".join(f"{before}[[{text[at.start : at.end]}]]{behind}".split())
            row = {"kind": kind, "number": number, "start": at.start, "label": at.label}
            print(json.dumps(row | {"shown": shown}, ensure_ascii=False))


def share(rows: list[dict[str, Any]], verdicts: str) -> str:
    """The share of rows with one of some verdicts, with its interval of 95 %."""
    right = sum(row["verdict"] in verdicts for row in rows)
    low, high = wilson.interval(right / len(rows), len(rows))
    return f"{right / len(rows):.2f} [{low:.2f}, {high:.2f}] ({right} of {len(rows)})"


def precision() -> None:
    """Print the shares of what was read."""
    rows = [json.loads(line) for line in ROWS.read_text("utf-8").splitlines()]
    pronouns = [row for row in rows if row["label"] in PRONOUNS]
    nouns = [row for row in rows if row["label"] not in PRONOUNS]
    print("| words | name people [95 %] | and no gender is said of them [95 %] |")
    print("| --- | --- | --- |")
    for name, own in (("all", rows), ("nouns", nouns), ("they, them, their …", pronouns)):
        print(f"| {name} | {share(own, 'pg')} | {share(own, 'p')} |")
    by_kind: dict[str, list[str]] = defaultdict(list)
    for row in nouns:
        by_kind[row["kind"]].append(row["verdict"])
    sizes = {kind: len(each) for kind, each in found().items()}
    total = sum(sizes.values())
    for verdicts in ("pg", "p"):
        part = sum(
            sizes[kind] / total * sum(one in verdicts for one in each) / len(each)
            for kind, each in by_kind.items()
        )
        print(f"nouns, {' or '.join(VERDICTS[one] for one in verdicts)}, weighted: {part:.2f}")
    wrong = Counter(row["label"] for row in rows if row["verdict"] == "0")
    print("nobody:", ", ".join(f"{label} {count}" for label, count in wrong.most_common()))


def speed() -> None:
    """Print how fast words of gender are counted without and with the measure."""
    with gzip.open(DATA / "speeches.jsonl.gz", "rt", encoding="utf-8") as lines:
        whole = [json.loads(line)["text"] for line in lines]
    texts = [each[at : at + PIECE] for each in whole for at in range(0, len(each), PIECE)] * TIMES
    numbers = range(len(texts))
    documents = Documents("", list(map(str, numbers)), texts, list(numbers))
    for name, measures in (("without", {}), ("with", {UNSPECIFIED: {}})):
        settings = {"attributes": {"gender": {}}, "measures": measures}
        counter = Annotator(Config.model_validate(settings)).mentions
        spent: list[float] = []
        for _ in range(RUNS):
            begin = time.process_time()
            counter.count(documents, with_sentences=False)
            spent.append(time.process_time() - begin)
        print(f"{name}: {sum(map(len, texts)) / 1e6 / statistics.median(spent):.0f} MB/s of CPU")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draw", type=int, help="mentions of each kind of text that are printed")
    parser.add_argument("--speed", action="store_true", help="measure the speed instead")
    args = parser.parse_args()
    if args.draw:
        draw(args.draw)
    elif args.speed:
        speed()
    else:
        precision()


if __name__ == "__main__":
    main()
