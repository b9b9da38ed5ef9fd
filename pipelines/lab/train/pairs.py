"""Pairs of sentences with a label: files of SNLI's two formats, own ones, and outputs of a gate."""

from __future__ import annotations

import csv
import filecmp
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.pipelines.lab.train.rows import select

TEXTS = ("premise", "hypothesis")
FIELDS = (*TEXTS, "label", "task")
TASK = "pairs"  # of pairs that name none
# SNLI's names of the fields, its labels, and what stands where people did not agree on one
SNLI = {"premise": "sentence1", "hypothesis": "sentence2", "label": "gold_label"}
NLI = ("entailment", "neutral", "contradiction")
NO_LABEL = "-"


def write(places: Sequence[str], labels: Sequence[str], path: Path) -> None:
    """Write pairs as records that a gate reads, unless they are there.

    Args:
        places: Files (.jsonl, .tsv or .txt, also with .gz), or outputs of a gate.
        labels: Labels that a pair may have; none: any, in SNLI's format its three.
        path: The file to write: id, premise, hypothesis, label and task of each pair.

    Raises:
        TrainInputError: A place has no pairs, a pair cannot be used, or others were written before.
        OSError: A file cannot be read or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        for number, pair in enumerate(_pairs(places, labels)):
            file.write(json.dumps({"id": f"p{number}", **pair}) + "\n")
    if not part.stat().st_size:
        raise TrainInputError(f"{', '.join(places)}: no pair with a label is in it")
    if path.exists() and not filecmp.cmp(part, path, shallow=False):
        raise TrainInputError(
            f"{', '.join(places)}: the pairs are not those that this experiment was begun with;"
            " give another output"
        )
    part.replace(path)


def _pairs(places: Sequence[str], labels: Sequence[str]) -> Iterator[dict[str, str]]:
    """The pairs that have a label. Raises TrainInputError, OSError."""
    for place in places:
        for where, row in _rows(Path(place)):
            snli = SNLI["label"] in row
            names = SNLI if snli else {name: name for name in SNLI}
            if lost := [name for name in names.values() if row.get(name) is None]:
                raise TrainInputError(
                    f"{where}: there is no {lost[0]!r}; premise, hypothesis and label were"
                    " expected, or SNLI's sentence1, sentence2 and gold_label"
                )
            own = {name: row[given] for name, given in names.items()}
            if snli and own["label"] == NO_LABEL:
                continue
            if isinstance(own["label"], bool) or not isinstance(own["label"], str | int):
                raise TrainInputError(f"{where}: a label is text or a whole number")
            pair = {name: str(each) for name, each in own.items()}
            may = labels or (NLI if snli else ())
            if may and pair["label"] not in may:
                raise TrainInputError(
                    f"{where}: unknown label {pair['label']!r}; {', '.join(may)} were expected"
                )
            yield {**pair, "task": str(row.get("task") or TASK)}


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The records of a place, each with where it is. Raises TrainInputError, OSError."""
    if path.is_dir():
        for row in select(path).rows(more=FIELDS[:3]):
            yield f"{path}: {row.id}", row.fields
        return
    if not path.is_file():
        raise TrainInputError(f"{path}: there is no such file of pairs")
    kind = Path(path.name.removesuffix(".gz")).suffix
    if kind not in (".jsonl", ".tsv", ".txt"):
        raise TrainInputError(f"{path}: a file of pairs ends in .jsonl, .tsv or .txt (or .gz)")
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="\n") as lines:
            if kind == ".jsonl":
                for number, line in enumerate(lines, 1):
                    row = json.loads(line) if line.strip() else None
                    if row is not None and not isinstance(row, dict):
                        raise TrainInputError(f"{path}, line {number}: it is no record")
                    if row is not None:
                        yield f"{path}, line {number}", row
            else:
                table = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
                for number, row in enumerate(table, 2):
                    yield f"{path}, line {number}", row
    except (ValueError, EOFError, csv.Error) as error:
        if isinstance(error, TrainInputError):
            raise
        raise TrainInputError(f"{path}: it cannot be read ({error})") from error
