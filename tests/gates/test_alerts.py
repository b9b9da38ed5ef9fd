"""The rules of alerts: the shipped file is what the code writes, and each has page and test."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import pytest
import yaml

from evenflow.gates.alerts import ALERTS, RECORDS, rules
from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics.families import families
from evenflow.gates.metrics.now import Now
from evenflow.gates.objectives import OBJECTIVES, RATES, WINDOWS, records
from evenflow.schemas.config import ConfigError, load
from evenflow.schemas.config.alerts import Budgets

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "deploy" / "prometheus"


def test_the_shipped_rules_are_those_of_the_default_configuration() -> None:
    assert (SHIPPED / "evenflow.rules.yaml").read_text(encoding="utf-8") == rules(load(None))


def test_a_configuration_says_where_runbooks_are_and_a_trial_does_not_wait() -> None:
    config = load(None, {"alerts.runbooks": "https://docs.example/{name}.html", "gate.warn": 0.01})
    found = yaml.safe_load(rules(config, 1))["groups"][0]["rules"]
    alerts = {each["alert"]: each for each in found if "alert" in each}
    assert alerts["EvenflowHeld"]["for"] == "1s" and "for" not in alerts["EvenflowDrBlock"]
    assert (
        alerts["EvenflowDrBlock"]["annotations"]["runbook_url"]
        == "https://docs.example/dr_block.html"
    )
    with pytest.raises(ConfigError, match=r"alerts\.runbooks"):
        load(None, {"alerts.runbooks": "https://docs.example"})


def test_each_alert_has_a_runbook_and_a_test_of_both_outcomes() -> None:
    files = [SHIPPED / "evenflow.test.yaml", SHIPPED / "evenflow.long.test.yaml"]
    tests = [test for file in files for test in yaml.safe_load(file.read_text("utf-8"))["tests"]]
    cases = [case for test in tests for case in test.get("alert_rule_test", ())]
    nav = (ROOT / "docs" / "mkdocs.yml").read_text(encoding="utf-8")
    for alert in ALERTS:
        page = ROOT / "docs" / "runbooks" / f"{alert.runbook}.md"
        assert page.read_text(encoding="utf-8").startswith(f"# Evenflow{alert.name}\n")
        assert f"runbooks/{alert.runbook}.md" in nav
        outcomes = [
            bool(case["exp_alerts"])
            for case in cases
            if case["alertname"] == f"Evenflow{alert.name}"
        ]
        phases = [fires for fires, _ in groupby(outcomes)]
        assert phases == [False, True, False], alert.name
        severities = {
            expected["exp_labels"]["severity"]
            for case in cases
            if case["alertname"] == f"Evenflow{alert.name}"
            for expected in case["exp_alerts"]
        }
        assert alert.severity in severities, alert.name


def test_each_budget_has_an_objective_and_a_slow_burn_wakes_nobody() -> None:
    assert [each.name for each in OBJECTIVES] == list(Budgets().model_dump())
    burns = [burn for rates in RATES.values() for _, _, burn in rates]
    assert burns == sorted(burns, reverse=True)
    # What is missed all the time must be able to burn as fast as that, with the largest budget
    for field in Budgets.model_fields.values():
        [most] = [each.le for each in field.metadata if hasattr(each, "le")]
        assert most * max(burns) < 1
    used = {window for rates in RATES.values() for *windows, _ in rates for window in windows}
    assert used == set(WINDOWS)


def test_rules_ask_for_metrics_that_exist() -> None:
    config = load(None, {"llm.url": "http://localhost:1", "llm.model": "m"})
    known = {
        name
        for family in families(Totals(), Now(0, held=False), config)
        for name in (family.name, f"{family.name}_total")
    }
    asked = {
        name
        for expr in [
            *RECORDS.values(),
            *(str(record["expr"]) for record in records()),
            *(alert.expr for alert in ALERTS),
        ]
        for name in re.findall(r"(?<!:)\bevenflow_\w+", expr)
    }
    assert asked and asked <= known
