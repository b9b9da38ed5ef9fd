"""Measures how many plain texts the default exchange decides rightly.

    python tests/benchmarks/plain_texts.py

tests/data/plain_texts.jsonl has 60 short texts: recipes, advice, rules of a house, job adverts,
anecdotes, school sums, manuals, reviews, notices. In half of them a person has no name, and every
word for that person must change ({old|new}). In the others the person has a name, and nothing may
change. The texts were written and labelled before any output was seen. The interval is Wilson's,
95 %.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from evenflow.schemas.config import load
from evenflow.transforms.lab.training.evaluate import share
from evenflow.transforms.substitution import reading
from evenflow.transforms.substitution.counterfactuals import rewrite
from evenflow.wordlists import loader

TEXTS = Path(__file__).parents[1] / "data" / "plain_texts.jsonl"
CHOICE = re.compile(r"\{([^|{}]*)\|([^|{}]*)\}")


def main() -> None:
    judge, words = reading.DocumentJudge.shipped(), [loader.load("gender")]
    strictness = reading.strictness(load(None), "gender")
    seen: Counter[bool] = Counter()
    right: Counter[bool] = Counter()
    wrong: list[str] = []
    for line in TEXTS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text, wanted = CHOICE.sub(r"\1", row["text"]), CHOICE.sub(r"\2", row["text"])
        made = rewrite(text, words, "gender", strictness=strictness, judge=judge).text
        seen[text != wanted] += 1
        right[text != wanted] += made == wanted
        if made != wanted:
            what = "left as it is" if made == text else "changed otherwise"
            wrong.append(f"{row['id']} {row['kind']}: {what}")
    print(f"decided rightly: {share(right.total(), seen.total())}")
    print(f"without a name, changed as a whole: {share(right[True], seen[True])}")
    print(f"with a name, left as it is: {share(right[False], seen[False])}")
    print("\n".join(wrong))


if __name__ == "__main__":
    main()
