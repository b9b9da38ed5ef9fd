"""The sentences that MiniLM is trained on for stereotypes, each with what it says to which head; and their folds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import stereotype_examples as data
import train_stereotype_frames as frames
import train_stereotypes as training
from sklearn.feature_extraction.text import CountVectorizer
from stereotype_everyday import everyday

from evenflow.transforms.stereotyping.stereotype_minilm import masked

FOLDS = 3
KIN = 0.75  # share of two published sentences' words, groups masked, from which they belong together


class Row(NamedTuple):
    """A masked sentence, the set it is of, its item, and for each head its target and weight (0: it says nothing there)."""

    sentence: str
    kind: str
    item: str
    targets: tuple[float, ...]
    weights: tuple[float, ...]


def row(sentence: str, kind: str, item: str, score: float | None, target: float, published: float, judged: float) -> Row:
    weights = (0.0 if score is None else 2.0, published, judged)
    return Row(masked(sentence), kind, item, (score or 0.0, target, target), weights)


def rows_of(given: training.Sources, hand: Sequence[frames.Labelled]) -> list[Row]:
    """All that is learnt from."""
    out = [
        row(each.sentence, "scores", example.item, each.score, example.target, 1.0, 0.0)
        for each, example in zip(given.scores, data.of_scores(given.scores), strict=True)
    ]
    for each in data.of_stereoset(given.stereoset):
        out.append(row(each.sentence, "stereoset", each.item, None, each.target, 2.0, 1.0))
    out += [row(each.sentence, "crows", each.item, None, each.target, each.weight, 0.0) for each in given.crows]
    heavy = {"corpus": 1.5}
    out += [row(each.sentence, each.kind, each.item, None, each.target, 0.0, heavy.get(each.kind, 1.0)) for each in hand]
    stated = [*data.of_scores(given.scores), *data.of_stereoset(given.stereoset), *given.crows]
    made = data.made_statements(given.adjectives, 3000)
    things = data.nouns([each.sentence for each in given.plain])
    plain = sorted(given.plain, key=lambda each: data.share(each.sentence + "/encoder"))[:12000]
    for kind, examples in (
        *(("made", made), ("made plain", data.made_plain(800)), ("wrapped", data.wrapped([*stated, *made], 3000))),
        *(("scrambled", data.scrambled(stated, things, 4000)), ("plain", plain)),
    ):
        weight = 0.6 if kind == "scrambled" else 0.5
        for each in examples:
            own = each.weight if kind == "plain" else weight
            out.append(row(each.sentence, kind, each.item, None, each.target, own, own))
    turned = [each for each in frames.beside(given, hand) if each.kind == "turned"]
    out += [row(each.sentence, "turned", each.item, None, each.target, 0.0, 0.6) for each in turned]
    return out + [row(each.sentence, "everyday", each.item, None, each.target, 0.0, 0.5) for each in everyday(4)]


def folds_of(rows: Sequence[Row]) -> npt.NDArray[np.int64]:
    """The fold (n,) of each row: items stay together, and published sentences with kin."""
    parent: dict[str, str] = {}

    def root(item: str) -> str:
        while parent.setdefault(item, item) != item:
            item = parent[item]
        return item

    published = [each for each in rows if each.kind in ("scores", "stereoset", "crows")]
    if published:
        words = CountVectorizer(binary=True, token_pattern=r"\w+")
        counts: Any = words.fit_transform([each.sentence for each in published])
        sizes, shared = np.asarray(counts.sum(axis=1)).ravel(), (counts @ counts.T).tocoo()
        near = shared.data >= KIN * (sizes[shared.row] + sizes[shared.col] - shared.data)
        for one, other in zip(shared.row[near].tolist(), shared.col[near].tolist(), strict=True):
            first, second = sorted((root(published[one].item), root(published[other].item)))
            parent[second] = first
    return np.array([int(data.share("fold/" + root(each.item)) * FOLDS) for each in rows], np.int64)


def fold_path(work: Path, fold: int) -> Path:
    """Where the adapter is that has not seen a fold."""
    return work / f"fold-{fold}.npz"


def without(given: training.Sources, attribute: str) -> training.Sources:
    """The sources without an attribute."""
    return training.replaced(
        given,
        scores=[each for each in given.scores if each.attribute != attribute],
        stereoset=[each for each in given.stereoset if each["bias_type"] != attribute],
        crows=[each for each in given.crows if not re.match(attribute, each.attribute)],
    )
