"""Sentences with answers, substituted at any strictness: what is proposed is found once, what is eligible at each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cda_quality import Outcome
from cda_sample import read

from evenflow.transforms.counterfactuals import Method, Substituter, chooser
from evenflow.transforms.labels import LabelFinder, uncut
from evenflow.transforms.sentences import bounds, trimmed
from evenflow.transforms.substitution.sets import Edit, apply
from evenflow.wordlists import loader


class Answered:
    """Sentences with answers of one attribute and stratum, rewritten at any strictness; proposed once."""

    def __init__(self, attribute: str, rows: Sequence[dict[str, Any]], method: Method):
        self._words = loader.load(attribute)
        self._attribute, self._rows = attribute, rows
        self._method: Method = method
        finder = LabelFinder([self._words])
        substituter = Substituter([self._words], attribute, method, 0.0)
        self._texts = [row["before"] + row["sentence"] + row["after"] for row in rows]
        self._proposed = []
        for text in self._texts:
            found = finder.find_all(text)
            sentences = trimmed(text, uncut(bounds(text), found).tolist())
            self._proposed.append(substituter.propose(text, sentences, finder.named(found)))

    def outcomes(self, strictness: float) -> list[Outcome]:
        """Of each sentence, as cda_quality.judged has it."""
        substituter = Substituter([self._words], self._attribute, self._method, strictness)
        out: list[Outcome] = []
        for row, text, proposed in zip(self._rows, self._texts, self._proposed, strict=True):
            one_way = "leave" in row or len(self._words.groups) > 2
            wanted = chooser(substituter, text, *((row["group"], row["target"]) if one_way else (None, None)))
            first, last = len(row["before"]), len(text) - len(row["after"])
            edits = [edit for each in proposed if (group := wanted(each)) is not None for edit in each.edits[group]]
            own = [Edit(e.start - first, e.end - first, e.replacement) for e in edits if first <= e.start and e.end <= last]
            got = apply(row["sentence"], own)
            changed = got != row["sentence"]
            right = got in row["answers"] if changed else None in row["answers"]
            out.append(Outcome(right, changed, changed and right, None not in row["answers"], not changed and not right))
        return out


def in_documents(rows: Iterable[dict[str, Any]], paths: Sequence[Path]) -> Iterator[dict[str, Any]]:
    """The sentences with the rest of their documents around them, as `run` sees them, where the documents are found.

    paths: JSON lines with id, source and text. The answers were given from a few sentences of context.
    """
    rows = list(rows)
    wanted = {row.get("source") for row in rows}
    texts = {key: each["text"] for path in paths for each in read(path) if (key := f"{each['source']}:{each['id']}") in wanted}
    for row in rows:
        seen = row["before"] + row["sentence"] + row["after"]
        text = texts.get(row.get("source"), seen)
        first = text.find(seen)
        if first < 0:
            raise ValueError(f"{row['source']}: the sentence is not in this document; other documents were labelled")
        start = first + len(row["before"])
        yield row | {"before": text[:start], "after": text[start + len(row["sentence"]) :]}


def answers(paths: Sequence[Path], split: str) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The sentences of a split by attribute and stratum."""
    out: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["split"] == split:
                    out.setdefault((row["attribute"], row.get("stratum", "all")), []).append(row)
    return out


def correctness(rows: dict[tuple[str, str], list[dict[str, Any]]], steps: Sequence[float]) -> dict[tuple[str, str, str], Any]:
    """Outcomes, (sentences, 5), by attribute, stratum and way, named as effects are; BaseCDA's both ways do the same."""
    out: dict[tuple[str, str, str], Any] = {}
    for (attribute, stratum), own in sorted(rows.items()):
        gc = Answered(attribute, own, "gc")
        for step in steps:
            out[attribute, stratum, f"gc {step:g}"] = np.array(gc.outcomes(step), float)
        base = np.array(Answered(attribute, own, "base").outcomes(0.0), float)
        out[attribute, stratum, "base, planned"] = out[attribute, stratum, "base, half"] = base
    return out
