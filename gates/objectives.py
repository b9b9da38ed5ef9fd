"""Objectives of the gate itself, and alerts on how fast their budgets burn.

Four things are promised in the long run: the gate is not behind its topic, no record waits long,
few records are unreadable, a closed pane soon has its verdict. A budget is the share of time,
records or panes for which that may be false. Burn is how many times the budget is being used up.
Both a long and a short window must burn: the long one says that it matters, the short one that it
goes on. Windows and rates are those that chapter 5 of The Site Reliability Workbook (Beyer et al.,
2018) recommends for a budget of 30 days.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evenflow.schemas.alert_rule import SHARE, Alert, ratio, value

# Long window, short window, burn. 14.4 for an hour takes 2 % of a month's budget, 6 for six hours
# 5 %; 3 for a day and 1 for three days take 10 %
RATES: dict[Literal["critical", "warning"], tuple[tuple[str, str, float], ...]] = {
    "critical": (("1h", "5m", 14.4), ("6h", "30m", 6)),
    "warning": (("1d", "2h", 3), ("3d", "6h", 1)),
}
WINDOWS = ("5m", "30m", "1h", "2h", "6h", "1d", "3d")
BAD = "gate:evenflow_objective:missed"  # 1 while an objective of time is missed
ERRORS = "gate:evenflow_objective_errors:ratio_"


@dataclass(frozen=True)
class Objective:
    """An objective.

    Attributes:
        name: Its name in `alerts.budgets` and in the label `objective`.
        alert: Name of its alerts.
        missed: When it is missed, as 0 or 1 in PromQL; empty where a counter says it.
        part: What must not be counted, by this counter.
        whole: All that is counted.
        over: The label that tells them apart.
        what: What is missed, for the summary.
        unit: Of what the share is.
    """

    name: str
    alert: str
    what: str
    unit: str
    missed: str = ""
    part: str = ""
    whole: str = ""
    over: str = ""

    def errors(self, window: str) -> str:
        """Return the share in which the objective was missed in a window, in PromQL."""
        if self.missed:
            return f'avg_over_time({BAD}{{objective="{self.name}"}}[{window}])'
        return ratio(self.part, self.whole, window, self.over)


OBJECTIVES = (
    Objective(
        "lag",
        "LagBudget",
        "behind its topic for too long",
        "the time",
        missed="(evenflow_lag_seconds > bool evenflow_lag_threshold_seconds)"
        " * (sum without (partition) (evenflow_backlog_records) > bool 0)",
    ),
    Objective(
        "freshness",
        "FreshnessBudget",
        "records wait for too long",
        "the time",
        missed="evenflow_pane_age_seconds > bool evenflow_pane_overdue_threshold_seconds",
    ),
    Objective(
        "dead_letters",
        "DeadLetterBudget",
        "too many records cannot be read",
        "the records",
        part='evenflow_documents_total{fate="dead"}',
        whole="evenflow_documents_total",
        over="fate",
    ),
    Objective(
        "verdict",
        "VerdictBudget",
        "verdicts take too long",
        "the panes",
        part='evenflow_timed_panes_total{outcome="late"}',
        whole="evenflow_timed_panes_total",
        over="outcome",
    ),
)


def records() -> list[dict[str, object]]:
    """Return the recording rules: what is missed now, and the shares of each window."""
    found: list[dict[str, object]] = [
        {"record": BAD, "expr": each.missed, "labels": {"objective": each.name}}
        for each in OBJECTIVES
        if each.missed
    ]
    return found + [
        {
            "record": f"{ERRORS}{window}",
            "expr": each.errors(window),
            "labels": {"objective": each.name},
        }
        for each in OBJECTIVES
        for window in WINDOWS
    ]


def _alert(objective: Objective, severity: Literal["critical", "warning"]) -> Alert:
    """An alert on an objective's budget."""
    label = f'{{objective="{objective.name}"}}'
    budget = "evenflow_objective_budget_ratio"
    burns = " or ".join(
        "("
        + " and ".join(f"{ERRORS}{window}{label} > {burn} * {budget}" for window in (long, short))
        + ")"
        for long, short, burn in RATES[severity]
    )
    allowed = value(f"{budget}{{objective='{objective.name}'}}")
    return Alert(
        objective.alert,
        burns,
        0,
        severity,
        f"{{{{ $labels.gate }}}}: {objective.what}",
        f"{SHARE} of {objective.unit}; the budget is a share of {allowed}.",
    )


ALERTS = tuple(_alert(each, severity) for each in OBJECTIVES for severity in RATES)
