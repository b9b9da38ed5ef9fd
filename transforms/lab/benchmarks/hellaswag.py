"""HellaSwag: which of four endings follows (Zellers et al. 2019).

The figure is accuracy: the share of items whose right ending has the highest log-probability after
its context. `normalised` divides by the ending's length in characters first, as
lm-evaluation-harness does. Range 0 to 1, higher is better; guessing gives 0.25. Limits: sentences
from WikiHow and captions, some of them broken; it says nothing about bias.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenflow.transforms.lab.benchmarks.data import Data
from evenflow.transforms.lab.benchmarks.suite import HEADLINE, About, Item, Measure, mean, value
from evenflow.transforms.lab.language_models.causal import CausalModel, Text

FILE = "hellaswag_val.jsonl"
MARKS = re.compile(r"\[.*?\]")  # of the WikiHow part


def read(data: Data) -> list[Item]:
    """The items of the validation set."""
    fields = ("ind", "ctx", "endings", "label")
    return [
        Item(str(each["ind"]), {name: each[name] for name in fields[1:]})
        for each in data.records(FILE, fields)
    ]


def prepare(model: CausalModel, item: Item, seed: int) -> tuple[list[Text], list[int], int]:
    """The endings after the context, their lengths in characters, and the right one."""
    endings = [_clean(each) for each in item.content["endings"]]
    context = _clean(item.content["ctx"])
    texts = [model.ending(context, f" {ending}") for ending in endings]
    model.check(texts, f"item {item.id}")
    return texts, [len(each) for each in endings], int(item.content["label"])


def ask(
    model: CausalModel, prepared: Sequence[tuple[list[Text], list[int], int]]
) -> list[dict[str, Any]]:
    """Whether the right ending is the likeliest."""
    found: list[dict[str, Any]] = []
    scores = model.score([texts for texts, _, _ in prepared])
    for own, (_, lengths, label) in zip(scores, prepared, strict=True):
        totals = np.array([each.total for each in own])
        values = {
            "correct": int(totals.argmax() == label),
            "normalised": int((totals / lengths).argmax() == label),
        }
        found.append({"values": values})
    return found


def measures(kinds: Sequence[str]) -> list[Measure]:
    """Accuracy, and normalised accuracy."""
    return [
        Measure(HEADLINE, value("correct"), mean, share=True),
        Measure("normalised", value("normalised"), mean, share=True),
    ]


def _clean(text: str) -> str:
    """A text without the marks of WikiHow, as lm-evaluation-harness has it."""
    return MARKS.sub("", text.strip().replace(" [title]", ". ")).replace("  ", " ")


ABOUT = About(
    name="hellaswag",
    title="HellaSwag",
    source="Zellers et al. 2019",
    data="validation set, 10,042 items, MIT",
    formula="share of items whose right ending has the highest log-probability after its context",
    limits="broken sentences from WikiHow; says nothing about bias",
    models=("causal",),
)
