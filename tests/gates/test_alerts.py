"""The rules of alerts: the shipped file is what the code writes, and each has page and test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from evenflow.gates.alerts import ALERTS, RECORDS, rules
from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics.families import families
from evenflow.gates.metrics.now import Now
from evenflow.schemas.config import ConfigError, load

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
    tests = yaml.safe_load((SHIPPED / "evenflow.test.yaml").read_text(encoding="utf-8"))["tests"]
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
        assert outcomes == [False, True, False], alert.name


def test_rules_ask_for_metrics_that_exist() -> None:
    config = load(None, {"llm.url": "http://localhost:1", "llm.model": "m"})
    known = {
        name
        for family in families(Totals(), Now(0, held=False), config)
        for name in (family.name, f"{family.name}_total")
    }
    asked = {
        name
        for expr in [*RECORDS.values(), *(alert.expr for alert in ALERTS)]
        for name in re.findall(r"(?<!:)\bevenflow_\w+", expr)
    }
    assert asked and asked <= known
