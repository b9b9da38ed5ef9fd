"""The measured lists against what was read of their labels.

The mentions are those of the part `train` of the labelled documents, whole documents read, and more
rows, drawn at random for labels with few mentions (tests/data/label_rows_README.md). None is of a
document kept for a report. A label leaves the measured lists if people are less than half of its
mentions on `KINDS` kinds of text, and less than half of all by the upper bound of Wilson's interval
of 95 %. Labels are those of language models.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from functools import cache

import pytest
from places import DATA

from evenflow.transforms import wilson
from evenflow.transforms.lab.training import labelled
from evenflow.transforms.models.reader import PEOPLE
from evenflow.wordlists.loader import ORIGINAL, load

KINDS = 3  # kinds of text on which a label must fail
HALF = 0.5
NAMES = {"state_union": "speeches", "inaugural": "speeches", "movie_reviews": "film reviews"}
LETTERS_OF_PEOPLE = {labelled.LETTERS[at] for at in PEOPLE}
COUNTERPARTS = {"goddess", "prioress", "doña", "sisterhood"}  # of god, prior, don, brotherhood
RETOLD = {"middle", "middles"}  # of table 13: replaced by “middle aged”

Kinds = dict[str, list[bool]]


@cache
def evidence() -> dict[tuple[str, str], Kinds]:
    """By attribute and label, whether each mention names people of its group, by kind of text."""
    out: dict[tuple[str, str], Kinds] = defaultdict(lambda: defaultdict(list))
    with gzip.open(DATA / labelled.FILE, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["split"] != labelled.TRAIN:
                continue
            people = {
                (entity["attribute"], number): entity["who"] in LETTERS_OF_PEOPLE
                for entity in row["entities"]
                for number in entity["mentions"]
            }
            for each in row["mentions"]:
                label = " ".join(row["text"][each["start"] : each["end"]].lower().split())
                own = out[each["attribute"], label][kind(row["source"])]
                own.append(people[each["attribute"], each["number"]])
    with (DATA / "label_rows.jsonl").open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            out[row["attribute"], row["label"]][kind(row["source"])].append(row["people"])
    return out


def kind(source: str) -> str:
    """The kind of text of a source."""
    return NAMES.get(source, source.split("-")[0])


def leaves(kinds: Kinds) -> bool:
    """Whether a label leaves the measured lists."""
    every = [each for rows in kinds.values() for each in rows]
    few_people = sum(sum(rows) < HALF * len(rows) for rows in kinds.values())
    return few_people >= KINDS and wilson.interval(sum(every) / len(every), len(every))[1] < HALF


def test_what_mostly_names_nobody_has_left_the_measured_lists() -> None:
    out = {each for each, kinds in evidence().items() if leaves(kinds)}
    assert out >= {("age", "veteran"), ("gender", "prior"), ("religion", "cohen")}
    assert not [each for each in out if each[1] in load(each[0]).labels]


@pytest.mark.parametrize("name", ORIGINAL)
def test_nothing_else_has_left(name: str) -> None:
    table = load(name)
    out = {
        label
        for (attribute, label), kinds in evidence().items()
        if attribute == table.attribute and leaves(kinds)
    }
    left = table.labels.keys() - load(table.attribute).labels.keys()
    assert left - COUNTERPARTS - RETOLD <= out
