"""Counts in how many sentences each word stands: sentence_counts.npz, for words' importance.

python -m evenflow.transforms.measures.bias_score TEXTS.jsonl.gz …

Each line of a file is an object with a "text".
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from evenflow.transforms.measures.bias_score.importance import COUNTS_PATH
from evenflow.transforms.text import sentences
from evenflow.transforms.text.words import split_runs

LEAST = 3  # sentences from which a word is kept: rarer ones hold names of people
MOST = 40_000  # words that are kept: the most frequent ones


def count(texts: Iterable[str]) -> tuple[Counter[str], int]:
    """Count sentences by word."""
    found: Counter[str] = Counter()
    total = 0
    for text in texts:
        for start, end in pairwise([*sentences.bounds(text).tolist(), len(text)]):
            found.update(set(split_runs(text[start:end].lower())))
            total += 1
    return found, total


def main(paths: Sequence[str]) -> None:
    """Write the file of counts."""
    texts = (
        json.loads(line)["text"]
        for path in paths
        for line in gzip.decompress(Path(path).read_bytes()).splitlines()
    )
    found, total = count(texts)
    kept = [word for word, number in found.items() if number >= LEAST and word.isalpha()]
    kept = sorted(sorted(kept, key=lambda word: (-found[word], word))[:MOST])
    np.savez_compressed(
        COUNTS_PATH,
        words=np.frombuffer("\n".join(kept).encode(), np.uint8),
        sentences=np.array([found[word] for word in kept], np.uint32),
        total=np.int64(total),
    )
    print(f"{total:,} sentences, {len(kept):,} of {len(found):,} words")


if __name__ == "__main__":
    main(sys.argv[1:])
