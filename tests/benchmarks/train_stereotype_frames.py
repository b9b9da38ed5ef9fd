"""Trains the default detector of `evenflow.transforms.stereotypes`: words and frames, from sentences labelled one by one.

    python tests/benchmarks/train_stereotype_frames.py DATA ENCODER

DATA and ENCODER as for train_stereotypes.py. Learnt from: sentences of the corpus labelled by hand (stereotype_dev.jsonl and the
development half of stereotype_gold.jsonl), sentences written for it (stereotype_written.jsonl, the training part of
stereotype_pairs.jsonl), the development halves of stereotype_exam.jsonl and not_stereotypes.jsonl, and, at less weight, plain
sentences of the corpus, everyday forms and made statements. Nothing of a report half is read, and nothing of
`stereotype_everyday.jsonl` or `stereotype_swaps.jsonl`.

Printed, by models that did not see the sentence's item (FOLDS folds): the area under the ROC curve of each set, and what each
threshold finds and passes. The same values calibrate the probability (Platt 1999) and choose THRESHOLD and UNSURE.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import stereotype_examples as data
import train_stereotypes as training
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from stereotype_everyday import everyday
from stereotype_examples import Example

from evenflow.transforms import stereotypes
from evenflow.transforms.stereotyping import stereotype_frames, stereotype_minilm
from evenflow.transforms.stereotyping.stereotype_features import features

TESTS = Path(__file__).parent.parent / "data"
FOLDS = 5
PENALTY = 3.0  # inverse
FRAME_SCALE = 2.0  # of the frames beside the hashed words, whose length is 1
PLAIN, MADE, TOLD, WRAPPED = 3000, 1000, 300, 1500  # sentences taken of each kind
# A sentence's first verb that can be denied by a word, near its beginning, and what is a denial already.
VERB = re.compile(r"^(?:[\w'-]+ ){1,4}?(are|is|can|will|should|would|could)(?= )")
NEGATION = re.compile(
    r"n't\b|\b(?:not?|never|nobody|nothing|none|neither|nor|without|hardly|cannot|but|cant|dont|if|who|what)\b", re.I
)
HOSTILE = 0.1  # target from which plain sentences come from comments that were collected for their hostility
# What a sentence weighs beside one that was written or labelled: a corpus is not even, and made sentences are alike.
WEIGHTS = {"corpus": 2.0, "written": 1.0, "exam": 1.0, "pairs": 1.0, "none": 1.0}
WEIGHTS |= {"plain": 0.7, "everyday": 0.9, "made": 0.9, "turned": 1.25}
SOURCE = (
    "sentences of presidential speeches, ABC news, film reviews (NLTK data) and Reddit comments (umanlp/RedditBias), labelled "
    "for Evenflow; sentences written for Evenflow; adjectives of the opinion lexicon (Hu and Liu, 2004); word vectors of "
    "all-MiniLM-L6-v2 (Apache-2.0); weights only, no text"
)
BY_HAND = ("corpus", "written", "exam", "pairs", "none")
MOST_PLAIN = 0.05  # share of plain sentences that may be called
Floats = npt.NDArray[np.float64]


class Labelled(NamedTuple):
    """A sentence, the set it is of, its target and weight, and the item whose sentences stay on one side of a split."""

    sentence: str
    kind: str
    target: float
    weight: float
    item: str


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (TESTS / name).read_text(encoding="utf-8").splitlines()]


def is_development(text: str) -> bool:
    """Whether a sentence of not_stereotypes.jsonl belongs to the half that may be learnt from."""
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % 2 == 0


def by_hand() -> list[Labelled]:
    """All that was labelled or written one by one and may be learnt from."""
    found: list[tuple[str, str, bool, str]] = []
    gold = [row for row in rows("stereotype_gold.jsonl") if row["half"] == "dev"]
    for row in [*rows("stereotype_dev.jsonl"), *gold]:
        found.append((row["sentence"], "corpus", bool(row["label"] or row["other"]), row["id"]))
    # Neighbours were written after one another and are alike: ten are an item.
    written = rows("stereotype_written.jsonl")
    found += [(row["text"], "written", row["stereotype"], f"written-{place // 10}") for place, row in enumerate(written)]
    exam = [row for row in rows("stereotype_exam.jsonl") if row["split"] == "dev"]
    found += [(row["text"], "exam", row["stereotype"], row["twin"] or row["id"]) for row in exam]
    pairs = [row for row in rows("stereotype_pairs.jsonl") if row["split"] == "train"]
    found += [(row["text"], "pairs", row["stereotype"], f"pairs-{row['twin'] or row['id']}") for row in pairs]
    none = [row["text"] for row in rows("not_stereotypes.jsonl") if is_development(row["text"])]
    found += [(text, "none", False, text) for text in none]
    return [Labelled(sentence, kind, float(true), WEIGHTS[kind], item) for sentence, kind, true, item in found]


def denied(examples: Sequence[Example]) -> list[Example]:
    """Statements of stereotypes with their verb denied, where they have no denial yet: no stereotypes."""
    out: list[Example] = []
    for each in examples:
        if each.target > 0.5 and not NEGATION.search(each.sentence) and (verb := VERB.search(each.sentence)):
            for word in (" not", "n't") if verb[1] in ("are", "is", "should", "would", "could") else (" not",):
                sentence = each.sentence[: verb.end()] + word + each.sentence[verb.end() :]
                out.append(each._replace(sentence=sentence, target=0.05))
    return out


def beside(given: training.Sources, hand: Sequence[Labelled]) -> list[Labelled]:
    """Plain sentences of the corpus, everyday forms and made statements; and statements denied, asked, or told of others."""
    plain = sorted(given.plain, key=lambda each: data.share(each.sentence + "/frames"))[:PLAIN]
    made = [*data.made_statements(given.adjectives, MADE), *data.made_plain(TOLD)]
    stated = [Example(one.sentence, one.target, 0.5, one.item, "") for one in hand if one.kind in ("written", "exam")]
    turned = [*data.wrapped([*stated, *made], WRAPPED), *denied([*stated, *made])]
    kinds: tuple[tuple[str, Sequence[Example]], ...] = (
        *(("plain", plain), ("everyday", everyday(4)), ("made", made)),
        ("turned", turned),
    )
    return [
        Labelled(each.sentence, kind, each.target, each.weight * WEIGHTS[kind], each.item)
        for kind, examples in kinds
        for each in examples
    ]


def matrix(sentences: Sequence[str], words: training.Vectors) -> Any:
    """Words as `training.matrix` has them, and frames: sparse, (n, … + stereotype_frames.WIDTH)."""
    each = features(sentences, [()] * len(sentences), training.NONE)
    seen = stereotype_frames.frames(each.pieces)
    values = (FRAME_SCALE / np.sqrt(np.maximum(seen.sizes, 1)))[seen.owners]
    frames = sp.csr_matrix((values, (seen.owners, seen.columns)), (len(sentences), stereotype_frames.WIDTH))
    frames.sum_duplicates()
    return sp.hstack([training.matrix(each, words), frames]).tocsr()


def fitted(seen: Any, target: Floats, weight: Floats) -> Any:
    """Logistic regression; a target between 0 and 1 counts on both sides."""
    model: Any = LogisticRegression(C=PENALTY, solver="liblinear", tol=1e-3, max_iter=300)
    both = np.concatenate([np.ones(len(target)), np.zeros(len(target))])
    weights = np.concatenate([weight * target, weight * (1 - target)])
    kept = np.flatnonzero(weights > 0)
    return model.fit(sp.vstack([seen, seen]).tocsr()[kept], both[kept], sample_weight=weights[kept])


def unseen(seen: Any, each: Sequence[Labelled], target: Floats, weight: Floats) -> Floats:
    """The logits (n,), each by a model without its item."""
    folds = np.array([int(data.share(one.item) * FOLDS) for one in each])
    out = np.zeros(len(each))
    for fold in range(FOLDS):
        own = folds == fold
        out[own] = fitted(seen[~own], target[~own], weight[~own]).decision_function(seen[own])
    return out


class Seen(NamedTuple):
    """What is learnt from: labelled sentences (those of `by_hand` first), the words' vectors, the matrix, targets, weights."""

    each: list[Labelled]
    words: training.Vectors
    rows: Any
    target: Floats
    weight: Floats

    def unseen(self) -> Floats:
        """The logits (n,), each by a model without its item."""
        return unseen(self.rows, self.each, self.target, self.weight)

    def fitted(self) -> Any:
        return fitted(self.rows, self.target, self.weight)


