"""Trains `evenflow.transforms.text.pronoun_model` on raw text, and tests it on a tagged one.

    python tests/benchmarks/cda_train_pronouns.py documents.jsonl.gz en_ewt_train.conllu.gz --test
    en_ewt_dev.conllu.gz

Texts: JSON lines with a key «text», or CoNLL-U of which only the raw `# text` lines are read. The
pronouns that a text has are the labels. Other persons' pronouns (my and me, their and them) help
with words that «his» and «him» were never seen beside. The shipped model was trained on 3,732
documents (presidential speeches, ABC news, film reviews from NLTK's data, Reddit comments from
RedditBias) and on the raw text of UD English EWT's train part.

Beside it, «nouns.json»: the words that are nearly always common nouns in a tagged text, with
`--nouns en_ewt_train.conllu.gz` alone (UD English EWT, CC BY-SA 4.0).
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from evenflow.transforms.text import nouns, pronoun_model, pronouns
from evenflow.transforms.text.words import TOKEN

# form -> (label, weight of an example)
TASKS: dict[str, dict[str, tuple[int, float]]] = {
    "her": {
        **{"his": (0, 1.0), "him": (1, 1.0)},
        **{"my": (0, 1.0), "their": (0, 1.0), "our": (0, 1.0), "your": (0, 1.0)},
        **{"me": (1, 1.0), "them": (1, 1.0), "us": (1, 1.0)},
    },
    "his": {
        **{"my": (0, 0.3), "their": (0, 0.3), "our": (0, 0.3), "your": (0, 0.3)},
        **{
            "mine": (1, 1.0),
            "theirs": (1, 1.0),
            "ours": (1, 1.0),
            "yours": (1, 1.0),
            "hers": (1, 1.0),
        },
    },
}
DETERMINERS = frozenset(["the", "a", "an", "this", "that", "these", "those", "no", "some"])
POSSESSIVES = frozenset(["my", "your", "our", "their", "its", "his"])
OBJECTS = frozenset(["me", "them", "him", "us", "it"])
BEFORE_VERBS = frozenset(["to", "will", "would", "can", "could", "i", "we", "they"])
# Shares at which a class's digit goes up by one.
CUTS = {
    "determined": (0.02, 0.08, 0.2, 0.4),
    "object": (0.01, 0.04, 0.12),
    "verb": (0.03, 0.15),
    "before": (0.03, 0.1, 0.25),
}
NOUN = 0.85  # share of a word's uses as a common noun from which it is one
OFTEN = 6  # occurrences from which a word's class means something
LEAST = 3  # examples that a feature must have been seen in
SMALLEST = 0.1  # weights below are left out: together they change no decision in ten thousand


def texts(path: Path) -> Iterator[str]:
    """The raw texts of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        if ".conllu" not in path.name:
            yield from (json.loads(line)["text"] for line in lines)
            return
        paragraph: list[str] = []
        for line in lines:
            if line.startswith("# newpar"):
                yield " ".join(paragraph)
                paragraph = []
            elif line.startswith("# text = "):
                paragraph.append(line[9:].rstrip("\n"))
        yield " ".join(paragraph)


def word_classes(documents: list[str]) -> dict[str, str]:
    """The class code of each word, see `evenflow.transforms.text.wordclasses`."""
    words: Counter[str] = Counter()
    counts = {name: Counter[str]() for name in ("determined", "object", "verb", "before")}
    for text in documents:
        tokens = [token.lower() for token in TOKEN.findall(text)]
        words.update(tokens)
        for first, second in pairwise(tokens):
            counts["determined"][second] += (first in DETERMINERS) + (first in POSSESSIVES)
            counts["object"][first] += second in OBJECTS
            counts["verb"][second] += first in BEFORE_VERBS
            counts["before"][first] += second in DETERMINERS or second in POSSESSIVES
    return {
        word: "".join(
            str(sum(counts[name][word] / n > cut for cut in cuts)) for name, cuts in CUTS.items()
        )
        for word, n in words.items()
        if n >= OFTEN and word[0].isalpha()
    }


