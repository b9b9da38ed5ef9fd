"""Speed of `run` by 1 and 2 workers, on Flink and in a store: python tests/benchmarks/workers.py
[INPUT.jsonl] [--mb 150] [--runs 3] [--only NAME]

Each way reads a small corpus and one that is larger by --mb, in turn. The speed beyond start-up is
--mb by the difference of the medians; CPU seconds are of all processes, servers and Flink's too, by
the same difference. All ways are timed in one run of this command, since a machine's speed varies.
Flink has two TaskManagers with one process of Python each, and the store is an S3 server on this
machine; both must be installed (`make services`).
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table
from speed import corpus

from evenflow.pipelines.engine.files.driver import Run
from evenflow.schemas.config import load
from evenflow.transforms.storage.storage import at

sys.path.insert(0, str(Path(__file__).parents[1]))
from services.flink_cluster import FlinkCluster
from services.s3_server import S3Server

SMALL_MB = 16  # of the corpus whose time stands for the start-up
PANE_MIB = 8  # so that two workers have something to share
SAMPLE_SECONDS = 0.1


class CpuSeconds:
    """CPU seconds of processes and of all that they start, while it is sampled."""

    def __init__(self, roots: list[psutil.Process]):
        self._roots, self._seen = roots, dict[tuple[int, float], tuple[float, float]]()
        self._done = threading.Event()
        self._sampler = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> CpuSeconds:
        self._sample()
        self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._sampler.join()
        self._sample()

    @property
    def total(self) -> float:
        """The seconds between the first and the last look at each process."""
        return sum(last - first for first, last in self._seen.values())

    def _run(self) -> None:
        while not self._done.wait(SAMPLE_SECONDS):
            self._sample()

    def _sample(self) -> None:
        new = bool(self._seen)
        for root in self._roots:
            try:
                tree = [root, *root.children(recursive=True)]
            except psutil.Error:
                continue
            for each in tree:
                try:
                    times, key = each.cpu_times(), (each.pid, each.create_time())
                except psutil.Error:
                    continue
                now = times.user + times.system
                # One that is new has started with nothing
                first, _ = self._seen.get(key, (0.0 if new else now, now))
                self._seen[key] = (first, now)


def run_once(source: str, output: str, workers: str, *options: str) -> None:
    """A run to its end, in a process of its own."""
    config = load(None, {"pane.mib": PANE_MIB})
    Run([source], at(output), config, int(workers), options).go()


def timed(words: list[str], roots: list[psutil.Process]) -> tuple[float, float]:
    """Wall and CPU seconds of run_once(*words)."""
    began = time.perf_counter()
    process = psutil.Popen([sys.executable, __file__, "--one", *words])
    with CpuSeconds([process, *roots]) as cpu:
        status = process.wait()
    if status:
        raise SystemExit("a run failed")
    return time.perf_counter() - began, cpu.total


def main() -> None:
    """Command line."""
    if sys.argv[1:2] == ["--one"]:
        run_once(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("input", type=Path, nargs="?", help="JSONL with a field text")
    parser.add_argument("--mb", type=int, default=150)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="ways whose name holds this")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table(Path(folder), given)


def table(work: Path, given: argparse.Namespace) -> None:
    """Run all ways in turn, and print the medians."""
    sources = {}
    for name, size in (("small", SMALL_MB), ("large", SMALL_MB + given.mb)):
        sources[name] = work / f"{name}.jsonl"
        corpus(given.input, size * 1_000_000, sources[name])
    # Way: workers, options of the runner, whether to a store
    ways: dict[str, tuple[int, list[str], bool]] = {
        "1 worker": (1, [], False),
        "2 workers": (2, [], False),
        "1 worker, S3": (1, [], True),
        "2 workers, S3": (2, [], True),
    }
    s3 = S3Server(work / "s3")
    s3.start()
    os.environ.update(s3.environment())
    bucket = s3.bucket("bench")
    cluster = FlinkCluster(work / "cluster", slots=1)
    cluster.environment.update(s3.environment())
    try:
        if given.only in "Flink, 2 TaskManagers, S3":
            cluster.start()
            options = cluster.options()
            ways["Flink, 2 TaskManagers"] = (1, options, False)
            ways["Flink, 2 TaskManagers, S3"] = (1, options, True)
        ways = {name: way for name, way in ways.items() if given.only in name}
        servers = [psutil.Process(s3.pid), *cluster.processes.values()]
        taken: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for number in range(given.runs):
            for name, (workers, options, in_store) in ways.items():
                for size, source in sources.items():
                    place = f"{number}-{name}-{size}".replace(" ", "")
                    output = at(f"{bucket}/{place}") if in_store else at(work / place)
                    words = [str(source), str(output), str(workers), *options]
                    one = timed(words, servers)
                    taken.setdefault((name, size), []).append(one)
                    output.remove_tree("")
    finally:
        cluster.stop()
        s3.stop()
    shown = Table("way", "start-up s", "MB/s beyond it", "times 1 worker", "CPU s", "MB/s a CPU s")
    first = None
    for name in ways:
        (small, small_cpu), (large, large_cpu) = (
            tuple(statistics.median(each) for each in zip(*taken[name, size], strict=True))
            for size in ("small", "large")
        )
        speed = given.mb / (large - small)
        first = first or speed
        shown.add_row(
            name,
            f"{small - SMALL_MB / speed:.1f}",
            f"{speed:.1f}",
            f"{speed / first:.2f}",
            f"{large_cpu - small_cpu:.1f}",
            f"{given.mb / (large_cpu - small_cpu):.1f}",
        )
    Console(width=100).print(shown)


if __name__ == "__main__":
    main()
