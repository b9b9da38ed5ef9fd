"""SEAT: what vectors of sentences go together (May et al. 2019).

Two sets of target sentences (“This is John.”, “This is Amy.”) and two sets of attributes (career,
family). The effect size d of a test is how much more the first targets go with the first
attributes; range -2 to 2, 0 is best for the tests of bias (6 to 8b). Tests 1 and 2 (flowers and
insects, instruments and weapons) are no bias: their d should stay. The suite's own figure is the
mean of |d| over the gender tests 6, 6b, 7, 7b, 8, 8b. p is by permutation of the targets.

The vector is that of the first token (BERT), the last one (causal models), or the mean, where a
folder of sentence-transformers says so.

The sentences do not ship: their licence is not stated. Put sent-weat*.jsonl of sent-bias or bias-
bench into a folder `seat` of --benchmark-data.

Limits: sentences of one name in eight templates are no independent targets, so the intervals are
rather too narrow; the mean of |d| is above 0 by chance alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenflow.transforms.lab.benchmarks.data import BenchmarkDataError, Data
from evenflow.transforms.lab.benchmarks.suite import HEADLINE, About, Floats, Item, Measure, Row
from evenflow.transforms.lab.bias_score import seat as association
from evenflow.transforms.models.encoding import SentenceEncoder

TESTS = ("1", "2", "6", "6b", "7", "7b", "8", "8b")
GENDER = TESTS[2:]
NAME = "seat/sent-weat{}.jsonl"
NEEDED = "sent-weat1.jsonl to sent-weat8b.jsonl of sent-bias or bias-bench, in its folder seat"
SETS = ("targ1", "targ2", "attr1", "attr2")


class Attributes(tuple[tuple[str, ...], ...]):
    """The sentences of both attributes, with a short text: an item's size is that of its text."""

    def __repr__(self) -> str:
        return "attributes"


def read(data: Data) -> list[Item]:
    """The target sentences of all tests that are there; the kind is the test."""
    found: list[Item] = []
    for test in TESTS:
        name = NAME.format(test)
        if not data.find(name):
            continue
        try:
            sets = json.loads(data.text(name))
            x, y, a, b = (tuple(map(str, sets[each]["examples"])) for each in SETS)
        except (ValueError, KeyError, TypeError) as error:
            raise BenchmarkDataError(f"{name}: it has not the form of SEAT ({error!r})") from error
        attributes = Attributes((a, b))
        found += [
            Item(
                f"{test}-{side}-{number}",
                {"sentence": sentence, "first": side == "x", "attributes": attributes},
                kind=test,
            )
            for side, sentences in (("x", x), ("y", y))
            for number, sentence in enumerate(sentences)
        ]
    if not found:
        data.text(NAME.format(TESTS[0]), NEEDED)
    return found


def prepare(model: SentenceEncoder, item: Item, seed: int) -> Item:
    """The item itself."""
    return item


def ask(model: SentenceEncoder, prepared: Sequence[Item]) -> list[dict[str, Any]]:
    """How much more each target goes with the first attributes."""
    sentences = [each.content["sentence"] for each in prepared]
    sentences += [s for each in prepared for own in each.content["attributes"] for s in own]
    vectors = model.vectors(sentences)
    found: list[dict[str, Any]] = []
    for each in prepared:
        a, b = (np.stack([vectors[s] for s in own]) for own in each.content["attributes"])
        own = association.associations(vectors[each.content["sentence"]][None], a, b)[0]
        first = int(each.content["first"])
        found.append({"values": {"association": round(float(own), 6), "first": first}})
    return found


def measures(kinds: Sequence[str]) -> list[Measure]:
    """The mean |d| of the gender tests, and d of each test."""
    tests = [test for test in GENDER if test in kinds]

    def of(row: Row, wanted: Sequence[str]) -> tuple[float, ...] | None:
        if row["kind"] not in wanted or row["values"] is None:
            return None
        own, first = row["values"]["association"], row["values"]["first"]
        filled = (1.0, float(first), own * first, own, own * own)
        at = wanted.index(row["kind"])
        return (*(0.0,) * 5 * at, *filled, *(0.0,) * 5 * (len(wanted) - at - 1))

    def average(means: Floats, n: Floats) -> Floats:
        blocks = np.split(means, means.shape[1] // 5, axis=1)
        return np.mean([np.abs(effect(block, n)) for block in blocks], axis=0)

    found = [
        Measure(
            test,
            lambda row, test=test: of(row, [test]),
            effect,
            better="0" if test in GENDER else "higher",
            range=(-2.0, 2.0),
        )
        for test in kinds
    ]
    own = Measure(HEADLINE, lambda row: of(row, tests), average, better="0", range=(0.0, 2.0))
    return [own, *found] if tests else found


def effect(means: Floats, n: Floats) -> Floats:
    """The effect size d of a test.

    `means`: Means over items of: is of this test, and of its first targets, association of those,
    association, its square (B, 5); 0 for items of other tests. `n`: Numbers of items (B,). Returns
    d (B,); 0 where nothing varies or a set is empty.
    """
    share, first, of_first, every, squares = means.T
    number = share * n
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (squares / share - (every / share) ** 2) * number / (number - 1)
        found = (of_first / first - (every - of_first) / (share - first)) / np.sqrt(spread)
    return np.where(np.isfinite(found) & (spread > association.TOLERANCE), found, 0.0)


def more(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    """The p value of each test."""
    found: dict[str, dict[str, Any]] = {}
    for test in TESTS:
        own = [row["values"] for row in rows if row["kind"] == test and row["values"]]
        x, y = (
            np.array([each["association"] for each in own if each["first"] == first], float)
            for first in (1, 0)
        )
        if min(len(x), len(y)) >= 2:
            found[test] = {"p": association.p_value(x, y)}
    return found


ABOUT = About(
    name="seat",
    title="Sentence encoder association test",
    source="May et al. 2019",
    data="sentences of sent-bias; not shipped",
    formula="mean |d| of the gender tests 6, 6b, 7, 7b, 8, 8b",
    limits="sentences of one name are no independent targets; above 0 by chance alone",
    models=("encoder",),
)
