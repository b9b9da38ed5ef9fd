"""Trains the linear model of `evenflow.transforms.stereotypes`.

    python tests/benchmarks/train_stereotypes.py DATA ENCODER TEACHER [--exclude gold.jsonl]

DATA: a folder with stereotypes/human_scores_train.csv, stereotypes/human_scores_val.csv (only to leave out what stands in
it), stereotypes/stereoset_intrasentence_dev.jsonl, benchmarks/crows_pairs_anonymized.csv, lexicons/opinion_lexicon.zip and
corpus/documents.jsonl.gz. ENCODER: the folder that `evenflow.transforms.stereotype_convert --plain` writes, for the words'
embeddings. TEACHER: the one that it writes without --plain, after train_stereotype_minilm.py.

The linear model learns a weight a word, and beside it a function of the word's embedding, which is folded into the weights:
so words that no training sentence has weigh what words of their meaning do, and nothing of it costs time at run time.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import stereotype_examples as data
from sklearn.linear_model import LogisticRegression, Ridge
from stereotype_everyday import everyday
from stereotype_examples import Example, Scored

from evenflow.transforms import stereotypes
from evenflow.transforms.stereotyping import stereotype_features, stereotype_minilm, stereotype_terms
from evenflow.transforms.stereotyping.stereotype_features import BUCKETS, Features, features

DENSE_SCALE = 0.2  # of the cues beside the hashed words, whose length is 1: how much they are trusted
VECTOR_SCALE = 1.0  # of the words' vectors, likewise; 1 to 3 differ by 0.02 in cross-validation on the training scores
VECTOR_WIDTH = 128  # principal components of a word's two embeddings
VOCABULARY = 20_000  # words with a vector
TAUGHT = 0.3  # weight of a score that a model gave beside one that people gave
COMMON = 12_000  # words that count as known
EVERYDAY = 8  # sentences of each everyday form
NONE = stereotype_terms.terms_of({"the": 1})
SOURCE = (
    "human_scores_train (nlply/quantifying-stereotypes-in-language), StereoSet's intrasentence development half (CC BY-SA 4.0), "
    "CrowS-Pairs (CC BY-SA 4.0), adjectives of the opinion lexicon (Hu and Liu, 2004), plain sentences of presidential "
    "speeches, ABC news, film reviews (NLTK data) and Reddit comments (umanlp/RedditBias), word vectors of all-MiniLM-L6-v2 "
    "(Apache-2.0); weights only, no text"
)
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Vectors:
    """Word vectors (v, VECTOR_WIDTH), and for each column of a word, or of a word behind a group, its vector's row (or -1)."""

    table: Floats
    alone: npt.NDArray[np.int64]
    near: npt.NDArray[np.int64]


def vectors(words: Sequence[str], encoder: stereotype_minilm.Encoder) -> Vectors:
    """Vectors of words alone and as said of people. Words that are masked have none."""
    hashes = stereotype_terms.hashed(words)
    classes = stereotype_terms.shipped().classes(hashes)
    free = classes & ~stereotype_terms.CUES == 0
    words = [word for word, each in zip(words, free.tolist(), strict=True) if each]
    parts = [encoder.embed(words), encoder.embed([f"people are {word}" for word in words])]
    both = np.hstack([part - part.mean(axis=0) for part in parts]).astype(np.float64)
    left, sizes, _ = np.linalg.svd(both, full_matrices=False)
    table = left[:, :VECTOR_WIDTH] * sizes[:VECTOR_WIDTH]
    table /= np.sqrt((table**2).sum(axis=1).mean())
    places = [np.full(BUCKETS, -1, np.int64) for _ in range(2)]
    places[0][stereotype_features.word_columns(hashes[free])] = np.arange(len(words))
    places[1][stereotype_features.near_columns(hashes[free])] = np.arange(len(words))
    return Vectors(table, *places)


