"""The gate's speed with metrics and without: python metrics_load.py [PAIRS] [--beside COMMAND].

Runs of the same corpus alternate: without a port, and with one that is scraped every second.
COMMAND runs beside the gate in the second kind, with the output for {output}, such as a board.
Prints seconds of the wall clock and of the gate's CPU, and the ratios of the medians.
"""

from __future__ import annotations

import gzip
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
EVENFLOW = Path(sys.executable).with_name("evenflow")
SCRAPE_SECONDS = 1.0  # fifteen times as often as in deploy/prometheus/prometheus.yaml
COPIES = 2  # of the speeches


def scrape(process: subprocess.Popen[str], counts: list[int]) -> None:
    """Scrape a gate until it ends."""
    assert process.stderr is not None
    address = ""
    for line in process.stderr:
        if "metrics at " in line:
            address = line.rsplit(" ", 1)[1].strip()
            break
    threading.Thread(target=process.stderr.read, daemon=True).start()
    while address and process.poll() is None:
        with suppress(OSError):
            urllib.request.urlopen(address, timeout=5).read()
            counts.append(1)
        time.sleep(SCRAPE_SECONDS)


def timed(corpus: Path, output: Path, beside: str | None, on: bool) -> tuple[float, float, int]:
    """Seconds by the wall clock, seconds of CPU, and number of scrapes of a run."""
    words = [EVENFLOW, "run", "-i", corpus, "-o", output, "--pane-docs", "5"]
    scrapes: list[int] = []
    began = time.perf_counter()
    process = subprocess.Popen(
        [*map(str, words), *(["--metrics-port", "0"] if on else [])],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE if on else subprocess.DEVNULL,
        text=True,
    )
    other = None
    if on:
        if beside:
            while not (output / "ledger" / "meta.json").exists():
                time.sleep(0.05)
            command = shlex.split(beside.replace("{output}", str(output)))
            other = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        threading.Thread(target=scrape, args=(process, scrapes), daemon=True).start()
    _, _, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    if other is not None:
        other.terminate()
        other.wait()
    return seconds, usage.ru_utime + usage.ru_stime, len(scrapes)


def main() -> None:
    """Print the table."""
    words = sys.argv[1:]
    beside = words.pop(words.index("--beside") + 1) if "--beside" in words else None
    pairs = int(next((word for word in words if word.isdigit()), "5"))
    found: dict[bool, list[tuple[float, float, int]]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "speeches.jsonl"
        speeches = gzip.decompress((ROOT / "tests/data/speeches.jsonl.gz").read_bytes())
        corpus.write_bytes(b"".join(speeches for _ in range(COPIES)))
        for number in range(pairs):
            for on in (number % 2 == 0, number % 2 == 1):
                found[on].append(timed(corpus, Path(folder) / f"{number}-{on}", beside, on))
    for on, runs in found.items():
        wall, cpu, scrapes = (statistics.median(column) for column in zip(*runs, strict=True))
        name = "with metrics" if on else "without"
        print(f"{name:13} {wall:7.2f} s {cpu:7.2f} s of CPU, {scrapes:.0f} scrapes, n = {pairs}")
    for column, name in enumerate(("wall clock", "CPU")):
        off, on = (statistics.median(run[column] for run in found[kind]) for kind in (False, True))
        print(f"speed with metrics, by {name}: {off / on:.3f} of that without")


if __name__ == "__main__":
    main()
