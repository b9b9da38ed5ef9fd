"""Labelled sentences that the stereotype heads learn from and are measured on, as rows.

A row: text (prepared as `measures/stereotypes/masking.py` does), task, label (1 or 0: is a
stereotype of the placeholder's group stated or implied?), source, doc, split.

split: `report` rows are never learnt from. Of real text they are those whose document has a hash of
0 modulo 5, and the report halves of the older sets.
"""

from __future__ import annotations

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
ALIKE = 6  # words
SHIPPED = ("gender", "age", "religion")
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


def same(text: str) -> str:
    """A masked sentence as it is compared."""
    return re.sub(r"\W+", " ", text.lower()).strip()


class Copies:
    """Finds near-copies: masked sentences most of whose sequences of ALIKE words were there before.

    Forum posts are quoted and repeated with another group's name, and an interval counts each once.
    """

    def __init__(self) -> None:
        self._seen: set[tuple[str, ...]] = set()

    def has(self, text: str) -> bool:
        """Whether a masked sentence is a near-copy of one before it."""
        words = same(text).split()
        own = {tuple(words[i : i + ALIKE]) for i in range(max(1, len(words) - ALIKE + 1))}
        found = len(own & self._seen)
        self._seen |= own
        return 2 * found > len(own)


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


def written() -> Iterator[Row]:
    """Sentences that were written for the purpose: they teach less than real ones."""
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
            for attribute in named:
                if (text := shown(each["text"], attribute)) is None:
                    continue
                about = (name.removeprefix("stereotype_"), doc, split, attribute)
                yield Row(text, "stereotype", label, *about)


def _subjects(text: str) -> list[str]:
    """Of a written sentence that does not say of whom the stereotype is: the attribute that it
    names first, pronouns last.
    """
    named = sorted(
        spans(text), key=lambda each: (placeholder(text[each[0] : each[1]]) in PRONOUNS, each[0])
    )
    return [named[0][2]] if named else []


def rows() -> list[Row]:
    return [*(row for row, _ in real()), *written()]