def matrix(each: Features, words: Vectors) -> Any:
    """Features as the models weigh them, sparse: (n, BUCKETS + DENSE + 2 * VECTOR_WIDTH)."""
    n = len(each.sizes)
    values = np.repeat(1 / np.sqrt(np.maximum(each.sizes, 1)), each.sizes)
    hashed = sp.csr_matrix((values, each.columns, np.concatenate(([0], np.cumsum(each.sizes)))), (n, BUCKETS))
    hashed.sum_duplicates()
    rows = np.repeat(np.arange(n), each.sizes)
    sums = []
    for place in (words.alone, words.near):
        at = place[each.columns]
        has = at >= 0
        counts = sp.csr_matrix((values[has], (rows[has], at[has])), (n, len(words.table)))
        sums.append(sp.csr_matrix(counts @ words.table * VECTOR_SCALE))
    return sp.hstack([hashed, sp.csr_matrix(each.dense * DENSE_SCALE), *sums]).tocsr()


def seen(sentences: Sequence[str], words: Vectors) -> Any:
    return matrix(features(sentences, [()] * len(sentences), NONE), words)


def head(coefficients: Floats, bias: float, words: Vectors) -> stereotypes.Head:
    """Coefficients of `matrix` as a head; those of the vectors are folded into the weights."""
    weights = coefficients[:BUCKETS].copy()
    dense, alone, near = np.split(coefficients[BUCKETS:], (-2 * VECTOR_WIDTH, -VECTOR_WIDTH))
    for place, part in ((words.alone, alone), (words.near, near)):
        folded = words.table @ part * VECTOR_SCALE
        weights += np.where(place >= 0, folded[place], 0)
    exact = weights.astype(np.float16).astype(np.float32)
    return stereotypes.Head(exact, (dense * DENSE_SCALE).astype(np.float32), float(bias))


def fit_probability(examples: Sequence[Example], words: Vectors, strength: float = 10.0) -> stereotypes.Head:
    """Logistic regression; a target between 0 and 1 counts on both sides."""
    rows = seen([each.sentence for each in examples], words)
    target = np.array([each.target for each in examples])
    weight = weights_of(examples)
    model: Any = LogisticRegression(C=strength, max_iter=200, tol=1e-3)
    both = np.concatenate([np.ones(len(target)), np.zeros(len(target))])
    model.fit(sp.vstack([rows, rows]), both, sample_weight=np.concatenate([weight * target, weight * (1 - target)]))
    return head(model.coef_[0], model.intercept_[0], words)


def weights_of(examples: Sequence[Example]) -> Floats:
    """Examples' weights; stereotypes are fewer than plain sentences by far, and one counts as two."""
    return np.array([each.weight * (1 + each.target) for each in examples])


def fit_strength(
    sentences: Sequence[str], scores: Floats, words: Vectors, weights: Floats, penalty: float = 0.5
) -> stereotypes.Head:
    """Ridge regression of people's scores."""
    model = Ridge(alpha=penalty, solver="sparse_cg").fit(seen(sentences, words), scores, sample_weight=weights)
    return head(model.coef_, float(model.intercept_), words)


def vocabulary(examples: Sequence[Example], adjectives: Sequence[str]) -> list[str]:
    """Words of the examples, the most common first, and adjectives."""
    counts = Counter(word for each in examples for word in sorted(set(re.findall(r"[a-z]+", each.sentence.lower()))))
    counts.update(dict.fromkeys(adjectives, 2))
    return [word for word, n in counts.most_common(VOCABULARY) if n >= 2 and len(word) > 1]


def common_words(examples: Sequence[Example]) -> list[str]:
    counts = Counter(word for each in examples for word in re.findall(r"[a-z]+", each.sentence.lower()))
    return sorted(word for word, _ in counts.most_common(COMMON))


def linear(probability: stereotypes.Head, strength: stereotypes.Head, common: Sequence[str]) -> stereotypes.Linear:
    return stereotypes.Linear(probability, strength, stereotype_terms.terms_of(dict.fromkeys(common, 1)))


def stored(head: stereotypes.Head) -> dict[str, Any]:
    """A head as a model file has it."""
    return {
        "weights": stereotypes.packed(head.weights.astype(np.float16)),
        "dense": [round(float(value), 4) for value in head.dense],
        "bias": round(head.bias, 4),
    }


