"""Where the CPU of `evenflow run` goes, beside datatrove's read and write of the same file:
python tests/benchmarks/where.py [INPUT.jsonl] [--mb 100] [--runs 3] [--peers PYTHON]

Every row is CPU milliseconds a MB of JSON lines beyond the start-up: the medians of the runs on a
file of --mb less those on one of a fifth of it, in turn, each run in a process of its own. A part
does not contain the parts that it calls; what no part covers is «the rest». Without INPUT, the text
is that of tests/data/speeches.jsonl.gz, in documents of some paragraphs each. The last line is the
speed of `run` by that of datatrove, with the least and the greatest of the runs.
"""

from __future__ import annotations

import argparse
import importlib
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from speed import HERE, SHARE, corpus, timed

REST, TROVE = "the rest", "datatrove read and write"
# Part: the callables whose CPU it is, as module (below evenflow), name
PARTS: dict[str, list[tuple[str, str]]] = {
    "find records": [("pipelines.engine.files.cutting", "scan")],
    "read": [("transforms.io.blocks", "FileReader.segment")],
    "digest of the input": [("transforms.io.record_digest", "RecordDigest.add")],
    "parse": [("transforms.annotation.annotate", "validate")],
    "labels": [("transforms.labels.finder", "LabelFinder.find_together")],
    "sentences": [("transforms.annotation.mentions", "sentence_starts")],
    "count": [("transforms.annotation.mentions", "MentionCounter.count")],
    "table": [("transforms.annotation.annotate", "Annotator._table")],
    "staging": [("pipelines.engine.files.making", "stage")],
    "duplicates": [("pipelines.engine.files.making", "mend_pane")],
    "Parquet": [("pipelines.engine.panes.closing", "write_shards")],
    "fields outside of the columns": [("pipelines.engine.panes.closing", "outside")],
    "digest of the shards": [("transforms.staging.shards", "seal")],
    "checks": [("gates.expectations.checks", "PaneChecks.check")],
    "ledger": [("pipelines.engine.panes.commit", "Committer.commit")],
}


class Clock:
    """CPU seconds of this process by part; a part that is entered stops the one around it."""

    def __init__(self) -> None:
        self.seconds = defaultdict[str, float](float)
        self._stack = [REST]
        self._since = 0.0

    def switch(self, part: str | None) -> None:
        """Enter a part, or leave the present one (None)."""
        now = time.process_time()
        self.seconds[self._stack[-1]] += now - self._since
        self._since = now
        if part is None:
            self._stack.pop()
        else:
            self._stack.append(part)

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function whose CPU is a part's, of a generator that of its steps."""

        @wraps(function)
        def call(*values: Any, **options: Any) -> Any:
            self.switch(part)
            try:
                result = function(*values, **options)
            finally:
                self.switch(None)
            return self._steps(part, result) if isinstance(result, Iterator) else result

        return call

    def _steps(self, part: str, steps: Iterator[Any]) -> Iterator[Any]:
        end = object()
        while True:
            self.switch(part)
            try:
                step = next(steps, end)
            finally:
                self.switch(None)
            if step is end:
                return
            yield step


def one(source: str, output: str) -> None:
    """A run in this process; prints the seconds of the parts."""
    from evenflow.pipelines.engine.files.driver import Run
    from evenflow.schemas.config import load
    from evenflow.transforms.storage.storage import at

    clock = Clock()
    for part, places in PARTS.items():
        for module, name in places:
            owner: Any = importlib.import_module(f"evenflow.{module}")
            *outer, name = name.split(".")
            for each in outer:
                owner = getattr(owner, each)
            setattr(owner, name, clock.timed(part, getattr(owner, name)))
    Run([source], at(output), load(None), 1, ()).go()
    clock.switch(None)
    print(json.dumps(clock.seconds))


def parts_of(source: Path, work: Path, peers: str) -> dict[str, float]:
    """CPU seconds of a run by part, and those of datatrove."""
    shutil.rmtree(work / "out", ignore_errors=True)
    command = [sys.executable, __file__, "--one", str(source), str(work / "out")]
    run = subprocess.run(command, capture_output=True, check=True, text=True)
    shutil.rmtree(work / "out")
    peer = [peers, str(HERE / "peers.py"), "copy", str(source), str(work / "out")]
    return {**json.loads(run.stdout.splitlines()[-1]), TROVE: timed(peer).cpu}


def main() -> None:
    """Command line."""
    if sys.argv[1:2] == ["--one"]:
        one(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("input", type=Path, nargs="?", help="JSONL with a field text")
    parser.add_argument("--mb", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--peers", default=sys.executable, help="the Python that has datatrove")
    given = parser.parse_args()
    sizes = (given.mb // SHARE, given.mb)
    rows: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        sources = [work / f"{size}.jsonl" for size in sizes]
        for size, source in zip(sizes, sources, strict=True):
            corpus(given.input, size * 1_000_000, source)
        for _ in range(given.runs):
            small, large = (parts_of(source, work, given.peers) for source in sources)
            for part in (*PARTS, REST, TROVE):
                more = large.get(part, 0) - small.get(part, 0)
                rows.setdefault(part, []).append(1000 * more / (sizes[1] - sizes[0]))
    show(rows)


def show(rows: dict[str, list[float]]) -> None:
    """Print the table and the ratio."""
    trove = rows.pop(TROVE)
    runs = [sum(each) for each in zip(*rows.values(), strict=True)]
    shown = Table("part", "CPU ms a MB", "share")
    for part, taken in rows.items():
        middle = statistics.median(taken)
        shown.add_row(part, f"{middle:.2f}", f"{middle / statistics.median(runs):.0%}")
    shown.add_row("evenflow run", f"{statistics.median(runs):.2f}", "")
    shown.add_row(TROVE, f"{statistics.median(trove):.2f}", "")
    Console(width=80).print(shown)
    ratios = sorted(peer / own for peer, own in zip(trove, runs, strict=True))
    print(
        f"speed of run by datatrove's: {statistics.median(ratios):.2f}"
        f" [{ratios[0]:.2f}, {ratios[-1]:.2f}], n {len(ratios)}"
    )


if __name__ == "__main__":
    main()
