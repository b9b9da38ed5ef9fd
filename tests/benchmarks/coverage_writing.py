"""Speed of `evenflow coverage generate` with a scripted language model.

    python tests/benchmarks/coverage_writing.py [SECONDS]

The server answers each question after SECONDS (0.3) with a sentence of ours that has the words
asked for; each tenth answer is the sentence that showed the style. So this measures the client and
the checks, not a model.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "helpers"))

from scripted_llm import MODEL, ScriptedLLM, Turn  # noqa: E402

from evenflow.schemas.config import load  # noqa: E402
from evenflow.transforms.lab.generation import writing  # noqa: E402

THINGS = [
    "lamp",
    "river",
    "stone",
    "bread",
    "ladder",
    "window",
    "garden",
    "market",
    "engine",
    "letter",
    "basket",
    "candle",
]
RECORDS = 500


def main(seconds: float) -> None:
    """Print what was written, and how fast."""
    drawn, turns = random.Random(1), count()

    def script(request: dict[str, Any]) -> Turn:
        slots = json.loads(request["messages"][-1]["content"])
        at = [drawn.choice(THINGS) for _ in range(6)]
        text = (
            f"The {at[0]} and the {at[1]} near the {at[2]} belonged to the"
            f" {' and the '.join(slots['words'])} from the {at[3]} of {at[4]}, {at[5]} and all."
        )
        copied = next(turns) % 10 == 9
        given = {"relation": None, "text": slots["sentence"] if copied else text}
        return Turn(content=json.dumps(given), delay=seconds)

    with ScriptedLLM(script) as server, tempfile.TemporaryDirectory() as folder:
        settings = {"llm.url": server.url, "llm.model": MODEL, "llm.cache": f"{folder}/cache"}
        begin = time.perf_counter()
        session = writing.Session(
            [str(ROOT / "data" / "speeches.jsonl.gz")],
            load(None, settings),
            ["gender", "age", "source"],
            None,
        )
        read = time.perf_counter() - begin
        target = {"gender": "female", "age": "old", "source": "inaugural"}
        addition = {"kind": "synthetic", "records": RECORDS, "target": target, "source": None}
        begin = time.perf_counter()
        told = writing.told(session.write({"additions": [addition], "words": [""]}))
        wrote = time.perf_counter() - begin
    print(
        f"corpus read in {read:.1f} s; {told['written']:,} of {told['wanted']:,} records from"
        f" {told['asked']:,} candidates in {wrote:.1f} s ({told['asked'] / wrote:,.0f} a second);"
        f" rejected: {told['rejected']}"
    )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.3)
