"""The thresholds of alerts, as metrics: a change of the configuration changes no rule."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import Metric

from evenflow.gates.metrics.draw import family, one
from evenflow.schemas.config import Config
from evenflow.transforms.measures import registry


def families(config: Config, pane_seconds: float | None) -> Iterator[Metric]:
    """Yield the thresholds of a configuration.

    Args:
        config: The configuration.
        pane_seconds: Span of a topic's pane; None for files.

    Yields:
        The families.
    """
    alerts = config.alerts
    for each in registry.of(config).values():
        yield from map(family, each.limit_families(config))
    for name, about, value in (
        ("lag_threshold_seconds", "Lag from which an alert may fire.", alerts.lag_seconds),
        (
            "pane_overdue_threshold_seconds",
            "Age of the pane that is being filled from which an alert fires.",
            None if pane_seconds is None else alerts.overdue_panes * pane_seconds,
        ),
        (
            "dead_letter_threshold_ratio",
            "Share of dead letters in an hour from which an alert fires.",
            alerts.dead_share,
        ),
        (
            "llm_fallback_threshold_ratio",
            "Share of questions in an hour without an answer of the model for an alert.",
            config.llm.most_fallbacks if config.llm.url is not None else None,
        ),
        (
            "llm_token_threshold",
            "Tokens in a day from which an alert fires.",
            alerts.tokens_a_day,
        ),
        (
            "disk_free_threshold_ratio",
            "Free share of the output's disk below which an alert fires.",
            alerts.disk_free,
        ),
        (
            "blocked_budget_ratio",
            "Share of panes that may be blocked; burn is measured by it.",
            alerts.blocked_share,
        ),
    ):
        yield one(f"evenflow_{name}", about, value)
