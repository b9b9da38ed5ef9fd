"""Trains the form's model of `evenflow.transforms.stereotypes`: the second regression, over words and form.

    python tests/benchmarks/train_stereotype_form.py DATA ENCODER

DATA and ENCODER as for train_stereotypes.py, which is run before. A sentence's logit by its words comes from a linear model
that was trained without its item (two folds), as it will be for sentences that are new. Added are the development halves of
the sentences labelled by hand and of those that are no stereotypes. Nothing of the other halves is read, and nothing of
`stereotype_everyday.jsonl`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import stereotype_examples as data
import train_stereotypes as training
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from stereotype_examples import Example

from evenflow.transforms import stereotype_form, stereotype_minilm, stereotypes
from evenflow.transforms.stereotype_features import features
from evenflow.transforms.stereotype_terms import Terms

TESTS = Path(__file__).parent.parent / "data"
GOLD = TESTS / "stereotype_gold.jsonl"
FOLDS = 2
STRENGTH = 0.3  # inverse of the penalty on the weights
FEWEST = 8  # sentences that a feature must stand in
# Share of each kind's examples that is read, for time, and what each weighs here beside an everyday sentence.
KEPT = {
    **{"plain": (0.4, 1.0), "statement": (0.25, 0.3), "told": (0.5, 0.5), "made": (0.5, 0.5), "other": (1.0, 0.25)},
    "everyday": (1.0, 3.0),
}
BY_HAND = 3.0  # weight of a sentence that was labelled by hand, or written as none
SOURCE = training.SOURCE + "; everyday sentences written for Evenflow; half of its sentences labelled by hand"


def kind_of(each: Example) -> str:
    if each.attribute == data.PLAIN:
        return "plain"
    found = re.match(r"(statement|told|made)-\d", each.item)
    return found.group(1) if found else "everyday" if "{" in each.item else "other"


def weighed(each: Example) -> Example | None:
    """The example with its weight here; None if it is not read."""
    share, weight = KEPT.get(kind_of(each), (1.0, 1.0))
    return each._replace(weight=each.weight * weight) if data.share(each.sentence + "/form") < share else None


def by_hand() -> list[Example]:
    """The development halves of what was labelled and written by hand."""
    rows = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
    gold = [
        Example(row["sentence"], 0.95 if row["label"] or row["other"] else 0.02, BY_HAND, row["id"], row["attribute"])
        for row in rows
        if row["half"] == "dev"
    ]
    none = [json.loads(line) for line in (TESTS / "not_stereotypes.jsonl").read_text(encoding="utf-8").splitlines()]
    dev = [row["text"] for row in none if int(hashlib.sha256(row["text"].encode()).hexdigest(), 16) % 2 == 0]
    return gold + [Example(text, 0.02, BY_HAND, data.folded(text), "none") for text in dev]


def unseen_logits(examples: Sequence[Example], extra: Sequence[Example], words: training.Vectors, common: Terms) -> list[float]:
    """The logits of the examples' words, each by a model that did not see its item; those of `extra` by one of them."""
    folds = np.array([int(data.share(each.item) * FOLDS) for each in [*examples, *extra]])
    sentences = [each.sentence for each in [*examples, *extra]]
    out = np.zeros(len(folds))
    for fold in range(FOLDS):
        head = training.fit_probability([each for each, of in zip(examples, folds, strict=False) if of != fold], words)
        own = np.flatnonzero(folds == fold)
        out[own] = head(features([sentences[place] for place in own], [()] * len(own), common))
    return out.tolist()


def fit(examples: Sequence[Example], logits: Sequence[float]) -> tuple[dict[str, float], float]:
    """Weights by feature, and the bias, of a logistic regression; a target between 0 and 1 counts on both sides."""
    rows = [
        stereotype_form.beside(stereotype_form.form(each.sentence, ()), logit)
        for each, logit in zip(examples, logits, strict=True)
    ]
    columns = DictVectorizer()
    seen: Any = columns.fit_transform(rows)
    often = np.flatnonzero(np.bincount(seen.indices, minlength=seen.shape[1]) >= FEWEST)
    seen = seen[:, often]
    target = np.array([each.target for each in examples])
    weight = np.array([each.weight for each in examples])
    model: Any = LogisticRegression(C=STRENGTH, max_iter=500)
    both = np.concatenate([np.ones(len(target)), np.zeros(len(target))])
    twice = [place for _ in range(2) for place in range(len(target))]
    model.fit(seen[twice], both, sample_weight=np.concatenate([weight * target, weight * (1 - target)]))
    names = columns.get_feature_names_out()[often]
    weights = {str(name): round(float(value), 4) for name, value in zip(names, model.coef_[0], strict=True)}
    return weights, round(float(model.intercept_[0]), 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    args = parser.parse_args()
    given = training.sources(args.data, GOLD)
    examples = training.examples_of(given)
    words = training.vectors(training.vocabulary(examples, given.adjectives), stereotype_minilm.Encoder(args.encoder))
    common = stereotypes.load(stereotypes.MODEL_PATH).common
    extra = by_hand()
    logits = unseen_logits(examples, extra, words, common)
    rows = [(weighed(each), logit) for each, logit in zip(examples, logits, strict=False)]
    pairs = [(each, logit) for each, logit in rows if each is not None]
    pairs += list(zip(extra, logits[len(examples) :], strict=True))
    weights, bias = fit([each for each, _ in pairs], [logit for _, logit in pairs])
    stereotypes.dump(stereotypes.FORM_PATH, "form", {"weights": weights, "bias": bias}, SOURCE)
    print(f"{stereotypes.FORM_PATH.name}: {len(pairs)} sentences, {len(weights)} features")


if __name__ == "__main__":
    main()
