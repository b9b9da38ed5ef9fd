"""Rebuilds the files of `evenflow.transforms.indicators`: word tags, sentiment words, and the score's coefficients.

    python tests/benchmarks/train_indicators.py human_scores_train.csv \\
        --tags en_ewt_train.conllu.gz --sentiment opinion_lexicon.zip

human_scores_train.csv: sentence, type, human score (github.com/nlply/quantifying-stereotypes-in-language), without a header.
The last two arguments may be left out; then the files that are there stay.

The regression's targets. As in the main paper (appendix D.1) they are the human scores of best-worst scaling, min-max scaled to
0..1 over all scored sentences. There 142 hand-annotated sentences of CrowS-Pairs were the examples; here it is every scored
sentence with the indicators that the rules find, since errors of the rules are then part of what is fitted, and the annotated
sentences (of which 79 are scored) stay free to test the rules. The paper scales the targets alone; here the regression's values
are scaled too (their 2nd percentile is 0, their 98th is 1), since a regression's values crowd round the mean.

The scored sentences hold next to no denials, questions or objections. What those take off the score is therefore fitted apart, on
the development half of tests/data/not_stereotypes.jsonl, whose target is 0: for each stance, what brings nine in ten of its
sentences there (the mean would leave those with the strongest contents above the threshold).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.stats import spearmanr
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from evenflow.transforms.indicators import FORMAT, MODEL_PATH, VERSION, Reading, digest, file_digests, read
from evenflow.transforms.stereotyping import indicator_tagging as tagging
from evenflow.transforms.stereotyping.indicator_stance import STANCES
from evenflow.transforms.stereotyping.indicator_strength import GRAMS, strength
from evenflow.transforms.stereotyping.indicator_words import SENTIMENT_PATH

NOT_STEREOTYPES = Path(__file__).parents[1] / "data" / "not_stereotypes.jsonl"
FOLDS, SEED = 5, 7
SCORED = (
    "target", "connotation", "gram_form", "ling_form", "behaviour", "situation", "evaluation", "generalization", "explanation",
    "signal_word",
)  # fmt: skip
CONTENT_PENALTY, SCORE_PENALTY = 8.0, 10.0  # ridge; chosen by the folds' mean Spearman on the training part
LOW, HIGH = 2, 98  # percentiles of the regression's values that become 0 and 1
STANCE = 10  # percentile of what a stance must take off
SMALLEST = 0.004  # weights of words below this are left out: a hundred of them together would not move a score by 0.05
PUNCTUATION = frozenset(("``", "''", ",", ":", "-LRB-", "-RRB-", "."))
RARE = frozenset(("ADD", "GW", "AFX", "FW", "LS", "SYM", "NFP", "XX", "$", "#", "HYPH"))
# Names of groups, and «illegal» as said of people, are no words of blame.
NO_SENTIMENT = frozenset(("disabled", "queer", "illegal"))
SEEN = 4  # times a word at most that stands for unknown words of its ending, and an ending at least


def is_development(text: str) -> bool:
    """Whether a sentence of not_stereotypes.jsonl belongs to the half that may be looked at."""
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % 2 == 0


def human_scores(path: Path) -> tuple[list[str], list[str], np.ndarray]:
    """Sentences (n), types (n) and human scores (n,)."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    return [row[0] for row in rows], [row[1] for row in rows], np.array([float(row[2]) for row in rows])


def treebank(path: Path) -> Iterator[list[tuple[str, str]]]:
    """Words and tags of each sentence."""
    sentence: list[tuple[str, str]] = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            parts = line.rstrip("\n").split("\t")
            if len(parts) == 1 and sentence and not line.startswith("#"):
                yield sentence
                sentence = []
            elif parts[0].isdigit():
                tag = "." if parts[4] in PUNCTUATION else "X" if parts[4] in RARE else parts[4]
                sentence.append((parts[1].replace("’", "'"), tag))
    if sentence:
        yield sentence


