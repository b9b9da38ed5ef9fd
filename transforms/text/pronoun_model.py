"""The logistic regression that tells “him” from “his” and “her” from “hers” by the context.

It is trained on raw text by `tests/benchmarks/cda_train_pronouns.py`. Where a text says “his” or
“him”, a “her” in that place would have had the same case; “my” and “mine” likewise tell whether a
“his” would be “her” or “hers”. No treebank is needed.
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import NamedTuple

from evenflow.transforms.text.english import CLOSED
from evenflow.transforms.text.shipped import data
from evenflow.transforms.text.words import TOKEN

MODEL_PATH = Path(__file__).with_name("pronoun_model.json")
# Characters read on either side: four words, with room for long ones. Nothing further away decides
# the case of a pronoun.
REACH = 64
STOP = ".!?"
END = "</s>"  # stands for every token beyond the end of the sentence


class PronounModel(NamedTuple):
    """The stored model."""

    weights: dict[str, dict[str, float]]
    classes: dict[str, str]


@cache
def shipped() -> PronounModel:
    """The model of `pronoun_model.json`."""
    stored = json.loads(data(MODEL_PATH))
    return PronounModel(
        stored["models"],
        {word: code for code, words in stored["classes"].items() for word in words.split()},
    )


def list_features(text: str, start: int, end: int, classes: dict[str, str]) -> list[str]:
    """Name the features of the place text[start:end], from the words around it.

    The word in the place itself is not used.
    """
    before = TOKEN.findall(text[max(0, start - REACH) : start])[-3:]
    after = TOKEN.findall(text[end : end + REACH])[:4]
    if end + REACH < len(text) and len(after) < 4 and after and not after[-1].isalnum():
        after.append("")
    left = _cut(before[::-1])
    right = _cut(after)
    p1, p2 = left[0].lower(), left[1].lower()
    n1, n2, n3 = right[0].lower(), right[1].lower(), right[2].lower()
    kind = _kind(right[0])
    c1, c2, q1 = classes.get(n1, "????"), classes.get(n2, "????"), classes.get(p1, "????")
    a, b, q = c1[0] + c1[2], c2[0] + c2[2], q1[1] + q1[3]
    return [
        f"A={a}",
        f"B={b}",
        f"P={q}",
        f"AB={a}{b}",
        f"PA={q}{a}",
        f"PAB={q}{a}{b[0]}",
        f"An2={a} {n2}",
        f"ABn3={a}{b} {n3}",
        f"p1A={p1} {a}",
        f"Pn1={q} {n1}",
        "bias",
        f"n1={n1}",
        f"n2={n2}",
        f"n3={n3}",
        f"p1={p1}",
        f"p2={p2}",
        f"n1n2={n1} {n2}",
        f"p1n1={p1} {n1}",
        f"p2p1={p2} {p1}",
        f"s3={n1[-3:]}",
        f"s2={n1[-2:]}",
        f"t3={n2[-3:]}",
        f"s3t3={n1[-3:]} {n2[-3:]}",
        f"s2n2={n1[-2:]} {n2}",
        f"c={CLOSED.get(n1, '')}",
        f"p1c={p1} {CLOSED.get(n1, '')}",
        f"cc={CLOSED.get(n1, '')} {CLOSED.get(n2, '')}",
        f"cn2={CLOSED.get(n1, kind)} {n2}",
        f"k={kind}",
        f"kk={kind} {_kind(right[1])}",
        f"p1s3={p1} {n1[-3:]}",
        f"p1k={p1} {kind}",
    ]


def _cut(tokens: list[str]) -> list[str]:
    """Three tokens outward from the place, END from the sentence's end on."""
    out: list[str] = []
    for token in tokens[:3]:
        if token in STOP or "\n" in token:
            break
        out.append(token)
    if len(out) < 3 and len(tokens) > len(out):
        out.append(tokens[len(out)][0])
    return [*out, END, END, END][:3]


def _kind(token: str) -> str:
    """The shape of a token: its capitals, a digit, or the mark itself."""
    if token == END:
        return "end"
    if token[0].isalpha():
        return "X" if token.isupper() and len(token) > 1 else "Xx" if token[0].isupper() else "x"
    return "9" if token[0].isdigit() else token[0]


def predict(model: str, text: str, start: int, end: int) -> float:
    """Compute the probability that the place text[start:end] takes the model's second form.

    Returns the probability, 0 to 1.
    """
    weights, classes = shipped()
    own = weights[model]
    total = sum([own.get(name, 0.0) for name in list_features(text, start, end, classes)])
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
