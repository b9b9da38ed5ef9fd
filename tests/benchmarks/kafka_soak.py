"""A steady stream through the gate on Prism for a long time: python tests/benchmarks/kafka_soak.py
--minutes 30 --output DIR

Starts a broker of its own (`make kafka prism` first), writes documents at a steady rate, and
samples the memory of the driver (which holds the workers), of Prism and of other processes below
the driver, how far the ledger is behind the topic, and the panes' latency. DIR gets samples.jsonl
(a sample every few seconds), panes.jsonl (a line a pane), summary.json and soak.svg. The summary
has medians, and the slope of the memory by least squares over the second half, by the hour and by
1,000 panes: what is flat stays near 0. Growth by pane shows soonest with short panes and little
data:

    python tests/benchmarks/kafka_soak.py --minutes 5 --pane-seconds 1 --mb-per-second 0.05 --output
    DIR
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from kafka_documents import PARTITIONS, values
from kafka_plot import Panel, svg
from services.kafka_broker import Broker

HERE = Path(__file__).parent
EVENFLOW = str(Path(sys.executable).with_name("evenflow"))
PRISM = HERE.parents[1] / "build" / "services" / "prism" / "prism"
TICK_SECONDS = 0.1  # documents are written in portions of as long
SAMPLE_SECONDS = 5.0
START_SECONDS = 120.0  # for the first pane on a busy machine
STOP_SECONDS = 60.0
MIB = 1 << 20
KEPT_HOURS = 1  # the topic's retention, so that a long run does not fill the disk


class Writer(threading.Thread):
    """Writes documents at a steady rate until it is stopped. late: seconds behind its plan."""

    def __init__(self, broker: Broker, topic: str, rate: float):
        super().__init__(daemon=True)
        self._broker, self._topic, self._rate = broker, topic, rate
        self.documents = self.bytes = 0
        self.late = 0.0
        self.stopping = threading.Event()

    def run(self) -> None:
        producer = self._broker.producer(linger_ms=20, batch_size=256 << 10)
        found, began = values(), time.monotonic()
        while not self.stopping.is_set():
            due = (time.monotonic() - began) * self._rate
            self.late = (due - self.bytes) / self._rate
            while self.bytes < due:
                value = next(found)
                producer.send(self._topic, value=value, partition=self.documents % PARTITIONS)
                self.documents += 1
                self.bytes += len(value)
            producer.flush()
            self.stopping.wait(TICK_SECONDS)
        producer.close()


class Ledger:
    """What the ledger of an output directory holds, read on as it grows. Times in seconds since
    1970.
    """

    def __init__(self, output: Path):
        self._folder = output / "ledger"
        self.documents = self.dead = 0
        self.panes: list[dict[str, float]] = []

    def read(self, span: float) -> None:
        """Take in the new entries. span: of a pane, in seconds."""
        while (path := self._folder / f"{len(self.panes):08d}.json").exists():
            entry, written = json.loads(path.read_bytes()), path.stat().st_mtime
            self.documents += entry["documents"]
            self.dead += entry["dead"]
            close = entry["stream"]["span"] / 1000 + span
            self.panes.append(
                {
                    "pane": entry["pane"],
                    "documents": entry["documents"],
                    "close_to_ledger": written - close,
                }
            )


def memory(process: psutil.Process) -> float:
    """Resident MiB; NaN if it has gone."""
    try:
        return process.memory_info().rss / MIB
    except psutil.NoSuchProcess:
        return float("nan")


def others(gate: psutil.Process, prism: psutil.Process) -> float:
    """Resident MiB of the processes below the gate but Prism."""
    with suppress(psutil.NoSuchProcess):
        found = [memory(each) for each in gate.children(recursive=True) if each.pid != prism.pid]
        return sum(each for each in found if not math.isnan(each))
    return float("nan")


def slope(at: Sequence[float], amounts: Sequence[float]) -> float:
    """Change of amounts for each 1 of `at`, by least squares over the second half of the samples;
    NaN where `at` stands still.
    """
    half = len(at) // 2
    if len(set(at[half:])) < 2:
        return float("nan")
    return float(np.polyfit(np.asarray(at[half:]), np.asarray(amounts[half:]), 1)[0])


def prism_of(gate: psutil.Process) -> psutil.Process:
    """The runner below the gate's process. Raises SystemExit."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and gate.is_running():
        for child in gate.children():
            with suppress(psutil.NoSuchProcess):
                if child.name().startswith("prism"):
                    return child
        time.sleep(0.5)
    raise SystemExit("the gate did not start a runner")


@dataclass(frozen=True)
class Steady:
    """A steady stream: its length and rate, the panes' span, and where samples, panes and the
    gate's messages go.
    """

    minutes: float
    mb_per_second: float
    pane_seconds: float
    output: Path


