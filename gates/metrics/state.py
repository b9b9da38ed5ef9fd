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
from evenflow.gates.metrics.draw import counter, gauge, one
from evenflow.gates.metrics.now import BOUNDS, Latencies, Now

PENDING = "pending"
MS = 1000  # milliseconds in a second


def families(totals: Totals, now: Now) -> Iterator[Metric]:
    """Yield the metrics of the present.

    Args:
        totals: Sums of the ledger.
        now: The present state.

    Yields:
        The families.
    """
    yield InfoMetricFamily(
        "evenflow_build",
        "The program; its value is 1.",
        {"version": _version(), "python": platform.python_version()},
    )
    yield from ledger_state(now.readable)
    yield one("evenflow_held", "1 while the gate is held, 0 otherwise.", int(now.held))
    yield one(
        "evenflow_finished",
        "1 once a run on files has read its whole input, 0 otherwise.",
        int(now.finished),
    )
    yield from _amounts(totals, now)
    yield gauge(
        "evenflow_partition_next_offset",
        "Offset of a partition up to which records are committed.",
        ["partition"],
        {(number,): each.next for number, each in totals.positions.items()},
    )
    yield gauge(
        "evenflow_backlog_records",
        "Records of a partition that are not committed yet.",
        ["partition"],
        {(str(number),): max(0, count) for number, count in now.backlog.items()},
    )
    pending = {(rule,): count for (rule, what), count in now.triggers.items() if what == PENDING}
    ended = {place: count for place, count in now.triggers.items() if place[1] != PENDING}
    yield counter("evenflow_trigger_runs", "Runs of triggers.", ["rule", "outcome"], ended)
    yield gauge("evenflow_triggers_pending", "Decided and not yet done.", ["rule"], pending)
    yield _latency(now.latencies)


def _amounts(totals: Totals, now: Now) -> Iterator[Metric]:
    """Yield times and bytes."""
    # A clock that was set back makes no time negative
    lag = None if totals.newest is None else max(0.0, now.time - totals.newest / MS)
    for name, about, value in (
        (
            "lag_seconds",
            "Seconds since the time of the newest record that was committed; it grows on a quiet"
            " topic too.",
            lag,
        ),
        (
            "last_commit_timestamp_seconds",
            "When the last pane was committed, seconds since 1970.",
            now.committed,
        ),
        (
            "pane_age_seconds",
            "Seconds for which the pane that is being filled has waited; 0 without a record.",
            None if now.filling is None else max(0.0, now.filling),
        ),
        ("pane_span_seconds", "Span of time of a topic's pane.", now.pane_seconds),
        (
            "input_read_bytes",
            "Stored bytes of the input up to the last commit.",
            now.read,
        ),
        ("input_bytes", "Stored bytes of the input in all.", now.size),
        (
            "disk_free_bytes",
            "Free bytes of the file system that the output is on.",
            now.disk[0] if now.disk else None,
        ),
        (
            "disk_size_bytes",
            "All bytes of that file system.",
            now.disk[1] if now.disk else None,
        ),
    ):
        yield one(f"evenflow_{name}", about, value)


def ledger_state(readable: bool) -> Iterator[Metric]:
    """Yield the metric that says whether the ledger could be read."""
    yield one(
        "evenflow_ledger_readable",
        "1 if the ledger could be read just now, 0 otherwise; the other metrics are then older.",
        int(readable),
    )


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
