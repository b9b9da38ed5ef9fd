"""Alert and recording rules for Prometheus.

Rules compare metrics with metrics: thresholds are exported (`gates.metrics.thresholds`), so that a
change of them changes no rule. What a configuration does change is where its runbooks are.
"""

from __future__ import annotations

from typing import Any

import yaml

from evenflow.gates import objectives
from evenflow.schemas.alert_rule import MINUTE, NUMBER, SHARE, TIME, Alert, ratio, value
from evenflow.schemas.config import Config
from evenflow.transforms.measures import registry

HEAD = """\
# Alert and recording rules for Evenflow's metrics. `evenflow gate alerts --config FILE` writes
# them for a configuration; this is the default's. Thresholds are metrics, not numbers here.
"""

RECORDS = {
    "gate:evenflow_dead_letters:ratio_1h": ratio(
        'evenflow_documents_total{fate="dead"}', "evenflow_documents_total", "1h", "fate"
    ),
    **{
        name: expr
        for measure in registry.SHIPPED.values()
        for name, expr in measure.recorded.items()
    },
    # A spent budget is no failure
    "gate:evenflow_llm_fallbacks:ratio_1h": (
        'sum without (step, reason) (increase(evenflow_llm_fallbacks_total{reason!="budget spent"}'
        "[1h])) / sum without (step, outcome) (increase(evenflow_llm_requests_total[1h]))"
    ),
    "gate:evenflow_llm_tokens:increase_1d": (
        "sum without (step) (increase(evenflow_llm_tokens_total[1d]))"
    ),
    **{
        f"gate:evenflow_panes_blocked:ratio_{window}": ratio(
            'evenflow_panes_total{verdict="block"}', "evenflow_panes_total", window, "verdict"
        )
        for window in ("1d", "1w")
    },
    # 1: as many panes are blocked as alerts.blocked_share allows; 2: twice as many
    **{
        f"gate:evenflow_block_budget:burn_{window}": (
            f"gate:evenflow_panes_blocked:ratio_{window} / evenflow_blocked_budget_ratio"
        )
        for window in ("1d", "1w")
    },
}


def _state(state: str) -> str:
    """The rolling score of attributes in a state."""
    return (
        'evenflow_dr_low{window="rolling"} and ignoring (window, state)'
        f' evenflow_verdict{{state="{state}"}} == 1'
    )


def _judged(state: str) -> str:
    """Why an attribute is in a state."""
    threshold = value(f"evenflow_dr_threshold{{level='{state}'}}", "gate attribute")
    return (
        f"The lower bound of the rolling DR is {NUMBER}; the threshold of {state} is {threshold}."
    )