def seen_of(given: training.Sources, hand: Sequence[Labelled], encoder: stereotype_minilm.Encoder) -> Seen:
    """Everything that is learnt from, as the model sees it."""
    each = [*hand, *beside(given, hand)]
    examples = [Example(one.sentence, one.target, one.weight, one.item, "") for one in each]
    words = training.vectors(training.vocabulary(examples, given.adjectives), encoder)
    target, weight = np.array([one.target for one in each]), np.array([one.weight for one in each])
    return Seen(each, words, matrix([one.sentence for one in each], words), target, weight)


def calibrated(logits: Floats, kinds: npt.NDArray[np.str_], target: Floats) -> tuple[float, float]:
    """Slope and shift that make probabilities of logits (Platt 1999), on what was labelled or written."""
    at = np.isin(kinds, BY_HAND)
    model: Any = LogisticRegression(C=1e6).fit(logits[at, None], target[at] > 0.5)
    return float(model.coef_[0, 0]), float(model.intercept_[0])


def told(chance: Floats, kinds: npt.NDArray[np.str_], target: Floats) -> None:
    """Prints the figures by set."""
    true = target > 0.5
    for kind in ("corpus", "written", "exam", "pairs"):
        at = kinds == kind
        print(f"{kind} (n={at.sum()}, {true[at].sum()} stereotypes): area {roc_auc_score(true[at], chance[at]):.3f}")
    print("threshold: found (precision) of the corpus, found and passed of those written, of the exam; none called, plain")
    for threshold in np.arange(0.2, 0.85, 0.05):
        called = chance >= threshold
        corpus, none, plain = kinds == "corpus", kinds == "none", (kinds == "plain") & (target < HOSTILE)
        parts = [f"{called[corpus & true].mean():.2f} ({true[corpus & called].mean():.2f})"]
        parts += [
            f"{called[(kinds == k) & true].mean():.2f} {1 - called[(kinds == k) & ~true].mean():.2f}" for k in ("written", "exam")
        ]
        print(f"  {threshold:.2f}: {', '.join(parts)}; {called[none].mean():.3f}, {called[plain].mean():.4f}")