def save(model: stereotypes.Linear, path: Path) -> None:
    heads = {name: stored(each) for name, each in (("probability", model.probability), ("strength", model.strength))}
    stereotypes.dump(path, "linear", {"heads": heads, "common": stereotypes.packed(model.common.hashes)}, SOURCE)


def documents(paths: Sequence[Path]) -> frozenset[str]:
    """The documents of sentences that were labelled by hand."""
    return frozenset(json.loads(line)["id"] for path in paths for line in path.read_text(encoding="utf-8").splitlines())


@dataclass(frozen=True)
class Sources:
    """What a folder of data holds: rows of people's scores, of StereoSet, other stated stereotypes, plain sentences."""

    scores: list[Scored]
    stereoset: list[dict[str, str]]
    crows: list[Example]
    plain: list[Example]
    adjectives: list[str]


def replaced(given: Sources, **changes: Any) -> Sources:
    """The sources with some of them exchanged."""
    return dataclasses.replace(given, **changes)


def sources(folder: Path, *exclude: Path) -> Sources:
    """The data of a folder without the validation scores' sentences, and without the documents of the rows of `exclude`."""
    held = {data.folded(each.sentence) for each in data.human_scores(folder / "stereotypes/human_scores_val.csv")}
    scores = data.human_scores(folder / "stereotypes/human_scores_train.csv")
    stereoset = data.stereoset(folder / "stereotypes/stereoset_intrasentence_dev.jsonl")
    crows = data.of_crows(folder / "benchmarks/crows_pairs_anonymized.csv")
    return Sources(
        [each for each in scores if data.folded(each.sentence) not in held],
        [each for each in stereoset if data.folded(each["sentence"]) not in held],
        [each for each in crows if data.folded(each.sentence) not in held],
        data.of_corpus(folder / "corpus/documents.jsonl.gz", documents(exclude)),
        data.traits(folder / "lexicons/opinion_lexicon.zip"),
    )


def examples_of(each: Sources) -> list[Example]:
    """All examples that can be made of the sources."""
    stated = [*data.of_scores(each.scores), *data.of_stereoset(each.stereoset), *each.crows]
    made = data.made_statements(each.adjectives, 6000)
    scrambled = data.scrambled(stated, data.nouns([plain.sentence for plain in each.plain]), 3000)
    wrapped = data.wrapped([*stated, *made], 4000)
    return [*stated, *each.plain, *made, *scrambled, *wrapped, *data.made_plain(1500), *everyday(EVERYDAY)]


def train(given: Sources, encoder: stereotype_minilm.Encoder, teacher: stereotype_minilm.MiniLM) -> stereotypes.Linear:
    """The model from the sources."""
    examples = examples_of(given)
    words = vectors(vocabulary(examples, given.adjectives), encoder)
    # What people did not score, the model with embeddings does.
    taught = [each.sentence for each in examples[len(given.scores) :] if each.attribute != data.PLAIN]
    strength = fit_strength(
        [*(each.sentence for each in given.scores), *taught],
        np.concatenate([[each.score for each in given.scores], scored(teacher, taught)]),
        words,
        np.concatenate([np.ones(len(given.scores)), np.full(len(taught), TAUGHT)]),
    )
    return linear(fit_probability(examples, words), strength, common_words(examples))


def scored(teacher: stereotype_minilm.MiniLM, sentences: Sequence[str]) -> Floats:
    """People's score (n,) as a model guesses it; 0, the middle, where it cannot say."""
    found = teacher.strengths(sentences, [()] * len(sentences))
    return np.array([each or 0.0 for each in found])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("teacher", type=Path)
    parser.add_argument("--exclude", type=Path, help="JSON lines whose `id` are documents that are not learnt from")
    args = parser.parse_args()
    given = sources(args.data, *([args.exclude] if args.exclude else []))
    trained = train(given, stereotype_minilm.Encoder(args.encoder), stereotype_minilm.load(args.teacher))
    save(trained, stereotypes.MODEL_PATH)
    print(f"{stereotypes.MODEL_PATH.name}: {stereotypes.MODEL_PATH.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
