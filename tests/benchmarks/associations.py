"""How often words are said to lean where, by construction, none does.

    python tests/benchmarks/associations.py CORPUS.jsonl.gz

Whole documents have women and men swapped by chance, 40 times. Printed is how often a word is said
to lean.
"""

from __future__ import annotations

import argparse
from random import Random
from typing import Any
from unittest.mock import patch

from evenflow.pipelines.corpus.measure import measure
from evenflow.schemas.config import load
from evenflow.transforms.measures.associations import counting
from evenflow.transforms.measures.associations.leanings import leanings


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("corpus", nargs="+")
    parser.add_argument("--draws", default=40, type=int)
    args = parser.parse_args()
    config = load(None, {}, ("gender",))
    every: list[dict[Any, int]] = []
    rows = counting.rows
    with patch.object(counting, "rows", lambda pairs, size: every.append(dict(pairs)) or {}):
        counters = {counting.NAME: counting.AssociationCounter(config.word_lists())}
        documents = sum(each.documents for each in measure(args.corpus, config, counters))
    named, words = 0, 0
    for seed in range(args.draws):
        draw, sums = Random(seed), counting.WordSums()
        for pairs in every:
            turned = {owner: draw.random() < 0.5 for owner in sorted({at for at, *_ in pairs})}
            swapped = {(at, word, group ^ turned[at]): n for (at, word, group), n in pairs.items()}
            sums.add(rows(swapped, 2))
        found = leanings(sums.rows, 2)
        named += bool(found.leans.any())
        words = len(found.words)
    print(
        f"{documents:,} documents, {words:,} words: a word was named in {named} of"
        f" {args.draws} draws"
    )


if __name__ == "__main__":
    main()
