"""Learns how sure a substitution is: python tests/benchmarks/cda_train_confidence.py [--check]

Reads sentences with answers (tests/data/cda_train.jsonl and the development half of cda_exam.jsonl), lets the rules propose
sets for each, and fits a logistic model of whether a set's change is among the answers (transforms/confidence.py says from
what). Of a sentence with several sets, the largest part of them whose change gives an answer is right, the others are not.
A change where leaving was an answer too counts LENIENT.

Prints the share that is right among those changed, and of those to change how many are, at several thresholds: for the rules'
weight, and for the model by cross-validation over documents. Then writes transforms/confidence_model.json; the same data give
the same file. --check compares it instead.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from evenflow.transforms import confidence
from evenflow.transforms.confidence import Confidence
from evenflow.transforms.counterfactuals import Substituter
from evenflow.transforms.labels import LabelFinder, uncut
from evenflow.transforms.sentences import bounds, trimmed
from evenflow.transforms.sets import Edit, Set, apply
from evenflow.wordlists import loader

DATA = Path(__file__).parents[1] / "data"
# Of age too few real sentences are to be changed (9): on them the model was no better than the rules' weight.
LEARNT = ("gender", "religion")
LENIENT = 0.4  # weight of a right change where leaving is right too
REGULAR = 0.3  # C of the logistic regression: chosen by cross-validation among 0.03, 0.1, 0.3 and 1
MOST = 40  # parts of a sentence's sets of one size that are tried
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
STEP = 1e-6  # between the numbers that a recorder gives


class Recorder(Confidence):
    """Keeps the features that it is asked about, and answers with their number, from which they are found again."""

    def __init__(self) -> None:
        super().__init__(0.0, {})
        self.rows: list[Mapping[str, float]] = []

    def probability(self, described: Mapping[str, float]) -> float:
        self.rows.append(described)
        return len(self.rows) * STEP

    def features(self, proposed: Set) -> Mapping[str, float] | None:
        """None: the rules barred it, and did not ask."""
        number = round(proposed.confidence / STEP)
        return dict(self.rows[number - 1]) if number <= len(self.rows) else None


class Example(NamedTuple):
    """A set: its features, whether the change is right, whether it had to be made, its document and the example's weight.

    features: None if it is barred by the words themselves; the model is not asked then, and learns nothing from it.
    rules: the weight of the rules.
    """

    features: Mapping[str, float] | None
    rules: float
    right: bool
    due: bool
    document: str
    weight: float


def examples(row: Mapping[str, Any], substituter: Substituter, recorder: Recorder) -> Iterator[Example]:
    """The sets of a sentence with answers."""
    sentence, answers = row["sentence"], row["answers"]
    text = row["before"] + sentence + row["after"]
    start = len(row["before"])
    end = start + len(sentence)
    recorder.rows.clear()
    finder = LabelFinder([substituter.words])
    found = finder.find_all(text)
    sentences = trimmed(text, uncut(bounds(text), found).tolist())
    proposed = [
        each
        for each in substituter.propose(text, sentences, finder.named(found))
        if each.source == row["group"]
        and each.confidence > 0
        and row["target"] in each.edits
        and any(start <= mention.start < end for mention in each.mentions)
    ]

    def becomes(some: Sequence[Set]) -> str:
        edits = [edit for each in some for edit in each.edits[row["target"]] if start <= edit.start < end]
        return apply(sentence, [Edit(edit.start - start, edit.end - start, edit.replacement) for edit in edits])

    right: Sequence[Set] = ()
    for size in range(len(proposed), 0, -1):
        parts = itertools.islice(itertools.combinations(proposed, size), MOST)
        right = next((part for part in parts if becomes(part) in answers), ())
        if right:
            break
    chosen = {id(each) for each in right}
    for each in proposed:
        good = id(each) in chosen
        weight = LENIENT if good and None in answers else 1.0
        described = recorder.features(each)
        rules = each.confidence if described is None else described["rules"]
        yield Example(described, rules, good, good and None not in answers, row["source"], weight)


def rows() -> Iterator[dict[str, Any]]:
    """Sentences with answers, in the shape of cda_train.jsonl."""
    with (DATA / "cda_train.jsonl").open(encoding="utf-8") as file:
        yield from map(json.loads, file)
    with (DATA / "cda_exam.jsonl").open(encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["split"] == "dev":
                answers = [None] if row["leave"] else [answer for answer in row["answers"] if answer != row["text"]]
                yield {
                    "attribute": row["attribute"],
                    "source": f"exam:{row['id']}",
                    "group": row["from"],
                    "target": row["to"],
                    "before": "",
                    "sentence": row["text"],
                    "after": "",
                    "answers": answers,
                }


def fitted(some: Sequence[Example]) -> Confidence:
    """The model of some examples."""
    some = [example for example in some if example.features is not None]
    vectorizer = DictVectorizer()
    matrix = vectorizer.fit_transform([example.features for example in some])
    model = LogisticRegression(C=REGULAR, max_iter=5000, tol=1e-8)
    model.fit(matrix, [example.right for example in some], sample_weight=[example.weight for example in some])
    weights = zip(vectorizer.get_feature_names_out(), np.ravel(model.coef_), strict=True)
    return Confidence(
        round(float(np.ravel(model.intercept_)[0]), 3), {str(name): round(float(each), 3) for name, each in weights}
    )


def score(model: Confidence, example: Example) -> float:
    return example.rules if example.features is None else model.probability(example.features)


def report(name: str, some: Sequence[Example], scores: npt.NDArray[np.float64]) -> None:
    """Share that is right among those changed, and of those to change how many are changed rightly, at each threshold."""
    right = np.array([example.right for example in some], bool)
    due = np.array([example.due for example in some], bool)
    cells = []
    for threshold in THRESHOLDS:
        changed = scores >= threshold
        share = right[changed].mean() if changed.any() else float("nan")
        cells.append(f"{threshold}: {share:.2f} {(changed & due).sum() / max(due.sum(), 1):.2f}")
    print(f"{name:26} area {roc_auc_score(right, scores):.3f}  " + "  ".join(cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the shipped file instead of writing it")
    check = parser.parse_args().check
    lists = [loader.load(name) for name in loader.SHIPPED]
    models: dict[str, Any] = {}
    print("                                       right among changed, changed among those to change, at least at")
    for words in lists:
        recorder = Recorder()
        substituter = Substituter(lists, words.attribute, strictness=0.0, sure=recorder)
        own = [each for row in rows() if row["attribute"] == words.attribute for each in examples(row, substituter, recorder)]
        report(f"{words.attribute}, rules", own, np.array([example.rules for example in own]))
        scores = np.zeros(len(own))
        for train, test in GroupKFold(10).split(own, groups=[example.document for example in own]):
            model = fitted([own[number] for number in train])
            scores[test] = [score(model, own[number]) for number in test]
        report(f"{words.attribute}, model ({len(own)} sets)", own, scores)
        if words.attribute in LEARNT:
            model = fitted(own)
            models[words.attribute] = {"intercept": model.intercept, "weights": dict(sorted(model.weights.items()))}
    source = "tests/data/cda_train.jsonl and the development half of cda_exam.jsonl, by cda_train_confidence.py"
    content = {"version": confidence.VERSION, "source": source, "attributes": models}
    written = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    if check:
        same = confidence.PATH.read_text(encoding="utf-8") == written
        print("the shipped model is the same" if same else "the shipped model is another")
        sys.exit(not same)
    confidence.PATH.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
