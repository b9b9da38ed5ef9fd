"""Fits the model that leaves labels out of code, markup and manuals, and says how good it is.

    python tests/benchmarks/register.py [--write]

It reads `tests/data/register_readings.jsonl.gz`, a line for a label in a text: `group` (a package
or document), `source` and `licence`; `beginning` (how often each character of ASCII stands in the
text's first 2,048), null of a short text; `contexts` (of at most three of its mentions:
what stands before, the mention, what stands behind); `people` (whether they are words for people)
and `technical`. A language model read the technical ones; each one in prose counts as one of
people. Three groups in four are fitted to, and the figures are of the fourth, four times, by how
sure a mention must be beyond what ships; `--write` fits to all.
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

READINGS = Path(__file__).parent.parent / "data" / "register_readings.jsonl.gz"
FOLDS, ROWS = 4, 3  # rows of a sign
C, TEXT_C = 1.0, 0.05  # strength of the regressions
PEOPLE, RATIO, LOOKED = 3, 4, 5  # weights: of people in technical texts, of prose, with a look
# Logits above which a mention is prose: in a text of the registers below TECHNICAL, and in others
TECHNICAL, STRICT, LAX = -1, 2.0, 0.0
CUTS = (-1, -0.5, 0, 0.5, 1)  # logits above what ships, for the figures


class Row(NamedTuple):
    """A label in a text; `beginning`: characters as often as at its beginning, in any order."""

    group: str
    beginning: str | None
    contexts: list[list[str]]
    people: bool
    technical: bool


def rows() -> list[Row]:
    """Read the labels in texts."""
    out: list[Row] = []
    with gzip.open(READINGS, "rt", encoding="utf-8") as lines:
        for each in map(json.loads, lines):
            counts = each["beginning"]
            start = counts and "".join(sign * count for sign, count in counts.items())
            out.append(
                Row(each["group"], start, each["contexts"], each["people"], each["technical"])
            )
    return out


def signs(row: Row, level: int) -> list[set[str]]:
    """The signs of a row's mentions."""
    spans = (
        (left + word + right, len(left), len(left + word)) for left, word, right in row.contexts
    )
    return [set(register.signs(*span, level)) - {""} for span in spans]


def level_of(row: Row, characters: register.Floats) -> int:
    """The register of a row's text."""
    beginning = row.beginning
    return register.SURE if beginning is None else register.registers([beginning], characters)[0]


def fit(given: list[Row]) -> register.Model:
    """Fit the characters' weights, and with them those of the signs."""
    seen = {row.beginning: row.technical for row in given if row.beginning}
    is_prose = ~np.array(list(seen.values()))
    weights = np.where(is_prose, (~is_prose).sum() / is_prose.sum(), 1)
    model: Any = LogisticRegression(C=TEXT_C, max_iter=500)
    model.fit(register.characters(list(seen)), is_prose, sample_weight=weights)
    characters = np.append(model.coef_[0], model.intercept_).astype(np.float64).round(3)
    found: list[set[str]] = []
    weigh: list[float] = []
    owners: list[Row] = []
    for row in given:
        level = level_of(row, characters)
        looked = LOOKED if level < register.SURE else 1
        one = (PEOPLE if row.people else 1) if row.technical else looked
        found += signs(row, level)
        weigh += [one / len(row.contexts)] * len(row.contexts)
        owners += [row] * len(row.contexts)
    share, people = np.array(weigh), np.array([row.people for row in owners])
    ours = np.array([not row.technical for row in owners])
    share[ours] *= share[~people].sum() * RATIO / share[ours].sum()
    counts = Counter(sign for each in found for sign in each)
    places = {sign: at for at, sign in enumerate(sorted(s for s in counts if counts[s] >= ROWS))}
    ones = [(at, places[s]) for at, each in enumerate(found) for s in sorted(each) if s in places]
    at, columns = zip(*ones, strict=True)
    matrix = csr_matrix((np.ones(len(at)), (at, columns)), shape=(len(found), len(places)))
    model = LogisticRegression(C=C, solver="liblinear", random_state=0)
    model.fit(matrix, people, sample_weight=share)
    fitted = {s: round(100 * float(v)) for s, v in zip(places, model.coef_[0], strict=True)}
    fitted = {s: v for s, v in fitted.items() if abs(v) >= 3}
    fitted[""] = round(100 * (float(model.intercept_[0]) - LAX))
    for level in range(-register.FURTHEST, TECHNICAL):
        fitted[f"T={level}"] = fitted.get(f"T={level}", 0) - round(100 * (STRICT - LAX))
    return register.Model(characters, fitted)


def logit(row: Row, model: register.Model) -> float:
    """The mean logit of a row's mentions above where they are prose."""
    level = level_of(row, model.characters)
    if level >= register.SURE:
        return np.inf
    sums = [sum(model.signs.get(s, 0) for s in each) for each in signs(row, level)]
    return float(np.mean(sums) + model.signs[""]) / 100


def main() -> None:
    """Fit, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true")
    given, every = parser.parse_args(), rows()
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
        return
    read: list[tuple[Row, float]] = []
    for fold in range(FOLDS):
        own = [zlib.crc32(row.group.encode()) % FOLDS == fold for row in every]
        model = fit([row for row, out in zip(every, own, strict=True) if not out])
        read += [(row, logit(row, model)) for row, out in zip(every, own, strict=True) if out]
    print("cut: kept of people and of others in technical texts; lost in prose")
    for cut in CUTS:
        kept: Counter[tuple[bool, bool, bool]] = Counter()
        for row, sure in read:
            if row.beginning:
                kept[row.technical, row.people, sure > cut] += 1
        parts = [(kept[t, p, y], kept[t, p, True] + kept[t, p, False]) for t, p, y in CASES]
        print(f"{cut:.1f}:", "; ".join(f"{part} of {whole}" for part, whole in parts))


CASES = ((True, True, True), (True, False, True), (False, True, False))
if __name__ == "__main__":
    main()
