"""What the main paper's filter (its Table 16: keywords, years) leaves of what annotators leave.

python tests/benchmarks/leaving.py
"""

from __future__ import annotations

import json
from pathlib import Path

from evenflow.transforms import wilson
from evenflow.transforms.substitution.leaving import Leaving

DATA = Path(__file__).resolve().parent.parent / "data" / "cda_fresh.jsonl"
PUBLISHED = (
    *("1000-2029", "president", "senator", "congressman", "governor", "mayor", "politician"),
    *("congress", "parliament", "senate", "government", "administration", "election", "vote"),
    *("voting", "campaign", "politics", "political", "war", "battle", "revolution", "historical"),
    *("history", "century", "assassination", "killed", "died", "memorial", "monument", "legacy"),
    *("ancient", "medieval", "colonial", "civil war", "world war"),
)


def main() -> None:
    """Print the share of the sentences that the filter leaves, by what annotators say of them."""
    leaving = Leaving(PUBLISHED)
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    kinds = {
        "leave": [row for row in rows if row["leave"]],
        "either": [row for row in rows if not row["leave"] and None in row["answers"]],
        "change": [row for row in rows if None not in row["answers"]],
    }
    print("| annotators | sentences | the filter leaves |\n| --- | --- | --- |")
    for kind, own in kinds.items():
        left = sum(leaving.leaves(row["sentence"]) for row in own)
        low, high = wilson.interval(left / len(own), len(own))
        print(f"| {kind} | {len(own)} | {left / len(own):.1%} [{low:.1%}, {high:.1%}] |")


if __name__ == "__main__":
    main()
