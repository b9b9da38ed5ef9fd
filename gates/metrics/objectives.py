"""The budgets of the gate's own objectives, and how many panes had their verdict in time."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import Metric

from evenflow.gates.metrics.draw import counter, gauge
from evenflow.gates.metrics.now import BOUNDS, Latencies
from evenflow.schemas.config import Config


def families(config: Config, latencies: Latencies) -> Iterator[Metric]:
    """Yield the budgets of a configuration, and the panes that were in time and late.

    Args:
        config: The configuration.
        latencies: From a pane's close to its ledger entry.

    Yields:
        The families.
    """
    alerts = config.alerts
    yield gauge(
        "evenflow_objective_budget_ratio",
        "Share of time, records or panes for which an objective may be missed.",
        ["objective"],
        {(name,): share for name, share in alerts.budgets.model_dump().items()},
    )
    in_time = sum(
        count
        for bound, count in zip(BOUNDS, latencies.counts, strict=False)
        if bound <= alerts.verdict_seconds
    )
    yield counter(
        "evenflow_timed_panes",
        "Panes by whether they took at most alerts.verdict_seconds from close to ledger entry.",
        ["outcome"],
        {("in time",): in_time, ("late",): sum(latencies.counts) - in_time},
    )
