"""Dashboards for Grafana, as code: python deploy/grafana/dashboards.py writes their JSON beside it.

They need the extra `grafana`. Import the JSON files into Grafana 10 or newer, or let it provision
them; nothing here is needed for that. Thresholds are series, so a change of a configuration changes
no dashboard.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.builders import prometheus, stat, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as models

Query = tuple[str, str]  # PromQL and the legend
Panel = stat.Panel | timeseries.Panel

SOURCE = models.DataSourceRef(type_val="prometheus", uid="${source}")
GATE = 'gate=~"$gate"'
BOTH = 'gate=~"$gate", attribute=~"$attribute"'
RATE = "$__rate_interval"
HALF, THIRD, QUARTER = 12, 8, 6  # of 24 columns
STATES = [  # of the number that `_STATE` computes
    models.ValueMap(
        options={
            str(number): models.ValueMappingResult(text=text, color=colour)
            for number, text, colour in (
                (-1, "too few", "gray"),
                (0, "open", "green"),
                (1, "warn", "orange"),
                (2, "block", "red"),
            )
        }
    )
]
HELD = [
    models.ValueMap(
        options={
            "0": models.ValueMappingResult(text="no", color="green"),
            "1": models.ValueMappingResult(text="held", color="red"),
        }
    )
]


def _state(metric: str, labels: str, by: str) -> str:
    """-1, 0, 1 or 2 for too few, open, warn or block."""
    parts = [
        f'{weight} * max by ({by}) ({metric}{{{labels}, state="{state}"}})'
        for weight, state in ((-1, "too few"), (1, "warn"), (2, "block"))
    ]
    return " + ".join(parts)


def graph(title: str, *queries: Query, unit: str = "short", about: str = "") -> timeseries.Panel:
    """Values over time; a series whose legend begins with «threshold» is a dashed red line."""
    panel = timeseries.Panel().title(title).description(about).unit(unit).span(HALF).height(8)
    panel.override_by_regexp(
        "threshold.*",
        [
            models.DynamicConfigValue(
                id_val="custom.lineStyle", value={"fill": "dash", "dash": [8, 8]}
            ),
            models.DynamicConfigValue(
                id_val="color", value={"mode": "fixed", "fixedColor": "semi-dark-red"}
            ),
        ],
    )
    return _asking(panel, queries)


def number(
    title: str,
    *queries: Query,
    unit: str = "short",
    mappings: Sequence[Any] = (),
    width: int = QUARTER,
    about: str = "",
) -> stat.Panel:
    """The present values."""
    panel = stat.Panel().title(title).description(about).unit(unit).span(width).height(5)
    if mappings:
        panel.mappings(list(mappings))
    return _asking(panel, queries)


def _asking(panel: Any, queries: Sequence[Query]) -> Any:
    """A panel with its queries."""
    panel.datasource(SOURCE)
    for place, (expr, legend) in enumerate(queries):
        query = prometheus.Dataquery().expr(expr).legend_format(legend)
        panel.with_target(query.ref_id(chr(ord("A") + place)).datasource(SOURCE))
    return panel


def _variable(name: str, values: str, several: bool = True) -> builders.QueryVariable:
    """A variable whose values Prometheus knows."""
    found = builders.QueryVariable(name).query(f"label_values({values}, {name})")
    found.datasource(SOURCE).refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
    return found.multi(several).include_all(several).sort(models.VariableSort.ALPHABETICAL_ASC)


def _dashboard(
    name: str, title: str, about: str, panels: Sequence[Panel], *more: builders.QueryVariable
) -> builders.Dashboard:
    """A dashboard with the variables and links that all have."""
    found = builders.Dashboard(title).uid(f"evenflow-{name}").description(about)
    found.tags(["evenflow"]).refresh("30s").time("now-6h", "now").timezone("browser").readonly()
    found.with_variable(builders.DatasourceVariable("source").type("prometheus").label("source"))
    found.with_variable(_variable("gate", "evenflow_panes_total"))
    for variable in more:
        found.with_variable(variable)
    for variable, value in (
        ("board", "http://127.0.0.1:8765"),
        ("runbooks", "http://127.0.0.1:8000/runbooks"),
    ):
        box = builders.TextBoxVariable(variable).default_value(value)
        found.with_variable(box.hide(models.VariableHide.HIDE_VARIABLE))
    others = builders.DashboardLink("Dashboards").type(models.DashboardLinkType.DASHBOARDS)
    found.link(others.tags(["evenflow"]).as_dropdown(True).include_vars(True).keep_time(True))
    for text, variable in (("Board", "board"), ("Runbooks", "runbooks")):
        link = builders.DashboardLink(text).type(models.DashboardLinkType.LINK)
        found.link(link.url(f"${{{variable}}}").target_blank(True))
    for panel in panels:
        found.with_panel(panel)
    return found


OVERVIEW = (
    number(
        "Verdict",
        (_state("evenflow_pane_verdict", GATE, "gate"), "{{gate}}"),
        mappings=STATES,
        about="On the last pane of each gate.",
    ),
    number("Held", (f"max by (gate) (evenflow_held{{{GATE}}})", "{{gate}}"), mappings=HELD),
    number(
        "Burn of a day",
        (f"gate:evenflow_block_budget:burn_1d{{{GATE}}}", "{{gate}}"),
        about="1: as many panes were blocked as alerts.blocked_share allows.",
    ),
    number("Burn of a week", (f"gate:evenflow_block_budget:burn_1w{{{GATE}}}", "{{gate}}")),
    graph(
        "Highest lower bound of the rolling DR",
        (f'max by (gate) (evenflow_dr_low{{{GATE}, window="rolling"}})', "{{gate}}"),
        unit="percentunit",
        about="Of all attributes; the gate judges by it.",
    ),
    graph(
        "Panes an hour",
        (
            f"sum by (gate, verdict) (increase(evenflow_panes_total{{{GATE}}}[1h]))",
            "{{gate}} {{verdict}}",
        ),
    ),
    graph(
        "Documents a second",
        (
            f"sum by (gate, fate) (rate(evenflow_documents_total{{{GATE}}}[{RATE}]))",
            "{{gate}} {{fate}}",
        ),
    ),
    graph(
        "Dead letters of the last hour",
        (f"gate:evenflow_dead_letters:ratio_1h{{{GATE}}}", "{{gate}}"),
        (f"evenflow_dead_letter_threshold_ratio{{{GATE}}}", "threshold {{gate}}"),
        unit="percentunit",
    ),
    graph(
        "Free disk",
        (f"evenflow_disk_free_bytes{{{GATE}}} / evenflow_disk_size_bytes{{{GATE}}}", "{{gate}}"),
        (f"evenflow_disk_free_threshold_ratio{{{GATE}}}", "threshold {{gate}}"),
        unit="percentunit",
    ),
    graph(
        "Since the last commit",
        (f"time() - evenflow_last_commit_timestamp_seconds{{{GATE}}}", "{{gate}}"),
        unit="s",
    ),
    number(
        "Ledger can be read",
        (f"min by (gate) (evenflow_ledger_readable{{{GATE}}})", "{{gate}}"),
        width=HALF,
    ),
    number(
        "Version",
        (f"evenflow_build_info{{{GATE}}}", "{{gate}} {{version}}"),
        width=HALF,
    ),
)

ONE_GATE = (
    number(
        "Verdict by attribute",
        (_state("evenflow_verdict", BOTH, "gate, attribute"), "{{attribute}}"),
        mappings=STATES,
        width=THIRD,
    ),
    number(
        "Held", (f"max by (gate) (evenflow_held{{{GATE}}})", "{{gate}}"), mappings=HELD, width=THIRD
    ),
    number(
        "Panes",
        (f"sum by (gate, verdict) (evenflow_panes_total{{{GATE}}})", "{{verdict}}"),
        width=THIRD,
    ),
    graph(
        "Rolling DR with its interval",
        (f'evenflow_dr{{{BOTH}, window="rolling"}}', "{{attribute}}"),
        (f'evenflow_dr_low{{{BOTH}, window="rolling"}}', "{{attribute}} low"),
        (f'evenflow_dr_high{{{BOTH}, window="rolling"}}', "{{attribute}} high"),
        (f"evenflow_dr_threshold{{{BOTH}}}", "threshold {{attribute}} {{level}}"),
        about="The gate judges by the lower bound.",
    ),
    graph(
        "DR of all panes, and of accepted ones",
        (f'evenflow_dr{{{BOTH}, window="cumulative"}}', "{{attribute}} all"),
        (f'evenflow_dr{{{BOTH}, window="accepted"}}', "{{attribute}} accepted"),
    ),
    graph(
        "Verdicts over time",
        (_state("evenflow_verdict", BOTH, "gate, attribute"), "{{attribute}}"),
        about="0 open, 1 warn, 2 block.",
    ),
    graph(
        "Shares of the last pane",
        (f'evenflow_share_ratio{{{BOTH}, window="pane"}}', "{{attribute}} {{group}}"),
        (f"evenflow_target_share_ratio{{{BOTH}}}", "target {{attribute}} {{group}}"),
        unit="percentunit",
    ),
    graph(
        "Mentions a second",
        (
            f"sum by (attribute, group) (rate(evenflow_mentions_total{{{BOTH}}}[{RATE}]))",
            "{{attribute}} {{group}}",
        ),
    ),
    graph(
        "Documents by fate",
        (f"sum by (fate) (evenflow_documents_total{{{GATE}}})", "{{fate}}"),
    ),
    graph(
        "Dead letters by reason",
        (f"sum by (reason) (evenflow_dead_letters_total{{{GATE}}})", "{{reason}}"),
    ),
    graph(
        "Checks that failed",
        (f"evenflow_checks_failed_total{{{GATE}}}", "checks"),
        (f"evenflow_checks_failed_panes_total{{{GATE}}}", "panes"),
        (f"evenflow_checks_total{{{GATE}}}", "evaluated"),
    ),
    graph(
        "Repair: sets of mentions",
        (f"evenflow_repair_sets_total{{{BOTH}}}", "{{attribute}} found"),
        (f"evenflow_repair_eligible_sets_total{{{BOTH}}}", "{{attribute}} eligible"),
        (f"evenflow_repair_changed_sets_total{{{BOTH}}}", "{{attribute}} exchanged"),
    ),
    graph(
        "Repair: barred sets by reason",
        (f"evenflow_repair_barred_sets_total{{{BOTH}}}", "{{attribute}} {{reason}}"),
    ),
    graph(
        "Stereotypes: share of sentences",
        (f"attribute:evenflow_strong_stereotypes:ratio_1h{{{BOTH}}}", "{{attribute}} an hour"),
        (f"attribute:evenflow_strong_stereotypes:ratio_1d{{{BOTH}}}", "{{attribute}} a day"),
        unit="percentunit",
    ),
    graph(
        "Coverage: largest gap",
        (f"evenflow_coverage_largest_gap{{{GATE}}}", "largest gap"),
        (f"evenflow_coverage_threshold{{{GATE}}}", "threshold {{level}}"),
    ),
    graph(
        "Bias score: share of high scores",
        (f'evenflow_bias_score_high_share{{{GATE}, window="rolling"}}', "{{attribute}}"),
        (f'evenflow_bias_score_high_share_low{{{GATE}, window="rolling"}}', "{{attribute}} low"),
        (f"evenflow_bias_score_threshold{{{GATE}}}", "threshold {{level}}"),
        unit="percentunit",
    ),
    graph(
        "Triggers: actions by rule",
        (f"evenflow_trigger_runs_total{{{GATE}}}", "{{rule}} {{outcome}}"),
        (f"evenflow_triggers_pending{{{GATE}}}", "{{rule}} pending"),
    ),
)


def _quantiles(metric: str, by: str, legend: str) -> list[Query]:
    """The median and the 99th percentile of a histogram."""
    return [
        (
            f"histogram_quantile({q}, sum by (le, {by}) (rate({metric}_bucket{{{GATE}}}[{RATE}])))",
            f"{legend} {q:.0%}",
        )
        for q in (0.5, 0.99)
    ]


KAFKA = (
    graph(
        "Lag",
        (f"evenflow_lag_seconds{{{GATE}}}", "{{gate}}"),
        (f"evenflow_lag_threshold_seconds{{{GATE}}}", "threshold {{gate}}"),
        unit="s",
        about="Since the newest committed record; it grows on a quiet topic too.",
    ),
    graph(
        "Backlog by partition",
        (f"evenflow_backlog_records{{{GATE}}}", "{{gate}} {{partition}}"),
        about="Records that are not committed yet.",
    ),
    graph(
        "Age of the pane that is being filled",
        (f"evenflow_pane_age_seconds{{{GATE}}}", "{{gate}}"),
        (f"evenflow_pane_overdue_threshold_seconds{{{GATE}}}", "threshold {{gate}}"),
        unit="s",
    ),
    graph(
        "Records committed a second, by partition",
        (
            f"deriv(evenflow_partition_next_offset{{{GATE}}}[{RATE}])",
            "{{gate}} {{partition}}",
        ),
    ),
    graph(
        "Input a second",
        (f"rate(evenflow_bytes_total{{{GATE}}}[{RATE}])", "{{gate}}"),
        unit="Bps",
    ),
    graph(
        "Sentences a second",
        (f"rate(evenflow_sentences_total{{{GATE}}}[{RATE}])", "{{gate}}"),
    ),
    graph(
        "From a pane's close to its ledger entry",
        *_quantiles("evenflow_pane_commit_seconds", "gate", "{{gate}}"),
        unit="s",
    ),
    graph(
        "Memory of the process",
        ('process_resident_memory_bytes{job="evenflow"}', "{{instance}}"),
        unit="bytes",
    ),
    graph(
        "Cores of the process",
        (f'rate(process_cpu_seconds_total{{job="evenflow"}}[{RATE}])', "{{instance}}"),
    ),
)

LLM = (
    number(
        "Tokens of 24 hours",
        (f"gate:evenflow_llm_tokens:increase_1d{{{GATE}}}", "{{gate}}"),
        width=HALF,
    ),
    number(
        "Budget of a day",
        (f"evenflow_llm_token_threshold{{{GATE}}}", "{{gate}}"),
        width=HALF,
        about="alerts.tokens_a_day.",
    ),
    graph(
        "Questions a second, by who answered",
        (
            f"sum by (gate, outcome) (rate(evenflow_llm_requests_total{{{GATE}}}[{RATE}]))",
            "{{gate}} {{outcome}}",
        ),
    ),
    graph(
        "Tokens a second, by step",
        (
            f"sum by (gate, step) (rate(evenflow_llm_tokens_total{{{GATE}}}[{RATE}]))",
            "{{gate}} {{step}}",
        ),
    ),
    graph(
        "Share of fallbacks in the last hour",
        (f"gate:evenflow_llm_fallbacks:ratio_1h{{{GATE}}}", "{{gate}}"),
        (f"evenflow_llm_fallback_threshold_ratio{{{GATE}}}", "threshold {{gate}}"),
        unit="percentunit",
    ),
    graph(
        "Fallbacks by reason",
        (
            f"sum by (gate, reason) (evenflow_llm_fallbacks_total{{{GATE}}})",
            "{{gate}} {{reason}}",
        ),
    ),
    graph(
        "Latency of answers",
        *_quantiles("evenflow_llm_latency_seconds", "gate, step", "{{gate}} {{step}}"),
        unit="s",
    ),
    graph(
        "Requests a question took",
        (
            f"sum by (gate) (evenflow_llm_http_requests_total{{{GATE}}})"
            f' / sum by (gate) (evenflow_llm_requests_total{{{GATE}, outcome!="cache"}})',
            "{{gate}}",
        ),
    ),
)


def dashboards() -> dict[str, str]:
    """Make all dashboards.

    Returns:
        Their JSON by the name of their file.
    """
    attribute = _variable("attribute", f"evenflow_verdict{{{GATE}}}")
    made = (
        ("overview", "Evenflow: gates", "All gates at a glance.", OVERVIEW, ()),
        ("gate", "Evenflow: one gate", "What a gate measures, and why.", ONE_GATE, (attribute,)),
        ("kafka", "Evenflow: Kafka and throughput", "How fast, and how far behind.", KAFKA, ()),
        ("llm", "Evenflow: language model", "What questions cost.", LLM, ()),
    )
    return {
        f"{name}.json": json.dumps(
            _dashboard(name, title, about, panels, *more).build(),
            cls=JSONEncoder,
            indent=1,
            sort_keys=True,
        )
        + "\n"
        for name, title, about, panels, more in made
    }


if __name__ == "__main__":
    for name, text in dashboards().items():
        (Path(__file__).parent / name).write_text(text, encoding="utf-8")
