"""A steady stream of documents to a topic, and what a gate makes of it: its panes, its memory."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from kafka.errors import KafkaError
from kafka_documents import PARTITIONS, values
from scipy import stats
from services.kafka_broker import Broker, Producer

from evenflow.gates.ledger.files import entry_name
from evenflow.gates.ledger.history import History

TICK_SECONDS = 0.1  # documents are written in portions of as long
MIB = 1 << 20
BLOCKS = 10


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


def below(process: psutil.Process) -> float:
    """Resident MiB of the processes below one."""
    with suppress(psutil.NoSuchProcess):
        found = [memory(each) for each in process.children(recursive=True)]
        return sum(each for each in found if not math.isnan(each))
    return float("nan")


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
        return math.nan, math.nan, math.nan
    x, y = zip(*parts, strict=True)
    found: Any = stats.linregress(x, y)
    wide = stats.t.ppf(0.975, len(parts) - 2) * found.stderr
    return found.slope, found.slope - wide, found.slope + wide
