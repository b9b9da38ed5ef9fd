"""Budgets and panes in time, as metrics."""

from __future__ import annotations

from typing import get_args

import pytest

from evenflow.gates.metrics.families import of_thresholds
from evenflow.gates.metrics.now import BOUNDS, Latencies, Now
from evenflow.schemas.config import load
from evenflow.schemas.config.alerts import Alerts

CHOICES = get_args(Alerts.model_fields["verdict_seconds"].annotation)


@pytest.mark.parametrize("seconds", CHOICES)
def test_a_pane_is_late_above_a_bound_of_the_histogram(seconds: int) -> None:
    assert seconds in BOUNDS
    latencies = Latencies()
    for pane, took in enumerate((seconds * 0.99, seconds, seconds * 1.01, 1000.0)):
        latencies.add(pane, took)
    config = load(None, {"alerts.verdict_seconds": seconds, "alerts.budgets.lag": 0.05})
    found = {each.name: each for each in of_thresholds(config, Now(0, False, latencies=latencies))}
    timed, budgets = found["evenflow_timed_panes"], found["evenflow_objective_budget_ratio"]
    assert {each.labels["outcome"]: each.value for each in timed.samples} == {
        "in time": 2,
        "late": 2,
    }
    assert {each.labels["objective"]: each.value for each in budgets.samples}["lag"] == 0.05
