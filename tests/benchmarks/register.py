"""Fits the model that leaves labels out of code, markup and manuals, and says how good it is.

    python tests/benchmarks/register.py --technical FILE --prose FILE [--write]

The files are JSON lines (.gz), a line for a label in a text: `group` (a package or document),
`text`, `label`, `spans` (of its mentions), `people` (whether they are words of prose). A language
model read most technical ones; each one in prose counts as prose. Three groups in four are fitted
to, and the figures are of the fourth, four times; `--write` fits to all.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import zlib
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from evenflow.transforms.labels import register
from evenflow.transforms.text.shipped import DIGESTS

FOLDS, MENTIONS, ROWS = 4, 3, 3  # mentions of a label and text that are fitted to; rows of a sign
C, TEXT_C = 1.0, 0.05  # strength of the regressions
PEOPLE, RATIO, LOOKED = 3, 4, 5  # weights: of people in technical texts, of prose, with a look
OFFSET = 0.5  # logits above which a mention is prose


class Row(NamedTuple):
    """A label in a text."""

    group: str
    text: str
    spans: list[tuple[int, int]]
    people: bool
    technical: bool
    looked: bool
    characters: register.Floats


def rows(path: Path, technical: bool) -> list[Row]:
    """Read the labels in texts."""
    out: list[Row] = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for each in map(json.loads, lines):
            text = each["text"]
            out.append(
                Row(
                    each["group"],
                    text,
                    [(start, end) for start, end in each["spans"]],
                    each["people"],
                    technical,
                    register.is_looked_at(text),
                    register.characters(text),
                )
            )
    return out


def fit(given: list[Row]) -> register.Model:
    """Fit the characters' weights, and with them those of the signs."""
    seen = {row.text: row for row in given if row.looked}.values()
    is_prose = np.array([not row.technical for row in seen])
    weights = np.where(is_prose, (~is_prose).sum() / is_prose.sum(), 1)
    model: Any = LogisticRegression(C=TEXT_C, max_iter=500)
    model.fit(np.array([row.characters for row in seen]), is_prose, sample_weight=weights)
    characters = np.append(model.coef_[0], model.intercept_).astype(np.float64).round(3)
    found: list[set[str]] = []
    weigh: list[float] = []
    said: list[bool] = []
    prose: list[bool] = []
    for row in given:
        level = register.register_of(row.text, characters)
        one = (PEOPLE if row.people else 1) if row.technical else LOOKED if row.looked else 1
        for span in row.spans[:MENTIONS]:
            found.append(set(register.signs(row.text, *span, level)) - {""})
            weigh.append(one / len(row.spans[:MENTIONS]))
            said.append(row.people)
            prose.append(not row.technical)
    share, people, ours = np.array(weigh), np.array(said), np.array(prose)
    share[ours] *= share[~people].sum() * RATIO / share[ours].sum()
    counts = Counter(sign for each in found for sign in each)
    places = {sign: at for at, sign in enumerate(sorted(s for s in counts if counts[s] >= ROWS))}
    ones = [(at, places[s]) for at, each in enumerate(found) for s in sorted(each) if s in places]
    at, columns = zip(*ones, strict=True)
    matrix = csr_matrix((np.ones(len(at)), (at, columns)), shape=(len(found), len(places)))
    model = LogisticRegression(C=C, solver="liblinear", random_state=0)
    model.fit(matrix, people, sample_weight=share)
    fitted = {"": round(100 * (float(model.intercept_[0]) - OFFSET))}
    fitted |= {s: round(100 * float(v)) for s, v in zip(places, model.coef_[0], strict=True)}
    return register.Model(characters, {s: v for s, v in fitted.items() if s == "" or abs(v) >= 3})


def is_kept(row: Row, model: register.Model) -> bool:
    """Whether a row's mentions are words of prose by a model."""
    level = register.register_of(row.text, model.characters)
    register.shipped = lambda: model
    some = row.spans[: register.MOST]
    return level >= register.SURE or register.is_prose(row.text, some, level)


def main() -> None:
    """Fit, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--technical", type=Path, required=True)
    parser.add_argument("--prose", type=Path, required=True)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    every = rows(given.technical, True) + rows(given.prose, False)
    kept: Counter[tuple[bool, bool, bool]] = Counter()
    for fold in [] if given.write else range(FOLDS):
        own = [zlib.crc32(row.group.encode()) % FOLDS == fold for row in every]
        model = fit([row for row, out in zip(every, own, strict=True) if not out])
        for row, out in zip(every, own, strict=True):
            if out and row.looked:
                kept[row.technical, row.people, is_kept(row, model)] += 1
    for (technical, people, yes), count in sorted(kept.items()):
        print(f"technical {technical}, people {people}, kept {yes}: {count}")
    if given.write:
        model = fit(every)
        whole = {
            "characters": model.characters.tolist(),
            "signs": dict(sorted(model.signs.items())),
        }
        text = json.dumps(whole, indent=0) + "\n"
        register.PATH.write_text(text, encoding="utf-8")
        digests = json.loads(DIGESTS.read_text())
        digests["labels/register_model.json"] = hashlib.sha256(text.encode()).hexdigest()
        DIGESTS.write_text(json.dumps(dict(sorted(digests.items())), indent=2) + "\n")


if __name__ == "__main__":
    main()