def train(
    documents: list[str],
    task: dict[str, tuple[int, float]],
    classes: dict[str, str],
    strength: float,
) -> tuple[dict[str, float], int]:
    """Weights by feature name, and the number of examples."""
    place = re.compile(rf"(?<![\w'’])(?:{'|'.join(task)})(?![\w'’])", re.IGNORECASE)
    rows: list[list[str]] = []
    labels: list[int] = []
    weights: list[float] = []
    for text in documents:
        for match in place.finditer(text):
            if match[0] == "US":
                continue  # the country
            label, weight = task[match[0].lower()]
            rows.append(pronoun_model.list_features(text, *match.span(), classes))
            labels.append(label)
            weights.append(weight)
    seen = Counter(name for row in rows for name in row)
    vectorizer = DictVectorizer()
    matrix = vectorizer.fit_transform(
        [{name: 1.0 for name in row if seen[name] >= LEAST} for row in rows]
    )
    # For liblinear
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    model = LogisticRegression(C=strength, max_iter=300, solver="liblinear", fit_intercept=False)
    model.fit(matrix, np.array(labels), sample_weight=np.array(weights))
    pairs = zip(vectorizer.get_feature_names_out(), model.coef_[0], strict=True)
    return {
        str(name): round(float(weight), 2) for name, weight in pairs if abs(weight) >= SMALLEST
    }, len(rows)


def tagged(path: Path) -> Iterator[tuple[str, int, int, str]]:
    """Text, start, end and the right other form of each her, him and his of a treebank."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        blocks = file.read().split("\n\n")
    for block in blocks:
        lines = block.splitlines()
        text = next((line[9:] for line in lines if line.startswith("# text = ")), "")
        at = 0
        for line in lines:
            cells = line.split("\t")
            if line.startswith("#") or not cells[0].isdigit():
                continue
            start = text.find(cells[1], at)
            if start < 0:
                continue
            at = start + len(cells[1])
            word, determiner = cells[1].lower(), cells[7].startswith("nmod:poss")
            if word == "her":
                yield text, start, at, "his" if determiner else "him"
            elif word == "his":
                yield text, start, at, "her" if determiner else "hers"
            elif word == "him":
                yield text, start, at, "her"


def common_nouns(path: Path) -> list[str]:
    """The words of a tagged file, in small letters, that are nearly always common nouns."""
    every: Counter[str] = Counter()
    common: Counter[str] = Counter()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for fields in (line.split("\t") for line in lines):
            if len(fields) > 4 and fields[0].isdigit() and fields[1].isalpha():
                word = fields[1].lower()
                every[word] += 1
                common[word] += fields[4] in ("NN", "NNS")
    return sorted(word for word in every if common[word] >= NOUN * every[word])


def write_nouns(path: Path) -> None:
    """Write what a tagged file has of them beside the model."""
    stored = {
        "source": "common nouns of UD English EWT, train part, CC BY-SA 4.0",
        "nouns": " ".join(common_nouns(path)),
    }
    nouns.PATH.write_text(
        json.dumps(stored, indent=0) + "\n", encoding="ascii", errors="backslashreplace"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("texts", nargs="*", type=Path)
    parser.add_argument("--test", type=Path)
    parser.add_argument(
        "--nouns", type=Path, help="a tagged file: write its nouns, and nothing else"
    )
    parser.add_argument("--strength", type=float, default=1.0, help="inverse of the regularisation")
    args = parser.parse_args()
    if args.nouns is not None:
        write_nouns(args.nouns)
        return
    if not args.texts or args.test is None:
        parser.error("texts and --test are needed, or --nouns")
    documents = [text for path in args.texts for text in texts(path)]
    models: dict[str, dict[str, float]] = {}
    classes = word_classes(documents)
    for name, task in TASKS.items():
        models[name], examples = train(documents, task, classes, args.strength)
        print(f"{name}: {examples} examples, {len(models[name])} weights")
    source = (
        "trained by tests/benchmarks/cda_train_pronouns.py, which names the texts; no text is"
        " contained"
    )
    words: dict[str, list[str]] = {}
    for word in sorted(classes):
        words.setdefault(classes[word], []).append(word)
    stored = {
        "source": source,
        "models": models,
        "classes": {code: " ".join(each) for code, each in words.items()},
    }
    pronoun_model.MODEL_PATH.write_text(
        json.dumps(stored, separators=(",", ":"), sort_keys=True, ensure_ascii=True) + "\n"
    )
    right: Counter[str] = Counter()
    every: Counter[str] = Counter()
    for text, start, end, answer in tagged(args.test):
        word = text[start:end].lower()
        said, sure = pronouns.find_counterpart(text, start, end)
        every[word] += 1
        right[word] += said == answer
        if said != answer:
            print(
                f"  {word} -> {said} ({sure:.2f}), right: {answer}:"
                f" {text[max(0, start - 40) : end + 40]!r}"
            )
    for word in sorted(every):
        print(f"{word}: {right[word]} of {every[word]} = {right[word] / every[word]:.3%}")
    print(
        f"all: {sum(right.values())} of {sum(every.values())} ="
        f" {sum(right.values()) / sum(every.values()):.3%}"
    )


if __name__ == "__main__":
    main()
