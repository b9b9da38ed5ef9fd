"""Fits the model that leaves labels out of code, markup and manuals, and says how good it is.

    python tests/benchmarks/register.py --technical FILE ... --prose FILE ... [--write]

The files are JSON lines (.gz) with `id` and `text`. An id of a technical text names its package
before the first slash. Three packages in five and three prose documents in five are fitted to; the
table is of the others. Every mention in technical texts counts as no word of prose. That is not
true of each one, so those that are kept are printed, to be read.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from evenflow.pipelines.api.annotator import Annotator
from evenflow.transforms.labels import register
from evenflow.transforms.text.shipped import DIGESTS

FITTED = 60  # of a hundred packages or documents
OF_PACKAGE = 15  # mentions of a package that are fitted to, so that no package weighs most
PACKAGES = 3  # in which a technical sign must be
ROWS = 3  # in which a sign must be
C, RATIO, GATED = 2.0, 6, 5  # strength; weight of prose against technical; of prose with symbols
IS_TECHNICAL = register.is_technical
register.is_technical = lambda text: False  # mentions are found without the model


# A word of prose in markup is one of prose too: of each text of prose a copy is marked
MARKS = {
    "html": ["<b>%s</b>", "<i>%s</i>", '<a href="/1">%s</a>', "<em>%s</em>", "<p>", "<li>", ""],
    "markdown": ["**%s**", "*%s*", "_%s_", "[%s](x.html)", "- ", "> ", "## ", "1. ", ""],
}
WORD, MARKED = re.compile(r"[^\W\d_]+"), 0.1


class Row(NamedTuple):
    """A mention."""

    group: str
    signs: frozenset[str]
    technical: bool
    near: str


def marked(text: str, marks: str, random: random.Random) -> str:
    """A text with the marks of a markup language: of words, and of its lines."""
    words = [mark for mark in MARKS[marks] if "%s" in mark]
    lines = [mark for mark in MARKS[marks] if "%s" not in mark]
    out = WORD.sub(
        lambda word: random.choice(words) % word[0] if random.random() < MARKED else word[0], text
    )
    return "\n".join(random.choice(lines) + line for line in out.split("\n"))


def rows(paths: Iterable[Path], are_technical: bool) -> Iterator[Row]:
    """Yield the mentions of files, each kind of a package or document once."""
    annotator = Annotator(attributes=sorted(register.LEARNT))
    seen: set[tuple[str, str]] = set()
    for path in paths:
        opened: Any = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                text, group = record.get("text") or "", str(record.get("id"))
                if are_technical:
                    group = group.partition("/")[0]
                copies = [text]
                if not are_technical:
                    drawn = random.Random(group)
                    copies.append(marked(text, drawn.choice(sorted(MARKS)), drawn))
                for copy in copies:
                    for each in annotator.annotate(copy).mentions:
                        near = copy[max(0, each.start - 40) : each.end + 30].replace("\n", "⏎")
                        if (group, near) not in seen:
                            seen.add((group, near))
                            found = frozenset(register.signs(copy, each.start, each.end))
                            yield Row(group, found, IS_TECHNICAL(copy), near)


def is_fitted(row: Row) -> bool:
    """Whether a row is one of those that are fitted to."""
    return zlib.crc32(row.group.encode()) % 100 < FITTED


def fit(technical: list[Row], prose: list[Row]) -> dict[str, int]:
    """Fit the weights, in tenths; those of signs that say little are left out."""
    packages: dict[str, set[str]] = {}
    for row in technical:
        for sign in row.signs:
            packages.setdefault(sign, set()).add(row.group)
    counts = Counter(sign for row in [*technical, *prose] for sign in row.signs if sign)
    names = sorted(
        sign
        for sign, count in counts.items()
        if count >= ROWS and not 0 < len(packages.get(sign, ())) < PACKAGES
    )
    places = {name: place for place, name in enumerate(names)}
    both = [*technical, *prose]
    ones = [(at, places[s]) for at, row in enumerate(both) for s in row.signs if s in places]
    at, columns = zip(*ones, strict=True)
    matrix = csr_matrix((np.ones(len(at)), (at, columns)), shape=(len(both), len(names)))
    weights = np.array([1.0] * len(technical) + [GATED if r.technical else 1.0 for r in prose])
    weights[len(technical) :] *= len(technical) * RATIO / weights[len(technical) :].sum()
    model = LogisticRegression(C=C, solver="liblinear", penalty="l1", random_state=0)
    model.fit(matrix, np.array([0] * len(technical) + [1] * len(prose)), sample_weight=weights)
    fitted: list[float] = np.append(model.intercept_, model.coef_).tolist()
    found = dict(zip(["", *names], fitted, strict=True))
    return {name: round(10 * value) for name, value in found.items() if round(10 * value)}


def main() -> None:
    """Fit, print and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--technical", type=Path, nargs="+", required=True)
    parser.add_argument("--prose", type=Path, nargs="+", required=True)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    technical = [row for row in rows(given.technical, True) if row.technical]
    prose = list(rows(given.prose, False))
    random.Random(0).shuffle(technical)
    of: Counter[str] = Counter()
    few: list[Row] = []
    for row in filter(is_fitted, technical):
        of[row.group] += 1
        few += [row] if of[row.group] <= OF_PACKAGE else []
    weights = fit(few, [row for row in prose if is_fitted(row)])

    def kept(row: Row) -> bool:
        return sum(weights.get(sign, 0) for sign in row.signs) > 0

    held = [row for row in technical if not is_fitted(row)]
    own = [row for row in prose if not is_fitted(row)]
    lost = [row for row in own if row.technical and not kept(row)]
    print(f"{len(weights)} weights of {len(few)} technical mentions of {len(of)} packages")
    print(f"other packages: {sum(map(kept, held))} of {len(held)} mentions are kept")
    looked = sum(row.technical for row in own)
    print(f"other prose: {len(lost)} of {len(own)} mentions are lost; {looked} had a look")
    for row in filter(kept, held):
        print("  kept:", row.group, row.near)
    for row in lost[:60]:
        print("  lost:", row.group, row.near)
    if given.write:
        text = json.dumps(dict(sorted(weights.items())), indent=0) + "\n"
        register.PATH.write_text(text, encoding="utf-8")
        digests = json.loads(DIGESTS.read_text())
        digests["labels/register_model.json"] = hashlib.sha256(text.encode()).hexdigest()
        DIGESTS.write_text(json.dumps(dict(sorted(digests.items())), indent=2) + "\n")


if __name__ == "__main__":
    main()
