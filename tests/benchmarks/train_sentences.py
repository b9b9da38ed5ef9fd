"""Rebuild transforms/text/sentence_model.json: python tests/benchmarks/train_sentences.py
en_ewt_train.conllu.gz

Deterministic: the same files give the same model. The examples, written for this, are of what the
treebank has too little: abbreviations, brackets, firms and names. Its settings were chosen by
cross-validated F1 over folds of whole documents (`--search` of commit 030775a6). The treebank is
CC BY-SA 4.0, Silveira et al. (2014), «A Gold Standard Dependency Corpus for English».
"""

from __future__ import annotations

import argparse
import gzip
import json
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from evenflow.transforms.text import boundaries, sentences

BITS = 17
# Weight units a nat: int8 then reaches +- 5.3, beyond which a single feature decides anyway.
SCALE = 24.0
EXAMPLES = Path(__file__).parents[1] / "data" / "sentence_examples.txt"
WRAP = 72  # Columns of the hard-wrapped copies.


class Paragraph(NamedTuple):
    """doc: document id. text: the paragraph as written. starts: offsets of its sentences but the
    first.
    """

    doc: str
    text: str
    starts: list[int]


def read_paragraphs(path: Path) -> list[Paragraph]:
    """The paragraphs of a gzipped CoNLL-U file. A multiword token (1-2) gives its own form, its
    words nothing.
    """
    out: list[Paragraph] = []
    doc, text, starts = "", "", list[int]()
    with gzip.open(path, "rt", encoding="utf-8") as file:
        blocks = file.read().split("\n\n")
    for block in blocks:
        lines = [line for line in block.split("\n") if line]
        if not lines:
            continue
        new = next((line for line in lines if line.startswith("# newdoc")), None)
        if new is not None or any(line.startswith("# newpar") for line in lines):
            if text:
                out.append(Paragraph(doc, text, starts))
            text, starts = "", []
        elif text:
            starts.append(len(text))
        doc = new.split("=")[1].strip() if new is not None else doc
        covered = 0
        for fields in (line.split("\t") for line in lines if line[0] != "#"):
            if "." in fields[0]:
                continue
            first, _, last = fields[0].partition("-")
            if not last and int(first) <= covered:
                continue
            covered = int(last or first)
            text += fields[1] + ("" if "SpaceAfter=No" in fields[9] else " ")
    return [*out, Paragraph(doc, text, starts)] if text else out


def read_examples(path: Path) -> list[Paragraph]:
    """The examples of a file, a paragraph a line, with “|” where a sentence begins."""
    out: list[Paragraph] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        parts = line.split("|")
        starts = [len(" ".join(parts[:at])) + 1 for at in range(1, len(parts))]
        out.append(Paragraph(line, " ".join(parts), starts))
    return out


def wrap(paragraph: Paragraph) -> Paragraph:
    """The paragraph with every first blank after WRAP columns turned into a line break: a break
    that means nothing.
    """
    chars, column = list(paragraph.text), 0
    for position, char in enumerate(chars):
        column += 1
        if char == " " and column > WRAP:
            chars[position], column = "\n", 0
    return paragraph._replace(text="".join(chars))


def join_lines(paragraphs: list[Paragraph]) -> list[Paragraph]:
    """Each document's paragraphs on lines of their own: a break that means a bound."""
    out: list[Paragraph] = []
    for part in paragraphs:
        if out and out[-1].doc == part.doc:
            text = out[-1].text.rstrip() + "\n"
            moved = [len(text) + start for start in part.starts]
            out[-1] = Paragraph(part.doc, text + part.text, [*out[-1].starts, len(text), *moved])
        else:
            out.append(part)
    return out


class Rows(NamedTuple):
    """Candidates. buckets: (n, features). gold: (n,) 0 or 1. missed: gold bounds that are no
    candidates.
    """

    buckets: NDArray[np.int64]
    gold: NDArray[np.int64]
    missed: int


