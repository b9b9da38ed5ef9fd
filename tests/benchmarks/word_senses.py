"""Do clusters of a word's contexts tell whether it has several senses (criterion Q3)?

    OMP_NUM_THREADS=1 python tests/benchmarks/word_senses.py CORPUS...

Two ways to see a context: the mean static vector of the words around, and the encoder's last layer
around a placeholder. Contexts of a word are split into two clusters. A logistic regression learns
from pseudowords (Schütze 1992): the contexts of two nouns mixed are several senses, those of one
noun are one. It is tested on words of the shipped lists. A language model labelled them before
anything was learnt, by 12 sentences each: several senses, if two or more sentences have another
sense than the most frequent one. The area under the ROC curve has a bootstrap's interval of 95 %.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
from scipy.stats import skew
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, silhouette_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from evenflow.schemas.config import load as configuration
from evenflow.transforms.lab.word_lists import corpus
from evenflow.transforms.measures.bias_score import vectors
from evenflow.transforms.models import encoder, files
from evenflow.transforms.text import english, wordclasses
from evenflow.wordlists import loader
from evenflow.wordlists.loader import WordList

SEVERAL = [
    "aged", "blind", "brothers", "cook", "don", "duke", "dutch", "editor", "engineer",
    "english", "french", "hero", "infant", "king", "knight", "lady", "lord", "middle",
    "orthodox", "queen", "retired", "son", "veteran", "witch", "youth",
]  # fmt: skip
ONE = [
    "american", "ancient", "author", "baker", "boy", "carpenter", "catholic", "chairman",
    "child", "cowboy", "dancer", "disabled", "emperor", "farmer", "father", "female", "fisher",
    "gay", "girl", "god", "guy", "husband", "indian", "kid", "lawyer", "male", "minor", "mom",
    "ms", "priest", "princess", "prior", "queer", "singer", "sir",
]  # fmt: skip
CONTEXTS, LEAST, NOUNS = 60, 15, 260  # contexts of a word, and nouns that pseudowords are made of
AROUND = 120  # characters of a context on each side
LAYER, PLACEHOLDER = "layer_norm_8", "something"

Floats = npt.NDArray[np.float64]
Look = Callable[[str, str], Floats]


def static() -> Look:
    """The mean static vector of up to eight words on each side."""
    shipped = vectors.shipped()
    rows = np.concatenate(list(shipped.blocks()))

    def look(before: str, after: str) -> Floats:
        words = (
            re.findall("[a-z']+", before.lower())[-8:] + re.findall("[a-z']+", after.lower())[:8]
        )
        places = [shipped.words[each] for each in words
                  if each in shipped.words and each not in english.CLOSED]  # fmt: skip
        return rows[places].mean(axis=0) if places else np.zeros(rows.shape[1])

    return look


def contextual() -> Look:
    """The encoder's mean over the placeholder and six word pieces on each side."""
    name = LAYER.encode()
    # Protocol buffers that are joined are merged: field 7 is the graph, 12 in it an output
    output = b"\x62" + bytes([len(name) + 2]) + b"\x0a" + bytes([len(name)]) + name
    graph = (files.SHIPPED / encoder.GRAPH).read_bytes() + b"\x3a" + bytes([len(output)]) + output
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    cut = encoder.read_tokenizer(files.SHIPPED / encoder.VOCABULARY)

    def look(before: str, after: str) -> Floats:
        at = len(cut.pieces(before).ids) - 1
        pieces = cut.pieces(f"{before} {PLACEHOLDER} {after}")
        given = {"ids": np.array([pieces.ids]), "types": np.array([pieces.types])}
        layer = np.asarray(session.run([LAYER], given)[0], float)[0]
        return layer[max(0, at - 6) : at + 7].mean(axis=0)

    return look


def looked(examples: Mapping[str, Sequence[str]], look: Look) -> dict[str, Floats]:
    """The contexts (n, D) of each word."""
    out: dict[str, Floats] = {}
    for word, texts in examples.items():
        found = [(text, re.search(rf"(?i)(?<!\w){word}(?!\w)", text)) for text in texts]
        rows = [look(text[max(0, at.start() - AROUND) : at.start()], text[at.end() :][:AROUND])
                for text, at in found if at]  # fmt: skip
        if len(rows) >= min(LEAST, len(texts)):
            out[word] = np.array(rows)
    return out


