"""Fits the recogniser of first names.

    python -m evenflow.pipelines.lab.train.names OUT --female FILE --male FILE --surnames FILE

The files are those of the US census of 1990: a name and its share in per cent a line. It learns
from rows that were read one by one (tests/data/name_rows_README.md), by logistic regression on the
signs beside a word, and on what the word says itself: its vector, how frequent it is as a first
name and as a surname, and how often it stands without a capital. The last four become one number
for each name.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.pipelines.lab.train.people import doubt
from evenflow.transforms.lab.training.start import starter
from evenflow.transforms.measures.names import recogniser
from evenflow.transforms.models import files, people, static

DATA = Path("tests/data")
VECTOR = 0.1  # how strongly a vector may speak; this and the signs were chosen on sources left out
RARE = 1e-4  # per cent: the share of a name that is not in the file
HEAD = "# First names: share of women, of men (US census 1990, thousandths of a per cent), logit.\n"

Floats = npt.NDArray[np.float64]


def shares(path: Path) -> dict[str, float]:
    """Per cent by name, in lower case."""
    rows = (line.split() for line in path.read_text(encoding="ascii").splitlines())
    return {row[0].lower(): float(row[1]) for row in rows if row[0] != "name"}


def documents(path: Path) -> dict[int, dict[str, Any]]:
    """The labelled documents that have a text, by number."""
    with gzip.open(path / "documents.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {row["number"]: row for row in map(json.loads, lines) if "text" in row}


def rows(path: Path, part: str) -> list[dict[str, Any]]:
    """The rows of a part that were read: number, start, end, person."""
    lines = (path / "name_rows.jsonl").read_text(encoding="ascii").splitlines()
    return [row for row in map(json.loads, lines) if row["part"] == part]


def of_words(
    names: Sequence[str], first: Mapping[str, float], last: Mapping[str, float], data: Path
) -> Floats:
    """What names say themselves, (n, D + 3)."""
    words, vectors, _ = static.word_vectors()
    at, scale = {word: number for number, word in enumerate(words)}, VECTOR / vectors.std()
    cases: Counter[tuple[str, bool]] = Counter()
    for row in documents(data).values():
        found = re.findall(r"[^\W\d_]+", row["text"])
        cases.update((word.lower(), word[0].islower()) for word in found)
    more = [
        (
            np.log10(first[name] + RARE),
            np.log10(last.get(name, RARE)),
            np.log10((cases[name, True] + 0.5) / (cases[name, False] + 0.5)),
        )
        for name in names
    ]
    vector = [people.label_vector(name, at, vectors) * scale for name in names]
    return np.concatenate([np.array(vector), np.array(more)], axis=1)


def train(out: Path, *, female: Path, male: Path, surnames: Path, data: Path = DATA) -> None:
    """Fit and write the recogniser.

    Args:
        out: The folder to write to.
        female: First names of women.
        male: First names of men.
        surnames: Last names.
        data: The folder of the rows and documents.
    """
    from sklearn.linear_model import LogisticRegression

    women, men = shares(female), shares(male)
    names = sorted(women | men)
    index = {name: number for number, name in enumerate(names)}
    both = {name: women.get(name, 0) + men.get(name, 0) for name in names}
    own = of_words(names, both, shares(surnames), data)
    texts, learnt = documents(data), rows(data, "train")
    beside: list[tuple[bool, ...]] = []
    said: list[str] = []
    for row in learnt:
        text = texts[row["number"]]["text"]
        said.append(text[row["start"] : row["end"]].lower())
        beside.append(recogniser.signs(text, row["start"], row["end"], index))
    design = np.concatenate([np.array(beside, float), own[[index[name] for name in said]]], axis=1)
    true = np.array([row["person"] for row in learnt], float)
    sources = np.array([texts[row["number"]]["source"].split("-")[0] for row in learnt])
    model: Any = LogisticRegression(max_iter=2000)
    apart = np.zeros(len(learnt))
    for source in sorted(set(sources.tolist())):
        away = sources == source
        apart[away] = model.fit(design[~away], true[~away]).predict_proba(design[away])[:, 1]
    groups = ["f" if women.get(name, 0) > men.get(name, 0) else "m" for name in said]
    cells = list(zip(groups, sources.tolist(), strict=True))
    model.fit(design, true)
    weights: Floats = model.coef_[0]
    size = len(recogniser.SIGNS)
    logits = own @ weights[size:] + float(model.intercept_[0])
    out.mkdir(parents=True, exist_ok=True)
    lines = (
        f"{name}\t{women.get(name, 0) * 1000:.0f}\t{men.get(name, 0) * 1000:.0f}\t{logit:.2f}\n"
        for name, logit in zip(names, logits.tolist(), strict=True)
    )
    (out / recogniser.NAMES).write_text(HEAD + "".join(lines), encoding="ascii")
    signs = dict(zip(recogniser.SIGNS, weights[:size].round(2).tolist(), strict=True))
    about = {"signs": signs, "doubt": doubt(cells, apart, true), "rows": len(learnt)}
    files.write_manifest(
        out / recogniser.MANIFEST, recogniser.FORMAT, recogniser.VERSION, [recogniser.NAMES], about
    )


main = starter(train, __doc__, out="folder to write to")


if __name__ == "__main__":
    main(None)