def chosen(chance: Floats, kinds: npt.NDArray[np.str_], target: Floats) -> None:
    """Prints what THRESHOLD and UNSURE are by their rules (see `evenflow.transforms.stereotypes`)."""
    plain, hand = (kinds == "plain") & (target < HOSTILE), np.isin(kinds, BY_HAND)
    true = target > 0.5
    steps = np.arange(5, 100, 5) / 100
    threshold = min(
        t for t in steps if (chance[plain] >= t).mean() <= MOST_PLAIN and (chance[kinds == "none"] >= t).mean() <= 0.1
    )
    low = max(t for t in steps if true[hand & (chance < t)].mean() <= 0.1)
    high = min(t for t in steps if true[hand & (chance >= t)].mean() >= 0.9)
    print(f"by their rules: THRESHOLD {threshold}, UNSURE ({low}, {high})")


def model_of(coefficients: Floats, bias: float, words: training.Vectors, slope: float, shift: float) -> dict[str, Any]:
    """What is stored: the weights with the calibration in them."""
    of_words, frames = np.split(coefficients * slope, [len(coefficients) - stereotype_frames.WIDTH])
    head = training.head(of_words, bias * slope + shift, words)
    return {
        "words": training.stored(head),
        "frames": stereotypes.packed((frames * FRAME_SCALE).astype(np.float16)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    args = parser.parse_args()
    given = training.sources(args.data, TESTS / "stereotype_gold.jsonl", TESTS / "stereotype_dev.jsonl")
    seen = seen_of(given, by_hand(), stereotype_minilm.Encoder(args.encoder))
    each, target = seen.each, seen.target
    kinds = np.array([one.kind for one in each])
    logits = seen.unseen()
    slope, shift = calibrated(logits, kinds, target)
    print(f"calibration: slope {slope:.3f}, shift {shift:.3f}")
    chance = stereotypes.unless_denied(stereotypes.logistic(slope * logits + shift), [one.sentence for one in each])
    told(chance, kinds, target)
    chosen(chance, kinds, target)
    model = seen.fitted()
    body = model_of(model.coef_[0], float(model.intercept_[0]), seen.words, slope, shift)
    stereotypes.dump(stereotypes.FRAMES_PATH, "frames", body, SOURCE)
    print(f"{stereotypes.FRAMES_PATH.name}: {len(each)} sentences, {stereotypes.FRAMES_PATH.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
