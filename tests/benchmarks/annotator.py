"""The annotator beside `measure`: python tests/benchmarks/annotator.py [CORPUS] [CHARACTERS].

Prints CPU seconds of the start, and MB/s of CPU: `evenflow.measure` of texts in memory, the
annotator one by one, and some together. CORPUS is JSON lines, compressed by gzip; by default
tests/data/speeches.jsonl.gz, ten times over. CHARACTERS cuts each text.
"""

from __future__ import annotations

import gzip
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import evenflow

SPEECHES = Path(__file__).parents[1] / "data" / "speeches.jsonl.gz"
RUNS, TIMES = 9, 10
START = """
import time, numpy
began = time.process_time()
import evenflow
evenflow.Annotator().annotate("She paid.")
print(time.process_time() - began)
"""


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of a run."""
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    """Print the table."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else SPEECHES
    cut = int(sys.argv[2]) if len(sys.argv) > 2 else None
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        texts = TIMES * [json.loads(line)["text"][:cut] for line in lines]
    size = sum(len(text.encode()) for text in texts)
    starts = [
        float(subprocess.run([sys.executable, "-c", START], capture_output=True, check=True).stdout)
        for _ in range(RUNS)
    ]
    print(f"start, numpy imported  {statistics.median(starts):6.2f} s of CPU")
    annotator = evenflow.Annotator()
    print(f"{len(texts):,} texts of {size / len(texts):,.0f} bytes")
    works = {
        "measure": lambda: evenflow.measure(texts),
        "one by one": lambda: [annotator.annotate(text).counts for text in texts],
        "some together": lambda: [each.counts for each in annotator.annotate_many(texts)],
    }
    works["measure"]()  # imports
    # In turn, so that a loaded machine slows all of them alike
    taken = [{name: seconds(work) for name, work in works.items()} for _ in range(RUNS)]
    for name in works:
        spent = statistics.median(each[name] for each in taken)
        share = statistics.median(each["measure"] / each[name] for each in taken)
        print(f"{name:22} {size / spent / 1e6:6.1f} MB/s of CPU, {share:.2f} of measure")


if __name__ == "__main__":
    main()
