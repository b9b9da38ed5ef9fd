"""What the stereotype heads of the encoder learn from and are measured on, as rows of one JSON
Lines file.

    python tests/benchmarks/stereotype_examples.py OUT [--published FOLDER]

A row: text (prepared as `measures/stereotypes/masking.py` does), task, label, source, doc, split.
Tasks:

    stereotype   1 or 0: is a stereotype of the placeholder's group stated or implied?
    stance       stated, denied, objected, irony, reported, fact, none: what the sentence does with
                 it
    strength     0..1: how strong people find it (published scores; ours as strength / 3)
    indicators   {name: value}, see transforms/measures/stereotypes/indicators.py
    association  1 or 0: is what is said what people ascribe to such a group (StereoSet: stereotype,
                 or unrelated)?

split: `report` rows are never learnt from. Of real text they are those whose document has a hash of
0 modulo 5, and the report halves of the older sets. PUBLISHED holds StereoSet (CC BY-SA 4.0) and,
without a licence of their own and so not shipped, the human scores of Liu and the SCSC annotations
of Görge et al.; without it only what is in tests/data is written.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures.stereotypes.masking import (
    Span,
    mask,
    placeholder,
    unlisted,
    widened,
)
from evenflow.wordlists import loader

TESTS = Path(__file__).parent.parent / "data"
FIVE = 5
LOW, HIGH = -0.6, 0.6  # of the human scores, which become 0 and 1
RENAMED = {"behaviour_characteristic_trait": "behaviour"}
SHIPPED = ("gender", "age", "religion")
KINDS = {
    "denial": "denied",
    "counter": "objected",
    "report": "reported",
    "news": "fact",
    "self": "none",
    "question": "none",
}  # of not_stereotypes.jsonl
FACTS = ("news", "statistic", "statistics", "history", "science", "law", "definition")
POINTS = {
    "denial": "denied",
    "counter": "objected",
    "counter-speech": "objected",
    "report": "reported",
    **dict.fromkeys(FACTS, "fact"),
}  # of the sets of twins
SCSC = (
    "target",
    "connotation",
    "gram_form",
    "ling_form",
    "behaviour_characteristic_trait",
    "situation",
    "generalization",
    "explanation",
    "signal_word",
)
REAL = ("stereotype_dev", "stereotype_gold", "stereotype_read")
LISTED = [widened(loader.load(name)) for name in SHIPPED]
FINDER = LabelFinder([*LISTED, *unlisted(SHIPPED)])
PRONOUNS = ("they", "their", "themselves")


class Row(NamedTuple):
    """See above."""

    text: str
    task: str
    label: Any
    source: str
    doc: str
    split: str
    attribute: str


def of_hash(doc: str) -> str:
    """The split of a document."""
    return (
        "report"
        if int.from_bytes(blake2b(doc.encode(), digest_size=8).digest(), "big") % FIVE == 0
        else "train"
    )


def shown(sentence: str, attribute: str) -> str | None:
    """The sentence as a model sees it for an attribute; None if it names none of its groups."""
    own = [each for each in spans(sentence) if each[2] == attribute]
    return mask(sentence, own) if own else None


def spans(sentence: str) -> list[Span]:
    """The words that name people of a group, listed or not, in order."""
    return sorted((each.start, each.end, each.attribute) for each in FINDER.find(sentence))


def kind_of(source: str) -> str:
    """The kind of text of a source: posts, where most stereotypes stand, or other."""
    return "posts" if source.removesuffix("-older") == "reddit" else "other"


def read(name: str) -> list[dict[str, Any]]:
    path = TESTS / f"{name}.jsonl"
    return (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if path.exists()
        else []
    )


def used_to_calibrate(row: Row) -> bool:
    """Whether a report row calibrates the removal (stereotype_calibration.py), so that no figure
    may come from it.
    """
    return blake2b(b"calibration/" + row.doc.encode(), digest_size=1).digest()[0] % 2 == 0


def real() -> Iterator[tuple[Row, int]]:
    """Sentences of real documents, labelled one by one, each with the strength of the stereotype in
    it (0: none).
    """
    for name, each in [(one, each) for one in REAL for each in read(one)]:
        text = shown(each["sentence"], each["attribute"])
        if text is None:
            continue
        doc = each["id"]
        split = (
            {"dev": "train", "report": "report"}[each["half"]] if "half" in each else of_hash(doc)
        )
        if each.get("drawn") == "called":  # by a model that learnt from the others: to judge it by
            split = "report"
        source = each["source"] if name == "stereotype_read" else f"{each['source']}-older"
        strength = each.get("strength", 0) if each["label"] else 0
        about = (source, doc, split, each["attribute"])
        yield Row(text, "stereotype", int(each["label"]), *about), strength
        if stance := each.get("stance", "stated" if each["label"] else None):
            yield Row(text, "stance", stance, *about), strength
        if strength:
            yield Row(text, "strength", strength / 3, *about), strength
        if each.get("indicators"):
            yield Row(text, "indicators", each["indicators"], *about), strength


def written() -> Iterator[Row]:
    """Sentences that were written for the purpose: they teach what stance is, and less than real
    ones what a stereotype is.
    """
    for name in ("stereotype_written", "stereotype_pairs", "stereotype_exam", "not_stereotypes"):
        for number, each in enumerate(read(name)):
            named = [each["attribute"]] if "attribute" in each else SHIPPED
            if name == "stereotype_written":
                named = _subjects(each["text"])
            doc = f"{name}-{each.get('twin') or each.get('id') or number}"
            split = (
                {"train": "train", "dev": "train", "report": "report"}[each["split"]]
                if "split" in each
                else of_hash(doc)
            )
            label = int(each.get("stereotype", False))
            stance = (
                "stated"
                if label
                else KINDS.get(each.get("kind", ""), POINTS.get(each.get("point", "")))
            )
            for attribute in named:
                if (text := shown(each["text"], attribute)) is None:
                    continue
                about = (name.removeprefix("stereotype_"), doc, split, attribute)
                yield Row(text, "stereotype", label, *about)
                if stance:
                    yield Row(text, "stance", stance, *about)


def _subjects(text: str) -> list[str]:
    """Of a written sentence that does not say of whom the stereotype is: the attribute that it
    names first, pronouns last.
    """
    named = sorted(
        spans(text), key=lambda each: (placeholder(text[each[0] : each[1]]) in PRONOUNS, each[0])
    )
    return [named[0][2]] if named else []


def stereoset(folder: Path) -> Iterator[tuple[str, str, str, int, str]]:
    """(sentence, masked, item, label, attribute) of both parts."""
    for line in (
        (folder / "stereoset_intrasentence_dev.jsonl").read_text(encoding="utf-8").splitlines()
    ):
        each = json.loads(line)
        if each["label"] in ("stereotype", "unrelated"):
            masked = hidden(each["sentence"], each["target"], each["bias_type"])
            yield (
                each["sentence"],
                masked,
                each["id"],
                int(each["label"] == "stereotype"),
                each["bias_type"],
            )
    with gzip.open(folder / "stereoset_intersentence.jsonl.gz", "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            each = json.loads(line)
            for label in ("stereotype", "unrelated"):
                both = f"{each['context']} {each[label]}"
                yield (
                    both,
                    hidden(both, each["target"], each["bias_type"]),
                    f"inter-{number}",
                    int(label == "stereotype"),
                    each["bias_type"],
                )


def hidden(sentence: str, target: str, kind: str) -> str:
    """A published sentence with its target and, of an attribute that ships, all words of its groups
    as placeholders.
    """
    text = shown(sentence, kind) or sentence
    text = re.sub(rf"\b{re.escape(target)}s\b", "folks", text, flags=re.IGNORECASE)
    return re.sub(rf"\b{re.escape(target)}\b", "folk", text, flags=re.IGNORECASE)


def published(folder: Path) -> Iterator[Row]:
    """StereoSet, human scores, SCSC. Sentences of the scores' validation part are report rows
    wherever they stand.
    """
    scores = {}
    for part in ("train", "val"):
        with (folder / f"human_scores_{part}.csv").open(encoding="utf-8", newline="") as file:
            scores[part] = [each for each in csv.reader(file) if len(each) == 3]
    sets = list(stereoset(folder))
    items = {sentence.casefold(): item for sentence, _, item, _, _ in sets}
    kept = {items.get(sentence.casefold()) for sentence, _, _ in scores["val"]}
    for _, masked, item, label, kind in sets:
        yield Row(
            masked,
            "association",
            label,
            "stereoset",
            item,
            "report" if item in kept else of_hash(item),
            kind,
        )
    for part, rows in scores.items():
        for sentence, kind, score in rows:
            item = items.get(sentence.casefold())
            if part == "train" and item is not None and (item in kept or of_hash(item) == "report"):
                continue
            value = min(1.0, max(0.0, (float(score) - LOW) / (HIGH - LOW)))
            text = shown(sentence, kind) or sentence
            yield Row(
                text,
                "strength",
                value,
                "scores",
                item or sentence[:60],
                "report" if part == "val" else "train",
                kind,
            )
    with (folder / "scsc_annotations.csv").open(encoding="utf-8", newline="") as file:
        for each in csv.DictReader(file):
            found = {
                RENAMED.get(name, name): each[name].strip()
                for name in SCSC
                if each[name].strip() != "not-applicable"
            }
            if found:
                text = hidden(each["input"], each["label"].strip() or "\0", each["bias_type"])
                yield Row(
                    text,
                    "indicators",
                    found,
                    "scsc",
                    each["input"][:60],
                    of_hash(each["input"]),
                    each["bias_type"],
                )


def rows(folder: Path | None) -> list[Row]:
    return [*(row for row, _ in real()), *written(), *(published(folder) if folder else ())]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--published", type=Path)
    args = parser.parse_args()
    with args.out.open("w", encoding="utf-8") as file:
        for row in rows(args.published):
            file.write(json.dumps(row._asdict(), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
