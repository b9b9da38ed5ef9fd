"""The thresholds of alerts and budgets, as metrics: a change of them changes no rule."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import Metric

from evenflow.gates.metrics import draw
from evenflow.gates.metrics.now import BOUNDS, Now
from evenflow.schemas.config import Config
from evenflow.transforms.measures import registry


def families(config: Config, now: Now) -> Iterator[Metric]:
    """Yield the thresholds and budgets of a configuration, and the panes in time and late."""
    alerts = config.alerts
    for each in registry.of(config).values():
        yield from map(draw.family, each.limit_families(config))
    seconds = now.pane_seconds
    overdue = None if seconds is None else alerts.overdue_panes * seconds
    fallbacks = config.llm.most_fallbacks if config.llm.url is not None else None
    burn = "Share of panes that may be blocked; burn is measured by it."
    rows: list[draw.Row] = [
        (name, f"{what} which an alert fires.", "", value)
        for name, what, value in (
            ("lag_threshold_seconds", "Lag from", alerts.lag_seconds),
            ("pane_overdue_threshold_seconds", "Age of the pane being filled from", overdue),
            ("dead_letter_threshold_ratio", "Dead share in an hour from", alerts.dead_share),
            ("llm_fallback_threshold_ratio", "Unanswered share in an hour from", fallbacks),
            ("llm_token_threshold", "Tokens in a day from", alerts.tokens_a_day),
            ("disk_free_threshold_ratio", "Free share of the disk below", alerts.disk_free),
        )
    ]
    about = "Share of time, records or panes for which an objective may be missed."
    budgets = alerts.budgets.model_dump()
    rows.append(("objective_budget_ratio", about, "objective", budgets))
    yield from draw.rows([*rows, ("blocked_budget_ratio", burn, "", alerts.blocked_share)])
    in_time = sum(
        count
        for bound, count in zip(BOUNDS, now.latencies.counts, strict=False)
        if bound <= alerts.verdict_seconds
    )
    about = "Panes by whether they took at most alerts.verdict_seconds from close to ledger entry."
    panes = {"in time": in_time, "late": sum(now.latencies.counts) - in_time}
    yield from draw.rows([("timed_panes", about, "outcome", panes)], is_counter=True)
