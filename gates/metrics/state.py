"""Metrics of the present: holds, lag, backlog, disk, triggers and the time of commits."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from itertools import accumulate
from typing import Any

from prometheus_client.core import Exemplar, HistogramMetricFamily, InfoMetricFamily, Metric

from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics import draw
from evenflow.gates.metrics.now import BOUNDS, Latencies, Now

PENDING = "pending"
MS = 1000  # milliseconds in a second


def families(totals: Totals, now: Now) -> Iterator[Metric]:
    """Yield the metrics of the present."""
    yield InfoMetricFamily(
        "evenflow_build",
        "The program; its value is 1.",
        {"version": _version(), "python": platform.python_version()},
    )
    yield from ledger_state(now.readable)
    yield from draw.rows(_present(totals, now))
    ended = {place: count for place, count in now.triggers.items() if place[1] != PENDING}
    runs: draw.Row = ("trigger_runs", "Runs of triggers.", "rule outcome", ended)
    yield from draw.rows([runs], is_counter=True)
    yield _latency(now.latencies)


def _present(totals: Totals, now: Now) -> list[draw.Row]:
    """Times, bytes, offsets and what waits."""
    # A clock that was set back makes no time negative
    lag = None if totals.newest is None else max(0.0, now.time - totals.newest / MS)
    age = None if now.filling is None else max(0.0, now.filling)
    free, size = now.disk or (None, None)
    offsets = {number: each.next for number, each in totals.positions.items()}
    backlog = {str(number): max(0, count) for number, count in now.backlog.items()}
    pending = {rule: count for (rule, what), count in now.triggers.items() if what == PENDING}
    since = "When the last pane was committed, seconds since 1970."
    waited = "Seconds for which the pane that is being filled has waited; 0 without a record."
    grows = "Seconds since the time of the newest committed record; it grows on a quiet topic too."
    return [
        ("held", "1 while the gate is held, 0 otherwise.", "", int(now.held)),
        ("finished", "1 once a run on files has read all, else 0.", "", int(now.finished)),
        ("lag_seconds", grows, "", lag),
        ("last_commit_timestamp_seconds", since, "", now.committed),
        ("pane_age_seconds", waited, "", age),
        ("input_read_bytes", "Stored bytes of the input up to the last commit.", "", now.read),
        ("input_bytes", "Stored bytes of the input in all.", "", now.size),
        ("disk_free_bytes", "Free bytes of the file system of the output.", "", free),
        ("disk_size_bytes", "All bytes of that file system.", "", size),
        ("partition_next_offset", "Offset up to which all is committed.", "partition", offsets),
        ("backlog_records", "Records that are not committed yet.", "partition", backlog),
        ("triggers_pending", "Decided and not yet done.", "rule", pending),
    ]


def ledger_state(readable: bool) -> Iterator[Metric]:
    """Yield the metric that says whether the ledger could be read."""
    about = "1 if the ledger could be read just now, 0 otherwise; the other metrics are then older."
    yield from draw.rows([("ledger_readable", about, "", int(readable))])


def _latency(found: Latencies) -> Metric:
    """The histogram of commits; each bucket has its last pane as its exemplar."""
    family = HistogramMetricFamily(
        "evenflow_pane_commit_seconds", "Seconds from a pane's close to its ledger entry."
    )
    bounds = [*map(str, BOUNDS), "+Inf"]
    buckets: list[Any] = []
    for number, (bound, count) in enumerate(zip(bounds, accumulate(found.counts), strict=True)):
        last = found.last.get(number)
        buckets.append((bound, count, Exemplar({"pane": str(last[0])}, last[1]) if last else None))
    family.add_metric((), buckets, found.seconds)
    return family


@cache
def _version() -> str:
    """The program's version."""
    return version("evenflow")