def figures(rows: Floats) -> list[float]:
    """What two clusters and the cosines of contexts (n, D) look like."""
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    cosines = (unit @ unit.T)[~np.eye(len(unit), dtype=bool)]
    centred = unit - unit.mean(axis=0)
    whole = (centred**2).sum()
    main = np.linalg.svd(centred, compute_uv=False)[:2] ** 2 / whole
    split: Any = KMeans(2, random_state=0).set_params(n_init=5).fit(unit)
    share = float(np.mean(split.labels_))
    silhouette = float(silhouette_score(unit, split.labels_, metric="cosine"))
    spread = [float(cosines.mean()), float(cosines.std()), float(skew(cosines))]
    apart = [1 - float(split.inertia_) / whole, silhouette, min(share, 1 - share)]
    return [*spread, *main.tolist(), *apart, float(np.log(len(unit)))]


def learnt(nouns: Mapping[str, Floats], chance: random.Random) -> tuple[Floats, list[int]]:
    """The figures of nouns and of as many pseudowords, and which are which."""
    names = sorted(name for name, rows in nouns.items() if len(rows) >= LEAST)

    def some(name: str, count: int) -> Floats:
        return nouns[name][chance.sample(range(len(nouns[name])), min(count, len(nouns[name])))]

    sizes = [chance.choice([15, 20, 30, 40, 60]) for _ in names]
    own = [figures(some(name, size)) for name, size in zip(names, sizes, strict=True)]
    mixed = []
    for size in sizes:
        second = max(2, round(size * chance.uniform(0.17, 0.5)))
        one, two = chance.sample(names, 2)
        mixed.append(figures(np.concatenate([some(one, size - second), some(two, second)])))
    return np.array([*own, *mixed]), [0] * len(own) + [1] * len(mixed)


def main(inputs: Sequence[str]) -> None:
    """Print the table."""
    texts = [t for block in corpus.texts(inputs, configuration(None, {}, (), ())) for t in block]
    seen = Counter(word for text in texts for word in set(re.findall("[a-z]+", text.lower())))
    chance = random.Random(1)
    known = {label.lower() for name in loader.NAMED for label in loader.load(name).labels}
    nouns = sorted(
        word
        for word, count in seen.items()
        if 30 <= count <= 600 and len(word) > 3 and wordclasses.is_noun(word)
        and word not in known and word not in {*SEVERAL, *ONE}
    )  # fmt: skip
    nouns = chance.sample(nouns, NOUNS)
    labels = dict.fromkeys([*SEVERAL, *ONE, *nouns], 0)
    words = WordList("w", ("all",), labels, frozenset(), {}, "", "", "")
    examples = corpus.count([texts], [words], CONTEXTS)[0].examples
    for kind, look in (("static vectors", static()), ("encoder", contextual())):
        rows = looked(examples, look)
        centre = np.concatenate([rows[each] for each in nouns if each in rows]).mean(axis=0)
        rows = {each: own - centre for each, own in rows.items()}
        given, truth = learnt({each: rows[each] for each in nouns if each in rows}, chance)
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(given, truth)
        tested = [each for each in [*SEVERAL, *ONE] if each in rows]
        several = np.array([each in SEVERAL for each in tested])
        said = model.predict_proba(np.array([figures(rows[each]) for each in tested]))[:, 1]
        random_rows = np.random.default_rng(0).integers(0, len(tested), (2000, len(tested)))
        areas = [
            roc_auc_score(several[at], said[at]) for at in random_rows if several[at].sum() > 0
        ]
        low, high = np.quantile(areas, (0.025, 0.975))
        area = roc_auc_score(several, said)
        print(
            f"{kind}: area {area:.2f} [{low:.2f}, {high:.2f}], n = {len(tested)},"
            f" {several.sum()} with several senses; learnt from {len(truth)}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
