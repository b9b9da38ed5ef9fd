"""Metrics as values by name and labels."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterable

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics.families import families
from evenflow.gates.metrics.now import Now
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import PaneEntry

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]
NOW = Now(1000.0, held=False)


def samples(found: Iterable[Metric]) -> Samples:
    """Values by name and labels, without the gate's name."""
    return {
        (
            each.name,
            tuple(sorted((k, v) for k, v in each.labels.items() if k != "gate")),
        ): each.value
        for family in found
        for each in family.samples
    }


def of(panes: Iterable[PaneEntry], now: Now = NOW, config: Config | None = None) -> Samples:
    """The metrics of some panes."""
    return samples(families(Totals.of(panes), now, config))


def scraped(address: str) -> Samples:
    """The metrics that a server serves."""
    with urllib.request.urlopen(address, timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain")
        return samples(text_string_to_metric_families(answer.read().decode()))