def rows_of(paragraphs: list[Paragraph], bits: int) -> Rows:
    """Candidates of the paragraphs with their buckets."""
    pieces, gold = list[str](), list[int]()
    offset = 0
    for part in paragraphs:
        pieces.append(part.text + "\n\n")
        gold += [offset + start for start in part.starts]
        offset += len(part.text) + 2
    text = "".join(pieces)
    codes = boundaries.fold(text)
    gaps = boundaries.find_gaps(codes)
    open_ = ~boundaries.find_certain(gaps)
    gaps = boundaries.Gaps(gaps.start[open_], gaps.last[open_], gaps.breaks[open_])
    keys = boundaries.compute_features(codes, gaps)
    buckets = np.stack(
        [boundaries.hash_keys(key, number, bits) for number, key in enumerate(keys)], axis=1
    )
    labels = np.isin(gaps.start - boundaries.REACH, gold).astype(np.int64)
    return Rows(buckets, labels, len(gold) - int(labels.sum()))


def augmented(paragraphs: list[Paragraph]) -> list[Paragraph]:
    """The paragraphs, and a copy of each document: hard-wrapped for half of them, a paragraph a
    line for the others.
    """
    copies = [(part, zlib.crc32(part.doc.encode()) & 1) for part in paragraphs]
    lines = join_lines([part for part, odd in copies if not odd])
    return [*paragraphs, *lines, *(wrap(part) for part, odd in copies if odd)]


def fit(rows: Rows, bits: int, strength: float, penalty: str) -> LogisticRegression:
    """A logistic regression over the buckets. strength: scikit-learn's C."""
    matrix = as_matrix(rows, bits)
    model = LogisticRegression(
        C=strength, penalty=penalty, solver="liblinear", random_state=0, tol=1e-3, max_iter=200
    )
    return model.fit(matrix, rows.gold)


def as_matrix(rows: Rows, bits: int) -> csr_matrix:
    """One row a candidate with a one in each of its buckets."""
    count, width = rows.buckets.shape
    data = np.ones(count * width, dtype=np.float64)
    ends = np.arange(count + 1) * width
    return csr_matrix((data, rows.buckets.ravel(), ends), shape=(count, 1 << bits))


def write(
    paragraphs: list[Paragraph], path: Path, penalty: str, strength: float, log_odds: float
) -> None:
    """Train on everything and write the quantised model."""
    model = fit(rows_of(augmented(paragraphs), BITS), BITS, strength, penalty)
    weights = np.clip(np.rint(np.ravel(model.coef_) * SCALE), -127, 127).astype(int)
    buckets = np.flatnonzero(weights)
    data = {
        "source": (
            "UD English EWT, train, CC BY-SA 4.0, and tests/data/sentence_examples.txt;"
            " rebuilt by tests/benchmarks/train_sentences.py"
        ),
        "bits": BITS,
        "scale": SCALE,
        "threshold": round((log_odds - float(np.ravel(model.intercept_)[0])) * SCALE),
        "bucket_steps": np.diff(buckets, prepend=0).tolist(),
        "weights": weights[buckets].tolist(),
    }
    lines = (f' "{key}": {json.dumps(value, separators=(",", ":"))}' for key, value in data.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{path}: {len(buckets)} weights, {path.stat().st_size} bytes")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("train", type=Path, help="en_ewt_train.conllu.gz")
    parser.add_argument("--output", type=Path, default=sentences.MODEL_PATH)
    parser.add_argument("--penalty", choices=("l1", "l2"), default="l2")
    parser.add_argument("--strength", type=float, default=1.0, help="scikit-learn's C")
    parser.add_argument("--log-odds", type=float, default=-0.75, help="least log-odds of a bound")
    parser.add_argument("--times", type=int, default=12, help="how often an example is seen")
    options = parser.parse_args()
    paragraphs = read_paragraphs(options.train) + read_examples(EXAMPLES) * options.times
    write(paragraphs, options.output, options.penalty, options.strength, options.log_odds)


if __name__ == "__main__":
    main()
