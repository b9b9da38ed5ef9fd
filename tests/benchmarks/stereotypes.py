"""Figures of the stereotype detector: the shipped model, the linear one in it and, with an encoder's folder, MiniLM.

    python tests/benchmarks/stereotypes.py DATA [--encoder FOLDER]
    python tests/benchmarks/stereotypes.py DATA --plain FOLDER --model MODEL_FOLDER --work WORK (--folds | --leave-out race)

DATA as for train_stereotypes.py. Printed, with 95 % bootstrap intervals over sentences or items: Spearman of the strength
with people's scores on the validation part; reliability tables of the probability; precision and recall on the sentences
labelled by hand and on two examinations (both detectors learnt from the parts `dev` and `train`, so their figures there say
nothing; the parts `report` are only printed); everyday sentences (only printed); sentences that are no stereotypes; the gap
between groups; sentences a second and core. --folds: StereoSet by models that never saw the item. --leave-out: the strength
for an attribute by models that never saw it. For both: PLAIN, a folder that stereotype_convert wrote with --plain;
MODEL_FOLDER and WORK as for train_stereotype_minilm.py, which has to be run before (with --leave-out for the second).
Anti-stereotypes name a trait that goes against what is said of the group, often just as generally: with groups masked the
two differ in the trait alone, and only in so far as traits that people ascribe differ from others; so that figure says how
far the detector goes by content.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import stereotype_examples as data
import stereotype_rows
import train_stereotypes as training
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from evenflow.transforms import stereotype_convert, stereotypes
from evenflow.transforms.labels import LabelFinder
from evenflow.transforms.stereotyping import stereotype_minilm
from evenflow.wordlists import loader

TESTS = Path(__file__).parent.parent / "data"
DRAWS = 1000  # of the bootstrap
BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.01)  # of the reliability table
Values = npt.NDArray[Any]
FINDER = LabelFinder([loader.load(name) for name in loader.SHIPPED])
Model = stereotypes.WithFrames | stereotypes.Linear | stereotype_minilm.MiniLM


class Remembering(stereotype_minilm.Encoder):
    """An encoder that embeds a sentence once: the models of several splits share most of theirs."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self._known: dict[str, Values] = {}

    def embed(self, sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        new = sorted({each for each in sentences if each not in self._known})
        self._known.update(zip(new, super().embed(new), strict=True))
        return np.array([self._known[each] for each in sentences], np.float32).reshape(-1, stereotype_minilm.WIDTH)


def labels(sentence: str) -> list[tuple[int, int, str]]:
    return [(mention.start, mention.end, mention.attribute) for mention in FINDER.find(sentence)]


def chances(model: Model, sentences: Sequence[str]) -> Values:
    """Probabilities (n,); where the model cannot say, 0: nothing would be done about the sentence."""
    given = model.detect(sentences, [labels(sentence) for sentence in sentences])
    return np.array([0.0 if each is None else each for each in given])


def interval(figure: Callable[[Values], float], n: int) -> str:
    """A figure of n cases given by index, with its bootstrap interval."""
    rng = np.random.default_rng(0)
    drawn = [figure(rng.integers(0, n, n)) for _ in range(DRAWS)]
    low, high = np.nanquantile(drawn, (0.025, 0.975))
    return f"{figure(np.arange(n)):.3f} [{low:.3f}, {high:.3f}]"


def rank(first: Values, second: Values) -> Callable[[Values], float]:
    return lambda at: float(np.asarray(spearmanr(first[at], second[at]))[0])


def area(positive: Values, negative: Values) -> float:
    """Area under the ROC curve."""
    return float(roc_auc_score(np.r_[np.ones(len(positive)), np.zeros(len(negative))], np.r_[positive, negative]))


def people(model: Model, rows: Sequence[data.Scored]) -> None:
    found = model.strengths([row.sentence for row in rows], [labels(row.sentence) for row in rows])
    strength = np.array([0.0 if each is None else each for each in found])
    score = np.array([row.score for row in rows])
    print(f"strength, Spearman with people's scores (n={len(rows)}): {interval(rank(strength, score), len(rows))}")
    for attribute in sorted({row.attribute for row in rows}):
        at = np.array([i for i, row in enumerate(rows) if row.attribute == attribute])
        print(f"  {attribute} (n={len(at)}): {interval(rank(strength[at], score[at]), len(at))}")


def reliability(name: str, chance: Values, true: Values) -> None:
    """Predicted probability beside the share that is true, by bin."""
    print(f"reliability on {name} (predicted mean, true share, n); Brier {np.mean((chance - true) ** 2):.3f}")
    for low, high in pairwise(BINS):
        at = (chance >= low) & (chance < high)
        if at.any():
            print(f"  {low:.1f} to {min(high, 1):.1f}: {chance[at].mean():.2f} {true[at].mean():.2f} {at.sum()}")


def by_hand(model: Model) -> None:
    rows = [json.loads(line) for line in (TESTS / "stereotype_gold.jsonl").read_text(encoding="utf-8").splitlines()]
    for half in ("dev", "report"):
        own = [row for row in rows if row["half"] == half]
        chance = chances(model, [row["sentence"] for row in own])
        for whose, true in (
            ("of the attribute's groups", np.array([row["label"] for row in own])),
            ("of any group", np.array([bool(row["label"] or row["other"]) for row in own])),
        ):
            found(f"by hand, {half}, {whose}", chance, true)
            reliability(f"by hand, {half}, {whose}", chance, true)


def found(name: str, chance: Values, true: Values) -> None:
    """Area, precision and recall of what is called at the threshold."""
    called = chance >= stereotypes.THRESHOLD

    def precision(at: Values) -> float:
        return float((called & true)[at].sum() / max(called[at].sum(), 1))

    def recall(at: Values) -> float:
        return float((called & true)[at].sum() / max(true[at].sum(), 1))

    n = len(true)
    print(f"{name} (n={n}, {true.sum()} stereotypes, {called.sum()} called): area {area(chance[true], chance[~true]):.3f}")
    print(f"  precision {interval(precision, n)}, recall {interval(recall, n)}")


def exam(model: Model, name: str, half: str) -> None:
    """Sentences by an annotator who has not seen the program; twins say the reverse in most of the same words."""
    rows = [json.loads(line) for line in (TESTS / f"stereotype_{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    own = [row for row in rows if row["split"] == half]
    chance = chances(model, [row["text"] for row in own])
    true = np.array([row["stereotype"] for row in own])
    found(f"{name}, {half}", chance, true)
    right = (chance >= stereotypes.THRESHOLD) == true
    print(f"  passed of those that are none: {interval(lambda at, r=right[~true]: float(r[at].mean()), int((~true).sum()))}")
    for field in ("strength", "attribute"):
        values = np.array([row[field] for row in own])
        shares = [f"{value} {right[true & (values == value)].mean():.2f}" for value in sorted(set(values[true]))]
        print(f"  found by {field}: {', '.join(shares)}")
    twins: dict[str, dict[bool, float]] = {}
    for row, each in zip(own, chance.tolist(), strict=True):
        if row["twin"]:
            twins.setdefault(row["twin"], {})[row["stereotype"]] = each
    print(f"  of two twins the stereotype is higher: {np.mean([each[True] > each[False] for each in twins.values()]):.3f}")
    reliability(f"{name}, {half}", chance, true)


def everyday(model: Model) -> None:
    rows = [json.loads(line) for line in (TESTS / "stereotype_everyday.jsonl").read_text(encoding="utf-8").splitlines()]
    chance = chances(model, [row["text"] for row in rows])
    true = np.array([row["stereotype"] for row in rows])
    right = (chance >= stereotypes.THRESHOLD) == true
    print(f"everyday sentences, only reported (n={len(rows)}): area {area(chance[true], chance[~true]):.3f}")
    for name, own in (("stereotypes found", true), ("plain sentences passed", ~true)):
        print(f"  {name}: {interval(lambda at, r=right[own]: float(r[at].mean()), int(own.sum()))}")
        kinds = np.array([row["kind"] for row in rows])
        shares = {kind: right[own & (kinds == kind)].mean() for kind in sorted(set(kinds[own]))}
        print("    " + ", ".join(f"{kind} {share:.2f}" for kind, share in shares.items()))


def no_stereotypes(model: Model) -> None:
    rows = [json.loads(line) for line in (TESTS / "not_stereotypes.jsonl").read_text(encoding="utf-8").splitlines()]
    for half, name in ((0, "dev"), (1, "report")):
        own = [row for row in rows if int(hashlib.sha256(row["text"].encode()).hexdigest(), 16) % 2 == half]
        under = chances(model, [row["text"] for row in own]) < stereotypes.THRESHOLD
        print(f"no stereotypes, {name}: under the threshold {interval(lambda at, u=under: float(u[at].mean()), len(own))}")
        for kind in sorted({row["kind"] for row in own}):
            print(f"  {kind}: {np.mean(under[[row['kind'] == kind for row in own]]):.2f}")


def swaps(model: Model) -> None:
    """Labels of other groups in the same sentence."""
    rows = [json.loads(line) for line in (TESTS / "stereotype_swaps.jsonl").read_text(encoding="utf-8").splitlines()]
    gaps: dict[str, list[float]] = {}
    means: dict[str, list[float]] = {}
    for row in rows:
        found = chances(model, [row["template"].replace("{}", filler["word"]) for filler in row["fillers"]])
        gaps.setdefault(row["attribute"], []).append(float(np.ptp(found)))
        means.setdefault(row["kind"], []).append(float(found.mean()))
    for attribute, each in sorted(gaps.items()):
        print(f"gap between groups, {attribute} ({len(each)} templates): largest {max(each):.4f}, mean {np.mean(each):.4f}")
    at, other = np.array(means["stereotype"]), np.array(means["neutral"])
    print(f"the same templates, stereotypes {at.mean():.2f} against neutral {other.mean():.2f}: area {area(at, other):.3f}")


def speed(model: Model, corpus: Path, count: int) -> None:
    """Relevant sentences a second of one core's time."""
    sentences = [sentence for _, _, sentence in data.corpus_sentences(corpus, frozenset())]
    named = [(sentence, found) for sentence in sentences[:: max(1, len(sentences) // (6 * count))] if (found := labels(sentence))]
    texts, spans = [each for each, _ in named[:count]], [each for _, each in named[:count]]
    model.detect(texts[:64], spans[:64])
    took = []
    for _ in range(3):
        begin = time.process_time()
        model.detect(texts, spans)
        took.append(time.process_time() - begin)
    size = sum(map(len, texts)) / len(texts)
    print(f"speed: {len(texts) / min(took):,.0f} sentences a second and core (n={len(texts)}, {size:.0f} characters each)")


@dataclass(frozen=True)
class Past:
    """Where the adapters of a training are (work), the encoder that they belong to (model), and that one as it is (plain)."""

    work: Path
    model: Path
    plain: Remembering

    def minilm(self, adapter: Path) -> stereotype_minilm.MiniLM:
        """The detector with an adapter."""
        with tempfile.TemporaryDirectory() as folder:
            stereotype_convert.convert(self.model, Path(folder), adapter)
            return stereotype_minilm.load(Path(folder), model=adapter)

    def models(self, given: training.Sources, adapter: Path) -> dict[str, Model]:
        """The models of one split."""
        return {"linear": training.train(given, self.plain, teacher := self.minilm(adapter)), "minilm": teacher}


def out_of_fold(given: training.Sources, past: Past) -> None:
    """StereoSet, each item by models that were trained without it."""
    seen = stereotype_rows.rows_of(given, [])
    folds = dict(zip((row.item for row in seen), stereotype_rows.folds_of(seen).tolist(), strict=True))
    found: dict[str, list[tuple[str, str, float]]] = {"linear": [], "minilm": []}
    for fold in range(stereotype_rows.FOLDS):
        kept = [row for row in given.stereoset if folds[row["id"]] != fold]
        models = past.models(training.replaced(given, stereoset=kept), stereotype_rows.fold_path(past.work, fold))
        own = [row for row in given.stereoset if folds[row["id"]] == fold]
        for name, model in models.items():
            for row, chance in zip(own, chances(model, [row["sentence"] for row in own]).tolist(), strict=True):
                found[name].append((row["id"], row["label"], chance))
    for name, each in found.items():
        items = sorted({item for item, _, _ in each})
        by_item = {item: {label: chance for other, label, chance in each if other == item} for item in items}
        for against in ("unrelated", "anti-stereotype"):
            pairs = [(own["stereotype"], own[against]) for own in by_item.values() if {"stereotype", against} <= own.keys()]
            both = np.array(pairs)
            said = interval(lambda at, b=both: area(b[at, 0], b[at, 1]), len(both))
            right = interval(lambda at, b=both: float(np.mean(b[at, 0] > b[at, 1])), len(both))
            print(f"StereoSet, {name}, stereotype against {against} ({len(both)} items): area {said}, in its pair {right}")


def left_out(given: training.Sources, past: Past, attribute: str, rows: Sequence[data.Scored]) -> None:
    adapter = past.work / f"without-{attribute}.npz"
    for name, model in past.models(stereotype_rows.without(given, attribute), adapter).items():
        print(f"trained without {attribute}, {name}:")
        people(model, [row for row in rows if row.attribute == attribute])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--plain", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--folds", action="store_true")
    parser.add_argument("--leave-out", default="")
    args = parser.parse_args()
    rows = data.human_scores(args.data / "stereotypes/human_scores_val.csv")
    if args.folds or args.leave_out:
        past = Past(args.work, args.model, Remembering(args.plain))
        given = training.sources(args.data, TESTS / "stereotype_gold.jsonl", TESTS / "stereotype_dev.jsonl")
        if args.folds:
            out_of_fold(given, past)
        if args.leave_out:
            left_out(given, past, args.leave_out, rows)
        return
    models: dict[str, Model] = {"with frames": stereotypes.shipped(), "linear": stereotypes.shipped().linear}
    if args.encoder:
        models["minilm"] = stereotype_minilm.load(args.encoder)
    for name, model in models.items():
        print(f"== {name}")
        people(model, rows)
        score = np.array([row.score for row in rows])
        reliability(
            "the scored sentences (true: above the middle)", chances(model, [row.sentence for row in rows]), score > data.MIDDLE
        )
        by_hand(model)
        for examination, half in (("exam", "dev"), ("exam", "report"), ("pairs", "train"), ("pairs", "report")):
            exam(model, examination, half)
        everyday(model)
        no_stereotypes(model)
        swaps(model)
        speed(model, args.data / "corpus/documents.jsonl.gz", 1_000 if name == "minilm" else 20_000)


if __name__ == "__main__":
    main()
