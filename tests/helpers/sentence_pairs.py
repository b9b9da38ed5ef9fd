"""Pairs of own sentences in SNLI's format, and small tests of associations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LABELS = ("entailment", "neutral", "contradiction")
WHO = ("man", "woman", "boy", "girl", "father", "king")
WHAT = (
    ("plays a guitar", ("makes music", "is on a stage", "sleeps in a bed")),
    ("runs in a park", ("is outside", "runs with a friend", "sits at home")),
    ("cooks some soup", ("makes food", "is hungry", "repairs a car")),
    ("wears a pink dress", ("wears clothes", "goes to a party", "wears a black suit")),
)


def snli(path: Path, most: int | None = None) -> Path:
    """Write JSON lines as SNLI has them: 72 pairs, and one without a label that people agree on."""
    rows = [
        {
            "annotator_labels": [label],
            "captionID": f"{who}.jpg#{at}",
            "gold_label": label,
            "pairID": f"{who}.jpg#{at}r1{label[0]}",
            "sentence1": f"A {who} {what}.",
            "sentence1_parse": "(ROOT)",
            "sentence2": f"The {who} {other}.",
        }
        for who in WHO
        for at, (what, others) in enumerate(WHAT)
        for label, other in zip(LABELS, others, strict=True)
    ][:most]
    rows.insert(1, {**rows[0], "gold_label": "-"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def associations(folder: Path) -> Path:
    """Write tests of SEAT's form: 1 (flowers and insects), 6b and 7b (groups)."""
    (folder / "seat").mkdir(parents=True)
    groups = (["man", "boy", "father", "brother"], ["woman", "girl", "mother", "sister"])
    tests = {
        "1": (["rose", "lily", "daisy", "tulip"], ["wasp", "ant", "moth", "fly"], "good", "bad"),
        "6b": (*groups, "doctor", "nurse"),
        "7b": (*groups, "old", "young"),
    }
    for name, (x, y, a, b) in tests.items():
        sets: Mapping[str, Any] = {"targ1": x, "targ2": y, "attr1": [a], "attr2": [b]}
        own = {
            side: {"category": side, "examples": [f"This is a {word}." for word in words]}
            for side, words in sets.items()
        }
        (folder / "seat" / f"sent-weat{name}.jsonl").write_text(json.dumps(own))
    return folder