ALERTS = (
    Alert(
        "DrWarn",
        _state("warn"),
        10 * MINUTE,
        "warning",
        "{{ $labels.gate }}: {{ $labels.attribute }} is uneven",
        _judged("warn"),
    ),
    Alert(
        "DrBlock",
        _state("block"),
        0,
        "critical",
        "{{ $labels.gate }}: panes are blocked because of {{ $labels.attribute }}",
        _judged("block"),
    ),
    *(each for measure in registry.SHIPPED.values() for each in measure.alerts),
    Alert(
        "Held",
        "evenflow_held == 1",
        5 * MINUTE,
        "critical",
        "{{ $labels.gate }} is held: no pane is committed",
        "By a person, or by gate.policy after a blocked pane; `evenflow gate status` says which.",
    ),
    Alert(
        "LagGrows",
        "(evenflow_lag_seconds > evenflow_lag_threshold_seconds"
        " and deriv(evenflow_lag_seconds[10m]) > 0.1)"
        " unless sum without (partition) (evenflow_backlog_records) == 0",
        10 * MINUTE,
        "warning",
        "{{ $labels.gate }} falls behind its topic",
        f"The newest committed record is {TIME} old, and the lag grows.",
    ),
    Alert(
        "PaneOverdue",
        "evenflow_pane_age_seconds > evenflow_pane_overdue_threshold_seconds"
        " unless evenflow_held == 1",
        MINUTE,
        "critical",
        "{{ $labels.gate }}: records wait for their commit",
        f"They have waited for {TIME}; the limit is"
        f" {value('evenflow_pane_overdue_threshold_seconds')} s.",
    ),
    Alert(
        "DeadLetters",
        "gate:evenflow_dead_letters:ratio_1h > evenflow_dead_letter_threshold_ratio",
        5 * MINUTE,
        "warning",
        "{{ $labels.gate }}: many records cannot be read",
        f"{SHARE} of the last hour's records became dead letters.",
    ),
    Alert(
        "ChecksFailed",
        "increase(evenflow_checks_failed_panes_total[1h]) > 0",
        0,
        "warning",
        "{{ $labels.gate }}: a pane failed its checks",
        f"About {NUMBER} panes in the last hour had a critical failure, and were set aside.",
    ),
    Alert(
        "LlmFallbacks",
        "gate:evenflow_llm_fallbacks:ratio_1h > evenflow_llm_fallback_threshold_ratio",
        10 * MINUTE,
        "warning",
        "{{ $labels.gate }}: the language model does not answer",
        f"The shipped models answered {SHARE} of the last hour's questions in its place.",
    ),
    Alert(
        "LlmCost",
        "gate:evenflow_llm_tokens:increase_1d > evenflow_llm_token_threshold",
        0,
        "warning",
        "{{ $labels.gate }}: the language model costs more than its budget",
        f"{NUMBER} tokens in 24 hours; the budget is {value('evenflow_llm_token_threshold')}.",
    ),
    Alert(
        "TriggerFailed",
        # A counter that is new has no increase yet
        'increase(evenflow_trigger_runs_total{outcome="failed"}[1h]) > 0'
        ' or (evenflow_trigger_runs_total{outcome="failed"} > 0'
        ' unless evenflow_trigger_runs_total{outcome="failed"} offset 1h)',
        0,
        "warning",
        "{{ $labels.gate }}: trigger {{ $labels.rule }} failed",
        "It failed in the last hour.",
    ),
    Alert(
        "DiskFull",
        "evenflow_disk_free_bytes / evenflow_disk_size_bytes < evenflow_disk_free_threshold_ratio",
        5 * MINUTE,
        "critical",
        "{{ $labels.gate }}: the disk of its output is nearly full",
        f"{SHARE} of it is free.",
    ),
    Alert(
        "LedgerUnreadable",
        "evenflow_ledger_readable == 0",
        2 * MINUTE,
        "critical",
        "{{ $labels.gate }}: its ledger cannot be read",
        "An entry is damaged or of a newer version, or the directory or its store is away.",
    ),
    Alert(
        "MetricsAbsent",
        # Whatever process or machine they come from; a run on files may end
        "group by (gate, job) (last_over_time(evenflow_ledger_readable[1d]))"
        " unless group by (gate, job) (evenflow_ledger_readable)"
        " unless group by (gate, job) (last_over_time(evenflow_finished[1d]) == 1)"
        ' or up{job="evenflow"} == 0',
        5 * MINUTE,
        "critical",
        "{{ $labels.gate }}{{ $labels.instance }}: no metrics any more",
        "They were there within the last day. Nobody watches this gate now.",
    ),
    *objectives.ALERTS,
)


def rules(config: Config, most_wait: int | None = None) -> str:
    """Write the rules of a configuration.

    Args:
        config: Says where the runbooks are.
        most_wait: No alert waits for more seconds than this; None: each has its own wait.

    Returns:
        A file of rules for Prometheus.
    """
    records = [{"record": name, "expr": expr} for name, expr in RECORDS.items()]
    records += objectives.records()
    alerts = [_alert(each, config, most_wait) for each in ALERTS]
    # One group: its rules are evaluated in order, so alerts see what was just recorded
    groups = [{"name": "evenflow", "rules": [*records, *alerts]}]
    return HEAD + yaml.safe_dump({"groups": groups}, sort_keys=False, width=100)


def _alert(alert: Alert, config: Config, most_wait: int | None) -> dict[str, Any]:
    """An alert as Prometheus reads it."""
    wait = alert.wait if most_wait is None else min(alert.wait, most_wait)
    return {
        "alert": f"Evenflow{alert.name}",
        "expr": alert.expr,
        **({"for": f"{wait}s"} if wait else {}),
        "labels": {"severity": alert.severity},
        "annotations": {
            "summary": alert.summary,
            "description": alert.reason,
            "runbook_url": config.alerts.runbooks.replace("{name}", alert.runbook),
        },
    }
