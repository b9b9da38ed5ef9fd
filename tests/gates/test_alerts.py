"""The rules of alerts: the shipped file is what the code writes, and each has page and test."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import pytest
import yaml

from evenflow.gates.alerts import rules
from evenflow.gates.ledger.totals import Totals
from evenflow.gates.metrics.families import families
from evenflow.gates.metrics.now import Now
from evenflow.schemas.config import ConfigError, load
from evenflow.schemas.config.alerts import Budgets

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "deploy" / "prometheus"
RULES = yaml.safe_load(rules(load(None)))["groups"][0]["rules"]
ALERTS = {each["alert"]: each for each in RULES if "alert" in each}
BURN = re.compile(r'ratio_(\w+)\{objective="(\w+)"\} > ([\d.]+) \*')


def test_the_shipped_rules_are_those_of_the_default_configuration() -> None:
    assert (SHIPPED / "evenflow.rules.yaml").read_text(encoding="utf-8") == rules(load(None))


def test_a_configuration_says_where_runbooks_are_and_a_trial_does_not_wait() -> None:
    config = load(None, {"alerts.runbooks": "https://docs.example/#{name}", "gate.warn": 0.01})
    found = yaml.safe_load(rules(config, 1))["groups"][0]["rules"]
    alerts = {each["alert"]: each for each in found if "alert" in each}
    assert alerts["EvenflowHeld"]["for"] == "1s" and "for" not in alerts["EvenflowDrBlock"]
    assert (
        alerts["EvenflowDrBlock"]["annotations"]["runbook_url"]
        == "https://docs.example/#evenflowdrblock"
    )
    with pytest.raises(ConfigError, match=r"alerts\.runbooks"):
        load(None, {"alerts.runbooks": "https://docs.example"})


def test_each_alert_has_a_runbook_and_a_test_of_both_outcomes() -> None:
    files = [SHIPPED / "evenflow.test.yaml", SHIPPED / "evenflow.long.test.yaml"]
    tests = [test for file in files for test in yaml.safe_load(file.read_text("utf-8"))["tests"]]
    cases = [case for test in tests for case in test.get("alert_rule_test", ())]
    for rule in filter(lambda each: "alert" in each, RULES):
        name, page = rule["alert"], rule["annotations"]["runbook_url"]
        path, _, anchor = page.partition("#")
        assert f"\n## {name}\n" in (ROOT / path).read_text(encoding="utf-8")
        assert anchor == name.lower()  # as mkdocs makes it of the heading
        outcomes = [bool(case["exp_alerts"]) for case in cases if case["alertname"] == name]
        phases = [fires for fires, _ in groupby(outcomes)]
        assert phases == [False, True, False], name
        severities = {
            expected["exp_labels"]["severity"]
            for case in cases
            if case["alertname"] == name
            for expected in case["exp_alerts"]
        }
        assert rule["labels"]["severity"] in severities, name


def test_each_budget_has_an_objective_and_a_slow_burn_wakes_nobody() -> None:
    found = [burn for each in ALERTS.values() for burn in BURN.findall(each["expr"])]
    assert {objective for _, objective, _ in found} == set(Budgets().model_dump())
    recorded = {each["record"] for each in RULES if "record" in each}
    for window, _, _ in found:
        assert f"gate:evenflow_objective_errors:ratio_{window}" in recorded
    burns = [float(burn) for *_, burn in found]
    # What is missed all the time must be able to burn as fast as that, with the largest budget
    for field in Budgets.model_fields.values():
        [most] = [each.le for each in field.metadata if hasattr(each, "le")]
        assert most * max(burns) < 1


def test_rules_ask_for_metrics_that_exist() -> None:
    config = load(None, {"llm.url": "http://localhost:1", "llm.model": "m"})
    known = {
        name
        for family in families(Totals(), Now(0, held=False), config)
        for name in (family.name, f"{family.name}_total")
    }
    asked = {name for each in RULES for name in re.findall(r"(?<!:)\bevenflow_\w+", each["expr"])}
    assert asked and asked <= known
