"""Speed and memory of `measure` and `run` beside peers: python tests/benchmarks/speed.py
[INPUT.jsonl] [--mb 100] [--runs 3]

Prints medians of whole processes: wall and CPU seconds, MB of text a second of wall and of CPU
time, and peak memory of all of a command's processes together. Without INPUT, the text is that of
tests/data/speeches.jsonl.gz, in documents of some paragraphs each. Peers: datatrove (read and
write; C4QualityFilter), spaCy's sentencizer with its matcher. What a slow peer cannot do in a
minute it does on the first lines alone; its MB/s are of those. `where.py` says where the time goes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

HERE = Path(__file__).parent
EVENFLOW = str(Path(sys.executable).with_name("evenflow"))
PARAGRAPHS = 8  # a document of the made corpus
# A corpus by the size of the smaller one whose time stands for the start-up. A tiny one would not
# do: a table that is made for the first character outside of ASCII, and memory that is taken for
# the first time, would count as time that grows with the input
SHARE = 5
# Of input that slow peers are given
SLOW_MB = {"datatrove C4QualityFilter": 8, "spaCy sentencizer + matcher": 4}


@dataclass
class Timing:
    """One run of a command: seconds of wall clock and CPU, peak MiB of its processes together."""

    wall: float
    cpu: float
    peak: float


def corpus(source: Path | None, size: int, path: Path) -> None:
    """A JSONL file of about `size` bytes with ids that differ."""
    texts: list[str]
    if source is None:
        raw = gzip.decompress((HERE.parent / "data" / "speeches.jsonl.gz").read_bytes())
        whole = [json.loads(line)["text"].split("\n") for line in raw.splitlines()]
        texts = [
            "\n".join(parts[i : i + PARAGRAPHS])
            for parts in whole
            for i in range(0, len(parts), PARAGRAPHS)
        ]
        texts = [text for text in texts if text.strip()]
    else:
        with source.open(encoding="utf-8") as lines:
            texts = [json.loads(line)["text"] for line in lines]
    written = number = 0
    with path.open("w", encoding="utf-8") as out:
        while written < size:
            line = (
                json.dumps(
                    {"id": f"d{number}", "text": texts[number % len(texts)]}, ensure_ascii=False
                )
                + "\n"
            )
            written += len(line.encode())
            number += 1
            out.write(line)


def head(path: Path, size: int, into: Path) -> Path:
    """The first lines of a file, of `size` bytes together."""
    with path.open("rb") as lines, into.open("wb") as out:
        for line in lines:
            if out.tell() + len(line) > size:
                break
            out.write(line)
    return into


def timed(command: list[str]) -> Timing:
    """Run a command to its end; raises if it fails."""
    peak = 0
    done = threading.Event()
    process = psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def sample() -> None:
        nonlocal peak
        while not done.wait(0.02):
            try:
                tree = [process, *process.children(recursive=True)]
                peak = max(peak, sum(each.memory_info().rss for each in tree))
            except psutil.Error:
                continue

    watcher = threading.Thread(target=sample)
    before, began = os.times(), time.perf_counter()
    watcher.start()
    _, errors = process.communicate()
    wall = time.perf_counter() - began
    done.set()
    watcher.join()
    after = os.times()
    if process.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)}: status {process.returncode}\n{errors.decode()}")
    cpu = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return Timing(wall, cpu, peak / 2**20)


def commands(path: Path, work: Path, workers: list[int]) -> dict[str, tuple[list[str], Path]]:
    """Each command and the file that it reads."""
    run = [EVENFLOW, "run", "--input", str(path), "--output", str(work / "out")]
    peer = [sys.executable, str(HERE / "peers.py")]
    out = {"evenflow measure": ([EVENFLOW, "measure", str(path)], path)}
    for count in workers:
        out[f"evenflow run, {count} worker{'s' * (count > 1)}"] = (
            [*run, "--workers", str(count)],
            path,
        )
    out["datatrove read and write"] = ([*peer, "copy", str(path), str(work / "out")], path)
    for name, size in SLOW_MB.items():
        few = head(path, size * 1_000_000, work / f"{size}.jsonl")
        out[name] = ([*peer, "c4" if "C4" in name else "spacy", str(few), str(work / "out")], few)
    return out


def table(path: Path, work: Path, runs: int, workers: list[int], only: str) -> None:
    """Run everything and print the medians, one line a command."""
    print(
        f"{'command':32} {'MB':>6} {'wall s':>7} {'CPU s':>7} {'MB/s':>7} {'MB/s core':>9}"
        f" {'peak MiB':>8}"
    )
    for name, (command, read) in commands(path, work, workers).items():
        if only not in name:
            continue
        size = read.stat().st_size / 1e6
        taken: list[Timing] = []
        for _ in range(runs):
            shutil.rmtree(work / "out", ignore_errors=True)
            taken.append(timed(command))
        wall, cpu = (
            statistics.median(each.wall for each in taken),
            statistics.median(each.cpu for each in taken),
        )
        peak = statistics.median(each.peak for each in taken)
        # Worker processes are children of a fork server, whose time the system does not add to
        # ours.
        core = (
            f"{cpu:7.2f} {size / wall:7.1f} {size / cpu:9.1f}"
            if "workers" not in name
            else f"{'':7} {size / wall:7.1f} {'':9}"
        )
        print(f"{name:32} {size:6.0f} {wall:7.2f} {core} {peak:8.0f}", flush=True)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "input", type=Path, nargs="?", help="JSONL with a field text; repeated up to the size"
    )
    parser.add_argument("--mb", type=int, default=100, help="size of the input")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--only", default="", help="commands whose name holds this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        path = work / "corpus.jsonl"
        corpus(options.input, options.mb * 1_000_000, path)
        table(path, work, options.runs, options.workers, options.only)


if __name__ == "__main__":
    main()