def _shapes(sentence: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    first = True
    for word, tag in sentence:
        yield word.lower(), tag, tagging.shape(word, first)
        first = (first and not word[0].isalnum()) or word in '.!?:"“'


def _code(counts: Counter[str], least: float) -> str:
    total = sum(counts.values())
    shares = sorted((tag, round(10 * count / total, 1)) for tag, count in counts.most_common(5))
    return ",".join(f"{tag}={share:g}" for tag, share in shares if share >= least)


def tags(path: Path) -> dict[str, Any]:
    """The counts of `indicator_tags.json` from a treebank in CoNLL-U."""
    words: defaultdict[str, Counter[str]] = defaultdict(Counter)
    endings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    after: defaultdict[str, Counter[str]] = defaultdict(Counter)
    share: Counter[str] = Counter()
    for sentence in treebank(path):
        before = "<s>"
        for lower, tag, shape in _shapes(sentence):
            words["C~" * (shape == "C") + lower][tag] += 1
            after[before][tag] += 1
            share[tag] += 1
            before = tag
    for sentence in treebank(path):
        for lower, tag, shape in _shapes(sentence):
            if words["C~" * (shape == "C") + lower].total() <= SEEN:
                for size in range(min(tagging.ENDING, len(lower)) + 1):
                    endings[f"{shape}~{lower[len(lower) - size :]}"][tag] += 1
    endings.setdefault(".~", Counter({".": 1}))
    by_code: dict[str, defaultdict[str, list[str]]] = {"words": defaultdict(list), "endings": defaultdict(list)}
    for word, counts in sorted(words.items()):
        if len(word) <= tagging.LONGEST and " " not in word:
            by_code["words"][_code(counts, 0.2)].append(word)
    for ending, counts in sorted(endings.items()):
        if ending.endswith("~") or counts.total() >= SEEN:
            by_code["endings"][_code(counts, 0.2)].append(ending)
    return {
        "source": "Counts of words, endings and tags in UD English EWT, train part, CC BY-SA 4.0 "
        "(github.com/UniversalDependencies/UD_English-EWT)",
        "share": {tag: round(count / share.total(), 6) for tag, count in sorted(share.items())},
        "after": {tag: ",".join(f"{t}={n}" for t, n in sorted(row.items())) for tag, row in sorted(after.items())},
        **{name: {code: " ".join(group) for code, group in sorted(codes.items())} for name, codes in by_code.items()},
    }


def sentiment(path: Path) -> dict[str, str]:
    """The words of `indicator_sentiment.json` from the opinion lexicon's archive."""
    sides: dict[str, set[str]] = {}
    with zipfile.ZipFile(path) as archive:
        for side in ("negative", "positive"):
            lines = archive.read(f"opinion_lexicon/{side}-words.txt").decode("latin-1").splitlines()
            sides[side] = {line.strip().lower() for line in lines if line.strip() and not line.startswith(";")} - NO_SENTIMENT
    return {
        "source": "Opinion lexicon of M. Hu and B. Liu, Mining and Summarizing Customer Reviews, KDD 2004; NLTK data, CC BY 4.0",
        "negative": " ".join(sorted(sides["negative"])),
        "positive": " ".join(sorted(sides["positive"] - sides["negative"])),
    }


def fit_strength(found: Sequence[Sequence[GRAMS]], y: np.ndarray) -> tuple[dict[str, float], float]:
    """Weights and intercept of the content's strength: ridge over words and pairs, rarer ones scaled up (idf)."""
    counts = Counter(gram for own in found for gram in {gram for gram, _, _ in own})
    idf = {gram: np.log((1 + len(found)) / (1 + count)) + 1 for gram, count in counts.items()}
    column = {gram: place for place, gram in enumerate(counts)}
    entries = [(row, column[g], idf[g] / np.sqrt(len(own))) for row, own in enumerate(found) for g, _, _ in own]
    rows, columns, values = zip(*entries, strict=True)
    x = csr_matrix((values, (rows, columns)), shape=(len(found), len(column)))
    model = Ridge(CONTENT_PENALTY).fit(x, y)
    weights = {gram: round(float(model.coef_[place] * idf[gram]), 4) for gram, place in column.items()}
    return {gram: weight for gram, weight in sorted(weights.items()) if abs(weight) >= SMALLEST}, round(
        float(model.intercept_), 4
    )


def fit_score(readings: Sequence[Reading], content: np.ndarray, y: np.ndarray) -> tuple[float, dict[str, float], float]:
    """Intercept, coefficients by «indicator=value», and the one of the content's strength: ridge over one-hot indicators."""
    names = sorted({f"{name}={reading.said[name].value}" for reading in readings for name in SCORED})
    x = np.array(
        [[reading.said[name.split("=")[0]].value == name.split("=")[1] for name in names] for reading in readings], float
    )
    mean = x.mean(axis=0)
    model = Ridge(SCORE_PENALTY).fit(np.column_stack([x - mean, content]), y)
    coefficients = {name: round(float(c), 4) for name, c in zip(names, model.coef_, strict=False)}
    return float(model.intercept_ - model.coef_[:-1] @ mean), coefficients, float(model.coef_[-1])


def regression(readings: Sequence[Reading], content: np.ndarray, fitted: tuple[float, dict[str, float], float]) -> np.ndarray:
    """The regression's values (n,)."""
    intercept, coefficients, slope = fitted
    each = [sum(coefficients.get(f"{name}={one.value}", 0.0) for name, one in reading.said.items()) for reading in readings]
    return intercept + np.array(each) + slope * content


def contents(readings: Sequence[Reading], weights: dict[str, float], base: float) -> np.ndarray:
    """The content's strength of each sentence (n,)."""
    return np.clip([strength(reading.grams, weights, base) for reading in readings], 0, 1)


def held_out(readings: Sequence[Reading], y: np.ndarray) -> np.ndarray:
    """The content's strength of each sentence (n,) by a model that has not seen it."""
    out = np.zeros(len(y))
    for train, test in KFold(FOLDS, shuffle=True, random_state=SEED).split(y):
        weights, base = fit_strength([readings[i].grams for i in train], y[train])
        out[test] = contents([readings[i] for i in test], weights, base)
    return out


def fit(sentences: Sequence[str], scores: np.ndarray) -> dict[str, Any]:
    """The model, without its digest, of sentences (n) and their human scores (n,)."""
    found = [read(sentence, []) for sentence in sentences]
    said = np.array([reading is not None for reading in found])
    readings = [reading for reading in found if reading is not None]
    y = ((scores - scores.min()) / (scores.max() - scores.min()))[said]
    print(f"{len(readings)} of {len(sentences)} scored sentences can be read")
    blind = held_out(readings, y)
    score = fit_score(readings, blind, y)
    values = regression(readings, blind, score)
    print(f"content alone, by folds: Spearman {spearmanr(blind, y)[0]:.3f}; with the indicators: {spearmanr(values, y)[0]:.3f}")
    low, high = np.percentile(values, [LOW, HIGH])
    weights, base = fit_strength([reading.grams for reading in readings], y)
    intercept, coefficients, slope = score
    coefficients |= {
        f"stance={name}": value for name, value in stances(readings_of_dev(), weights, base, score, float(low)).items()
    }
    return {
        "format": FORMAT,
        "version": VERSION,
        "source": "Human scores: Y. Liu, Quantifying Stereotypes in Language, EACL 2024 (StereoSet and CrowS-Pairs sentences)",
        "files": file_digests(),
        "score": {
            "intercept": round(intercept, 4),
            "coefficients": coefficients,
            "per_strength": round(slope, 4),
            "low": round(float(low), 4),
            "high": round(float(high), 4),
        },
        "strength": {"intercept": base, "weights": weights},
    }


def readings_of_dev() -> list[Reading]:
    """Sentences of the development half of not_stereotypes.jsonl that can be read."""
    lines = NOT_STEREOTYPES.read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    return [reading for text in texts if is_development(text) and (reading := read(text, [])) is not None]


def stances(
    readings: Sequence[Reading], weights: dict[str, float], base: float, score: tuple[float, dict[str, float], float], low: float
) -> dict[str, float]:
    """What each stance adds to the regression, so that sentences that are no stereotypes come to the score 0."""
    over = low - regression(readings, contents(readings, weights, base), score)
    by_stance = {name: [o for o, r in zip(over, readings, strict=True) if r.said["stance"].value == name] for name in STANCES}
    return {
        name: round(min(0.0, float(np.percentile(values, STANCE))), 4) if values else 0.0 for name, values in by_stance.items()
    }


def _write(path: Path, data: object) -> None:
    path.write_text(json.dumps(data, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(f"{path.name}: {path.stat().st_size:,} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", type=Path)
    parser.add_argument("--tags", type=Path)
    parser.add_argument("--sentiment", type=Path)
    given = parser.parse_args()
    if given.tags:
        _write(MODEL_PATH.with_name("indicator_tags.json"), tags(given.tags))
        tagging.shipped.cache_clear()
    if given.sentiment:
        _write(SENTIMENT_PATH, sentiment(given.sentiment))
    sentences, _, scores = human_scores(given.scores)
    model = fit(sentences, scores)
    _write(MODEL_PATH, {**model, "digest": digest(model)})


if __name__ == "__main__":
    main()
