"""What the band of perplexity lets through: sentences of the corpus, and the same ones broken.

    python tests/benchmarks/coverage_perplexity.py [MODEL [NUMBER]]

The band is from sentences of the speeches; the NUMBER (100) sentences that are tried are others.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from evenflow.schemas.config import Config
from evenflow.transforms.lab.generation import limits
from evenflow.transforms.lab.generation.templates import Corpus, GroupCounter
from evenflow.transforms.measures.coverage.threshold import interval

TEXTS = Path(__file__).parents[1] / "data" / "speeches.jsonl.gz"


def main(model: str, number: int) -> None:
    """Print the shares that pass."""
    drawn, config = random.Random(1), Config()
    corpus = Corpus.read([str(TEXTS)], config, GroupCounter(config, ["gender"]))
    texts = sorted({each.text for each in corpus.templates})
    drawn.shuffle(texts)

    def shuffled(text: str) -> str:
        words = text.split()
        drawn.shuffle(words)
        return " ".join(words)

    def swapped(text: str) -> str:
        words = text.split()
        at = drawn.randrange(max(len(words) - 1, 1))
        words[at : at + 2] = reversed(words[at : at + 2])
        return " ".join(words)

    scorer, name = limits.by_model(model)
    begin = time.perf_counter()
    band = limits.perplexity(scorer, texts[number:], name)
    print(f"{dict(band.told)} in {time.perf_counter() - begin:.0f} s")
    kinds: dict[str, Callable[[str], str]] = {
        "as they are": str,
        "two neighbouring words exchanged": swapped,
        "all words shuffled": shuffled,
        "a word said thirty times": lambda text: " ".join([text.split()[-1]] * 30),
    }
    for kind, change in kinds.items():
        passed = sum(band.passes(change(each)) for each in texts[:number])
        low, high = interval(passed, number, number, 0.95)
        print(f"{kind}: {passed} of {number} pass ({low:.0%} to {high:.0%})")


if __name__ == "__main__":
    main(
        sys.argv[1] if len(sys.argv) > 1 else "smollm2-135m-instruct",
        int(sys.argv[2]) if len(sys.argv) > 2 else 100,
    )
