"""What the gate costs by mode: python tests/benchmarks/cost.py [INPUT.jsonl] [--mb 4] [--runs 5]

Of each mode: MB of JSON lines a second of one core, memory, bytes written and kept per byte of
input, requests to an object store a pane, and what 1 TB a day needs. CPU is that of a run on --mb
(in fast modes on many times as much) less that of a run on a quarter of it, so that the start-up
does not count; the table has the mean of the runs, with its interval of 95 % (Student's t).
Without INPUT, the text is that of
tests/data/speeches.jsonl.gz, in documents of some paragraphs each. One worker; 1 MB is 10^6 bytes.
CPU seconds of a busy machine are above those of an idle one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from scipy import stats
from speed import HERE, corpus
from store_requests import counted

from evenflow.pipelines.engine.files.driver import Run
from evenflow.schemas.config import load
from evenflow.transforms.storage.storage import at

MB = 1_000_000
DAY_SECONDS = 86_400
BLOCK = 512  # bytes that the kernel counts at a time
PANE_DOCS = 500
STORE_DOCS = 25  # in the store: many panes, so that the requests of a start hardly count
MODES: dict[str, tuple[str, ...]] = {
    "measure": (),
    "substitute": ("--mode", "substitute"),
    "weight": ("--mode", "weight"),
    "substitute, weight": ("--mode", "substitute,weight"),
    "stereotypes flagged": ("--stereotypes", "flag"),
}

FAST = {"measure": 32, "weight": 8}  # times --mb, so that there are seconds to measure

COLUMNS = (
    "MB/s a core",
    "start, s",
    "memory, MiB",
    "written",
    "kept",
    "requests a pane",
    "cores for 1 TB a day",
)


class Cost(NamedTuple):
    """What one run took: seconds of CPU, the most bytes of memory, bytes written and kept."""

    cpu: float
    memory: int
    written: int
    kept: int


def run(source: Path, options: tuple[str, ...], work: Path) -> Cost:
    """Run the gate once, in a process of its own."""
    output = work / "out"
    shutil.rmtree(output, ignore_errors=True)
    words = ["--input", str(source), "--output", str(output), "--pane-docs", str(PANE_DOCS)]
    command = [str(Path(sys.executable).with_name("evenflow")), "run", *words, *options, "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, used = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 3):  # 3: a pane was blocked
        assert process.stderr is not None
        raise RuntimeError(f"{' '.join(command)}: {code}\n{process.stderr.read().decode()}")
    kept = sum(path.stat().st_size for path in output.rglob("*") if path.is_file())
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss << 10, used.ru_oublock * BLOCK, kept)


def requests(source: Path, options: tuple[str, ...]) -> float:
    """Requests to a store a pane, of a run into one in memory; in a process of its own.

    A process that starts another hands on its own peak of memory, so that of the table stays small.
    """
    made = counted()
    keys = {"--mode": "repair.mode", "--stereotypes": "stereotypes.policy"}
    pairs = zip(options[::2], options[1::2], strict=True)
    settings = {keys[name]: value for name, value in pairs}
    config = load(None, {"pane.docs": STORE_DOCS, **settings})
    done = Run([str(source)], at("memory://cost/" + "-".join(options or ("measure",))), config).go()
    return sum(each.total() for each in made.values()) / done.new


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("input", nargs="?", type=Path)
    parser.add_argument("--mb", type=float, default=4.0)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="*", metavar="MODE", choices=list(MODES))
    given = parser.parse_args()
    table = Table(title=f"{given.mb:g} MB, panes of {PANE_DOCS} documents, {given.runs} runs")
    table.add_column("mode")
    for name in COLUMNS:
        table.add_column(name, justify="right")
    with (
        tempfile.TemporaryDirectory(dir=HERE.parents[1] / "build") as folder,
        ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool,
    ):
        work = Path(folder)
        small, large, few = (work / f"{name}.jsonl" for name in ("small", "large", "few"))
        corpus(given.input, int(given.mb * MB / 4), few)
        for mode, options in MODES.items():
            if given.only and mode not in given.only:
                continue
            most = given.mb * MB * FAST.get(mode, 1)
            corpus(given.input, int(most), large)
            corpus(given.input, int(most / 4), small)
            beyond = (large.stat().st_size - small.stat().st_size) / MB
            pairs = [
                (run(small, options, work), run(large, options, work)) for _ in range(given.runs)
            ]
            speeds = [beyond / (more.cpu - less.cpu) for less, more in pairs]
            last, size = pairs[-1][1], large.stat().st_size
            speed = statistics.mean(speeds)
            low, high = stats.t.interval(0.95, len(speeds) - 1, speed, stats.sem(speeds))
            start = statistics.mean(
                less.cpu - small.stat().st_size / MB / speed for less, _ in pairs
            )
            table.add_row(
                mode,
                f"{speed:.3f} [{low:.3f}, {high:.3f}]",
                f"{start:.1f}",
                f"{max(more.memory for _, more in pairs) / (1 << 20):.0f}",
                f"{last.written / size:.2f}",
                f"{last.kept / size:.2f}",
                f"{pool.submit(requests, few, options).result():.1f}",
                f"{1e12 / DAY_SECONDS / MB / speed:.1f}",
            )
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
