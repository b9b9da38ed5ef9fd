"""Learns word vectors from documents by PPMI and SVD, for `bias_score.py --vectors`.

    python tests/benchmarks/text_vectors.py IN.jsonl.gz… OUT.txt

The association of two words is their positive pointwise mutual information within five words, near
ones counted more (Levy and Goldberg 2014; smoothing and weights as Levy, Goldberg and Dagan 2015).
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import svds

WORD = re.compile(r"[a-z]+(?:['’-][a-z]+)*")
LEAST, WINDOW, NUMBERS = 8, 5, 200  # occurrences of a word, words, numbers of a vector
SMOOTH, POWER = 0.75, 0.5


def main(paths: Sequence[str], out: str) -> None:
    """Write the vectors of words that occur LEAST times."""
    texts = [WORD.findall(text.lower()) for path in paths for text in _texts(path)]
    counts = Counter(word for text in texts for word in text)
    words = sorted(word for word, count in counts.items() if count >= LEAST)
    number = {word: at for at, word in enumerate(words)}
    ppmi = _associations(texts, number)
    found: Any = svds(ppmi, NUMBERS, v0=np.ones(len(words)))
    vectors = found[0] * found[1] ** POWER
    with Path(out).open("w", encoding="utf-8") as file:
        for word, each in zip(words, vectors, strict=True):
            file.write(f"{word} {' '.join(f'{value:.5f}' for value in each)}\n")
    print(f"{counts.total():,} words, {len(words):,} vectors of {NUMBERS} numbers")


def _associations(texts: Sequence[Sequence[str]], number: Mapping[str, int]) -> Any:
    """The positive pointwise mutual information of words by their numbers, (W, W)."""
    first: list[Any] = []
    second: list[Any] = []
    weights: list[Any] = []
    for text in texts:
        own = np.array([number.get(word, -1) for word in text])
        for step in range(1, WINDOW + 1):
            a, b = own[:-step], own[step:]
            both = (a >= 0) & (b >= 0)
            first.append(a[both])
            second.append(b[both])
            weights.append(np.full(int(both.sum()), 1 / step))
    shape = len(number), len(number)
    pairs = np.concatenate(first), np.concatenate(second)
    half = coo_matrix((np.concatenate(weights), pairs), shape)
    table = (half + half.T).tocoo()
    of = np.asarray(table.sum(axis=1)).ravel()
    near = of**SMOOTH / (of**SMOOTH).sum()
    values = np.log(table.data / (of[table.row] * near[table.col]))
    kept = values > 0
    return coo_matrix((values[kept], (table.row[kept], table.col[kept])), shape).tocsr()


def _texts(path: str) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            text = json.loads(line).get("text")
            if isinstance(text, str):
                yield text


if __name__ == "__main__":
    main(sys.argv[1:-1], sys.argv[-1])