def soak(broker: Broker, folder: Path, options: Steady) -> dict[str, Any]:
    """Run for the time given; the summary. folder: for the gate's output. Raises SystemExit if the
    gate ends.
    """
    topic = broker.create_topic(
        f"steady-{time.time_ns()}",
        PARTITIONS,
        retention_ms=KEPT_HOURS * 3_600_000,
        segment_bytes=64 << 20,
    )
    out, log = folder / "out", options.output / "gate.log"
    runner = [
        "--runner=--runner=PrismRunner",
        f"--runner=--prism_location={PRISM}",
        "--runner=--prism_log_level=warn",
    ]
    command = [
        EVENFLOW,
        "stream",
        "--kafka",
        broker.address,
        "--topic",
        topic,
        "--output",
        str(out),
        *runner,
    ]
    command += ["--pane-seconds", str(options.pane_seconds)]
    with log.open("wb") as file:
        gate = subprocess.Popen(command, stdout=file, stderr=file)
    process = psutil.Process(gate.pid)
    writer, ledger = Writer(broker, topic, options.mb_per_second * 1e6), Ledger(out)
    samples: list[dict[str, float]] = []
    try:
        prism = prism_of(process)
        writer.start()
        began = time.monotonic()
        with (options.output / "samples.jsonl").open("w") as lines:
            while time.monotonic() - began < options.minutes * 60 and gate.poll() is None:
                time.sleep(SAMPLE_SECONDS)
                ledger.read(options.pane_seconds)
                sample = {
                    "seconds": time.monotonic() - began,
                    "driver_mib": memory(process),
                    "prism_mib": memory(prism),
                    "others_mib": others(process, prism),
                    "panes": len(ledger.panes),
                    "behind_documents": writer.documents - ledger.documents - ledger.dead,
                    "written_bytes": writer.bytes,
                    "writer_late_seconds": writer.late,
                    "load": os.getloadavg()[0],
                }
                samples.append(sample)
                print(
                    json.dumps({name: round(value, 2) for name, value in sample.items()}),
                    file=lines,
                    flush=True,
                )
    finally:
        writer.stopping.set()
        writer.join(STOP_SECONDS)
        deadline = time.monotonic() + STOP_SECONDS
        while (
            ledger.documents + ledger.dead < writer.documents
            and time.monotonic() < deadline
            and gate.poll() is None
        ):
            time.sleep(0.5)
            ledger.read(options.pane_seconds)
        failed = gate.poll()
        gate.terminate()
        gate.wait(STOP_SECONDS)
    if failed is not None:
        raise SystemExit(f"the gate ended with status {failed}: see {log}")
    (options.output / "panes.jsonl").write_text(
        "".join(json.dumps(each) + "\n" for each in ledger.panes)
    )
    return summary(samples, ledger, writer, options.pane_seconds)


def summary(
    samples: list[dict[str, float]], ledger: Ledger, writer: Writer, span: float
) -> dict[str, Any]:
    """What is reported of a run."""
    columns = {name: [each[name] for each in samples] for name in samples[0]}
    # The first waits for the start
    latency = sorted(each["close_to_ledger"] for each in ledger.panes[1:])
    rate = writer.documents / columns["seconds"][-1]
    behind = [each / rate for each in columns["behind_documents"]]
    return {
        "minutes": round(columns["seconds"][-1] / 60, 2),
        "megabytes": round(writer.bytes / 1e6, 1),
        "documents_written": writer.documents,
        "documents_in_ledger": ledger.documents,
        "dead_letters": ledger.dead,
        "panes": len(ledger.panes),
        "pane_seconds": span,
        "close_to_ledger_seconds": {
            "median": round(statistics.median(latency), 2),
            "p95": round(latency[int(0.95 * (len(latency) - 1))], 2),
            "most": round(latency[-1], 2),
        },
        "behind_seconds": {
            "median": round(statistics.median(behind), 2),
            "most": round(max(behind), 2),
        },
        "driver_mib": _memory(columns, "driver_mib"),
        "prism_mib": _memory(columns, "prism_mib"),
        "others_mib": _memory(columns, "others_mib"),
        "load_median": round(statistics.median(columns["load"]), 2),
        "writer_late_seconds_most": round(max(columns["writer_late_seconds"]), 2),
    }


def _memory(columns: dict[str, list[float]], name: str) -> dict[str, float]:
    held = columns[name]
    return {
        "median": round(statistics.median(held), 1),
        "most": round(max(held), 1),
        "mib_per_hour": round(slope(columns["seconds"], held) * 3600, 1),
        "mib_per_1000_panes": round(slope(columns["panes"], held) * 1000, 1),
    }


def plot(output: Path) -> None:
    """soak.svg from samples.jsonl and panes.jsonl."""
    samples = [json.loads(line) for line in (output / "samples.jsonl").read_text().splitlines()]
    panes = [json.loads(line) for line in (output / "panes.jsonl").read_text().splitlines()]
    minutes = [each["seconds"] / 60 for each in samples]
    spread = [minutes[-1] * i / max(len(panes) - 1, 1) for i in range(len(panes))]
    panels = [
        Panel(
            "memory, MiB",
            {
                name: (minutes, [each[f"{name}_mib"] for each in samples])
                for name in ("driver", "prism")
            },
        ),
        Panel(
            "documents not in the ledger yet",
            {"behind": (minutes, [each["behind_documents"] for each in samples])},
        ),
        Panel(
            "seconds from a pane's close to its entry",
            {"pane": (spread[1:], [each["close_to_ledger"] for each in panes[1:]])},
        ),
    ]
    (output / "soak.svg").write_text(svg("minutes", panels), encoding="utf-8")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--mb-per-second", type=float, default=5.0)
    parser.add_argument("--pane-seconds", type=float, default=10.0)
    parser.add_argument("--output", type=Path, required=True)
    options = Steady(**vars(parser.parse_args()))
    shutil.rmtree(options.output, ignore_errors=True)
    options.output.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        broker = Broker(Path(folder) / "kafka")
        broker.start()
        try:
            found = soak(broker, Path(folder), options)
            (options.output / "summary.json").write_text(json.dumps(found, indent=2) + "\n")
        finally:
            broker.stop()
    plot(options.output)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
