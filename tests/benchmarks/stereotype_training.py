"""Writes what the stereotype heads learn from: the rows of stereotype_examples.py, the sentences of
whole documents, and rephrasings.

    python tests/benchmarks/stereotype_training.py OUT.jsonl.gz [--whole]

A sentence of a document has a row for each attribute whose groups it names: 1 if the document's
annotator wrote a line for it with a group of that attribute. Of sentences that differ in the group
alone there is one row. Of those that state none a part is kept, or all with --whole:
`weight` says how many a row stands for. Rows of the split `tune` calibrate. No row is a sentence of
a document that is kept for the report, of whatever set, or differs from one in the group alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from stereotype_documents import DOCUMENTS, attributes, placed
from stereotype_examples import FINDER, TESTS, Copies, Row, read, rows, same, shown

from evenflow.transforms.measures.stereotypes.judging import find_candidates
from evenflow.transforms.measures.stereotypes.masking import mask
from evenflow.transforms.staging.sentence_table import Relevant
from evenflow.transforms.text.sentences import sentences

MOST = 600  # characters of a sentence
# Share of the sentences without a stereotype that is kept, by source
KEPT, KEPT_OF_OTHERS = {"reddit": 0.3, "chat": 0.5}, 0.12


def once(given: Iterable[Row]) -> list[Row]:
    """The rows without near-copies of earlier ones with the same attribute."""
    seen: dict[str, Copies] = {}
    return [row for row in given if not seen.setdefault(row.attribute, Copies()).has(row.text)]


def chance(text: str) -> float:
    """A number from 0 to 1 by which sentences are drawn."""
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "big") / 2**32


def of_documents(documents: Sequence[dict[str, Any]]) -> Iterator[tuple[Row, int]]:
    """The rows of documents that were read whole, each with its strength (0: none)."""
    whole = [Relevant(0, each["text"], sentences(each["text"]), ()) for each in documents]
    told: list[dict[tuple[int, str], int]] = []
    for each, own in zip(documents, whole, strict=True):
        found: dict[tuple[int, str], int] = {}
        at = placed(each["text"], own.sentences, each["stereotypes"])
        for (group, strength, _), numbers in zip(each["stereotypes"], at, strict=True):
            for key in [(number, name) for number in numbers for name in attributes(group)]:
                found[key] = max(found.get(key, 0), strength)
        told.append(found)
    for number, at, attribute, spans, _ in find_candidates(FINDER, whole):
        each, (start, end) = documents[number], whole[number].sentences[at]
        if end - start <= MOST:
            strength = told[number].get((at, attribute), 0)
            text = mask(each["text"][start:end], spans)
            about = (each["source"], each["id"], each["split"], attribute)
            yield Row(text, "stereotype", int(strength > 0), *about), strength


def labelled(*splits: str) -> Iterator[tuple[Row, dict[str, Any]]]:
    """The rows of sentences that were read one by one with the sentence before."""
    for each in read("stereotype_labels"):
        if each["split"] in splits and (text := shown(each["sentence"], each["attribute"])):
            about = (each["source"], each["id"], each["split"], each["attribute"])
            yield Row(text, "stereotype", int(each["label"]), *about), each


def rephrased(split: str) -> Iterator[tuple[int, str, Row]]:
    """Rephrasings of short statements: (number of the statement, kind, row).

    Args:
        split: train, or report for the statements and phrasings that nothing learns from.
    """
    phrasings = json.loads((TESTS / "stereotype_rephrasings.json").read_text(encoding="utf-8"))
    kinds = ("same", "denied") if split == "train" else ("report",)
    for number, each in enumerate(read("stereotype_bases")):
        if each["split"] != split:
            continue
        parts = {name: each[name] for name in ("several", "one", "infinitive")}
        for kind in kinds:
            for phrasing in phrasings[kind]:
                text = phrasing.format(folk="folk", folks="folks", **parts)
                text = text[0].upper() + text[1:] if not text.startswith("folk") else text
                label = int(each["stereotype"] and kind != "denied")
                doc = f"rephrased-{number}"
                row = Row(text, "stereotype", label, "rephrased", doc, split, "religion")
                yield number, kind, row


def training(whole: bool) -> Iterator[tuple[Row, float]]:
    """All rows to learn from, and how many sentences each stands for."""
    with gzip.open(DOCUMENTS, "rt", encoding="utf-8") as file:
        documents = [each for each in map(json.loads, file) if each.get("text")]
    kept = [each for each in documents if each["split"] == "report"]
    out = {each["id"] for each in kept}
    seen = {same(row.text) for row, _ in of_documents(kept)}
    seen |= {same(row.text) for row, _ in labelled("report", "tune")}
    for row in rows():
        learnt = row.split == "train" and row.doc not in out
        if learnt and same(row.text) not in seen:
            yield row, 1.0
    for row, each in labelled("train", "tune"):
        yield row, each["weight"] or 1.0
    for row, _ in of_documents([each for each in documents if each["split"] == "train"]):
        share = 1.0 if row.label or whole else KEPT.get(row.source, KEPT_OF_OTHERS)
        if (key := same(row.text)) not in seen and chance(key) < share:
            seen.add(key)
            yield row, 1 / share
    for _, _, row in rephrased("train"):
        yield row, 1.0


def main() -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--whole", action="store_true", help="every sentence of the documents")
    args = parser.parse_args()
    with gzip.open(args.out, "wt", encoding="utf-8") as file:
        for row, weight in training(args.whole):
            each = {**row._asdict(), "weight": weight}
            file.write(json.dumps(each, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
