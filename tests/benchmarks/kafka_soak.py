"""A steady stream through the gate for a long time: python tests/benchmarks/kafka_soak.py
--minutes 30 --output DIR [--runner flink]

Starts a broker of its own, and Prism or a Flink cluster of two TaskManagers with a pool of workers
each (`make kafka prism flink` first). It writes documents at a steady rate and samples the memory
of every process, of Java's the heap in use too, how far the ledger is behind the topic, and the
panes' latency. DIR gets samples.jsonl (a sample every few seconds), panes.jsonl (a line a pane),
summary.json and soak.svg. The summary has medians, and the slope of the memory after the first ten
minutes (of a short run: after the first half) by the hour and by 1,000 panes, with an interval of
95 %: what is flat has 0 in it. Growth by pane shows soonest with short panes and little data:

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
import threading
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))
from kafka.errors import KafkaError
from kafka_documents import PARTITIONS, values
from kafka_plot import Panel, svg
from kept_folders import kept_where_it_fails
from scipy import stats
from services.flink_cluster import FlinkCluster
from services.kafka_broker import Broker, Producer

from evenflow.gates.ledger.files import entry_name
from evenflow.gates.ledger.history import History

HERE = Path(__file__).parent
EVENFLOW = str(Path(sys.executable).with_name("evenflow"))
PRISM = HERE.parents[1] / "build" / "services" / "prism" / "prism"
TICK_SECONDS = 0.1  # documents are written in portions of as long
SAMPLE_SECONDS = 5.0
START_SECONDS = 120.0  # for the first pane on a busy machine
STOP_SECONDS = 60.0
MIB = 1 << 20
KEPT_HOURS = 1  # the topic's retention, so that a long run does not fill the disk
HEAP = ("S0U", "S1U", "EU", "OU")  # columns of jstat: what is used of each part of the heap
HEAP_SAMPLES = 6  # of which one looks at the heaps, since jstat takes a third of a second
BLOCKS = 10
WARM_SECONDS = 600.0
# Panels of the plot, and what their lines' names begin with
MEMORY = (
    ("driver and Prism", ("driver", "prism")),
    ("TaskManagers", ("taskmanager",)),
    ("pools with their workers", ("pool",)),
    ("JobManager and job server", ("job",)),
)


class Writer(threading.Thread):
    """Writes documents at a steady rate until it is stopped. late: seconds behind its plan."""

    def __init__(self, broker: Broker, topic: str, rate: float):
        super().__init__(daemon=True)
        self._broker, self._topic, self._rate = broker, topic, rate
        self.documents = self.bytes = 0
        self.late = 0.0
        self.stopping = threading.Event()

    def run(self) -> None:
        """Write; records that the broker may not have are sent again, by another producer."""
        found, began, waiting = values(), time.monotonic(), list[tuple[int, bytes]]()
        while waiting or not self.stopping.is_set():
            with suppress(KafkaError), closing(self._producer()) as producer:
                while waiting or not self.stopping.is_set():
                    due = (time.monotonic() - began) * self._rate
                    self.late = (due - self.bytes) / self._rate
                    while self.bytes < due and not self.stopping.is_set():
                        waiting.append((self.documents % PARTITIONS, next(found)))
                        self.documents += 1
                        self.bytes += len(waiting[-1][1])
                    producer.put(self._topic, waiting)
                    waiting.clear()
                    self.stopping.wait(TICK_SECONDS)

    def _producer(self) -> Producer:
        return self._broker.producer(linger_ms=20, batch_size=256 << 10)


class Ledger:
    """What the ledger of an output directory holds, read on as it grows. Times in seconds since
    1970.
    """

    def __init__(self, output: Path):
        self._output = output
        self.documents = self.dead = 0
        self.panes: list[dict[str, float]] = []

    def read(self, span: float) -> None:
        """Take in the new entries. span: of a pane, in seconds."""
        if not (self._output / "ledger").exists():
            return
        history, now = History(self._output), time.time()
        for entry in history.some(range(len(self.panes), len(history))):
            assert entry.stream is not None
            path = self._output / entry_name(entry.pane)
            # One of a full segment has no file any more; the next look was a few seconds later
            written = path.stat().st_mtime if path.exists() else now
            close = entry.stream.span / 1000 + span
            self.documents += entry.documents
            self.dead += entry.dead
            self.panes.append(
                {
                    "pane": entry.pane,
                    "documents": entry.documents,
                    "close_to_ledger": written - close,
                }
            )


def memory(process: psutil.Process) -> float:
    """Resident MiB; NaN if it has gone."""
    try:
        return process.memory_info().rss / MIB
    except psutil.NoSuchProcess:
        return float("nan")


def below(process: psutil.Process, but: int = 0) -> float:
    """Resident MiB of the processes below one, but for one of them."""
    with suppress(psutil.NoSuchProcess):
        found = [memory(each) for each in process.children(recursive=True) if each.pid != but]
        return sum(each for each in found if not math.isnan(each))
    return float("nan")


def heap(process: psutil.Process) -> float:
    """MiB of Java's heap that are in use, garbage too; NaN if the process has gone."""
    words = ["jstat", "-gc", str(process.pid)]
    found = subprocess.run(words, capture_output=True, text=True).stdout.split()
    names, values = found[: len(found) // 2], found[len(found) // 2 :]
    used = [float(value) for name, value in zip(names, values, strict=True) if name in HEAP]
    return sum(used) / 1024 if used else float("nan")


def slope(at: Sequence[float], amounts: Sequence[float]) -> tuple[float, float, float]:
    """Change of amounts for each 1 of `at`, and its interval of 95 %.

    By least squares over the medians of BLOCKS equal parts of the samples: neighbouring samples
    depend on each other, such parts hardly do.
    """
    parts = [
        (float(np.median(x)), float(np.nanmedian(y)))
        for x, y in zip(np.array_split(at, BLOCKS), np.array_split(amounts, BLOCKS), strict=True)
        if len(x) and not np.all(np.isnan(y))
    ]
    if len({x for x, _ in parts}) < 3:
        return (float("nan"),) * 3
    found = stats.linregress(*zip(*parts, strict=True))
    wide = stats.t.ppf(0.975, len(parts) - 2) * found.stderr
    return found.slope, found.slope - wide, found.slope + wide


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
    runner: str
    output: Path


class OnPrism:
    """Prism, below the gate. options: of Beam."""

    options = (
        "--runner=PrismRunner",
        f"--prism_location={PRISM}",
        "--prism_log_level=warn",
    )

    def __init__(self, gate: psutil.Process):
        self._gate, self._prism = gate, prism_of(gate)

    def memory(self, sample: int) -> dict[str, float]:
        """Resident MiB of the processes but the gate's."""
        return {"prism": memory(self._prism), "others": below(self._gate, self._prism.pid)}


class OnFlink:
    """A cluster; see OnPrism."""

    def __init__(self, cluster: FlinkCluster):
        self._cluster = cluster
        every = cluster.options(unbounded=True)
        # For Flink its source is a list of numbers. The job ends when all readers have ended
        self.options = [each for each in every if "shutdown_sources" not in each]

    def memory(self, sample: int) -> dict[str, float]:
        """Resident MiB of each process, of a pool with its workers; now and then the heaps."""
        processes = self._cluster.processes
        found = {
            name: memory(each) + (below(each) if name.startswith("pool") else 0)
            for name, each in processes.items()
        }
        for name, each in processes.items():
            if not name.startswith("pool"):
                found[f"{name} heap"] = heap(each) if sample % HEAP_SAMPLES == 0 else math.nan
        return found


def soak(
    broker: Broker, cluster: FlinkCluster | None, folder: Path, options: Steady
) -> dict[str, Any]:
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
    flink = OnFlink(cluster) if cluster is not None else None
    runner = [f"--runner={each}" for each in (flink or OnPrism).options]
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
        engine = flink or OnPrism(process)
        writer.start()
        began = time.monotonic()
        with (options.output / "samples.jsonl").open("w") as lines:
            while time.monotonic() - began < options.minutes * 60 and gate.poll() is None:
                time.sleep(SAMPLE_SECONDS)
                ledger.read(options.pane_seconds)
                sample = {
                    "seconds": time.monotonic() - began,
                    "driver_mib": memory(process),
                    **{f"{name}_mib": mib for name, mib in engine.memory(len(samples)).items()},
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
    return {"runner": options.runner, **summary(samples, ledger, writer, options.pane_seconds)}


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
        **{name: _memory(columns, name) for name in columns if name.endswith("_mib")},
        "load_median": round(statistics.median(columns["load"]), 2),
        "writer_late_seconds_most": round(max(columns["writer_late_seconds"]), 2),
    }


def _memory(columns: dict[str, list[float]], name: str) -> dict[str, Any]:
    seconds = np.asarray(columns["seconds"])
    late = seconds >= min(WARM_SECONDS, seconds[-1] / 2)
    held = np.asarray(columns[name])
    return {
        "median": round(float(np.nanmedian(held)), 1),
        "most": round(float(np.nanmax(held)), 1),
        **{
            f"mib_per_{unit}": [
                round(each * factor, 1) for each in slope(np.asarray(columns[by])[late], held[late])
            ]
            for unit, by, factor in (("hour", "seconds", 3600), ("1000_panes", "panes", 1000))
        },
    }


def plot(output: Path) -> None:
    """soak.svg from samples.jsonl and panes.jsonl."""
    samples = [json.loads(line) for line in (output / "samples.jsonl").read_text().splitlines()]
    panes = [json.loads(line) for line in (output / "panes.jsonl").read_text().splitlines()]
    minutes = [each["seconds"] / 60 for each in samples]
    spread = [minutes[-1] * i / max(len(panes) - 1, 1) for i in range(len(panes))]
    panels = [
        Panel(
            f"{title}, MiB",
            {
                name.removesuffix("_mib"): (minutes, [each[name] for each in samples])
                for name in samples[0]
                if name.endswith("_mib") and name.startswith(names)
            },
        )
        for title, names in MEMORY
        if any(name.startswith(names) for name in samples[0])
    ]
    panels += [
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
    parser.add_argument("--runner", choices=("prism", "flink"), default="prism")
    parser.add_argument("--output", type=Path, required=True)
    options = Steady(**vars(parser.parse_args()))
    shutil.rmtree(options.output, ignore_errors=True)
    options.output.mkdir(parents=True)
    with kept_where_it_fails() as folder:
        broker = Broker(folder / "kafka")
        cluster = FlinkCluster(folder / "flink", java=()) if options.runner == "flink" else None
        try:
            broker.start()
            if cluster is not None:
                cluster.start()
            found = soak(broker, cluster, folder, options)
            (options.output / "summary.json").write_text(json.dumps(found, indent=2) + "\n")
        finally:
            if cluster is not None:
                cluster.stop()
            broker.stop()
    plot(options.output)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
