"""Metrics of coverage: meetings of attributes that are too rare."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import Metric

from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics.draw import one


def families(totals: Totals) -> Iterator[Metric]:
    """Yield the metrics of coverage."""
    rolling = totals.last_coverage.rolling if totals.last_coverage is not None else {}
    yield one(
        "evenflow_coverage_gaps",
        "Meetings of attributes that are too rare, in the rolling panes.",
        rolling.get("found"),
    )
    yield one(
        "evenflow_coverage_largest_gap",
        "Largest gap, 1 - coverage / tau, by which the gate judges.",
        rolling.get("largest"),
    )
    yield one(
        "evenflow_coverage_unsure",
        "Meetings that may be too rare: the share is below tau, its interval's upper bound is not.",
        rolling.get("unsure"),
    )
    yield one(
        "evenflow_coverage_least_tau",
        "Smallest tau at which the rolling panes can show a gap.",
        rolling.get("least_tau"),
    )
