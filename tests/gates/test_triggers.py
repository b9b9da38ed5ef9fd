"""When triggers fire, what is kept of it, and the verdict on the last benchmark."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pane_entries import pane_entry
from pydantic import ValidationError

from evenflow.gates import requirement, triggers
from evenflow.gates.triggers import ActionOutcome, Decider, Decision, Memory
from evenflow.schemas.config.gate import Requirement
from evenflow.schemas.config.triggers import Trigger
from evenflow.schemas.ledger import PaneEntry, Verdict


def rule(**fields: Any) -> Trigger:
    return Trigger.model_validate({"command": ["true"], **fields})


def fired(own: Trigger, entries: list[PaneEntry]) -> list[int]:
    """The panes at which a rule fires."""
    memory, found = Memory(), []
    for entry in entries:
        memory, why = triggers.decide(own, memory, entry)
        if why:
            found.append(entry.pane)
    return found


def states(*names: str) -> list[PaneEntry]:
    return [
        pane_entry(n, verdict=Verdict(state=name, reason="x"))  # type: ignore[arg-type]
        for n, name in enumerate(names)
    ]


def drs(*values: float) -> list[PaneEntry]:
    """Panes with a DR of gender, their own and the rolling one."""
    import numpy as np
    from pane_shards import entry

    out = []
    for number, value in enumerate(values):
        own = entry(("a", "b"), np.array([[1, 1]]))
        score = own.pane.model_copy(update={"dr": value})
        each = own.model_copy(update={"pane": score, "rolling": score})
        out.append(pane_entry(number, attributes={"gender": each}))
    return out


def test_conditions() -> None:
    assert fired(rule(panes=3), states(*["open"] * 7)) == [2, 5]
    mixed = [
        pane_entry(0, documents=6),
        pane_entry(1, documents=50, folder="quarantine"),
        pane_entry(2, documents=6),
        pane_entry(3, documents=30),
        pane_entry(4, documents=7),
    ]
    assert fired(rule(documents=10), mixed) == [2, 3]
    seen = states("open", "warn", "block", "warn", "open", "block")
    assert fired(rule(verdict="warn"), seen) == [1, 5]
    assert fired(rule(verdict="block"), seen) == [2, 5]
    assert fired(rule(), seen) == []
    band = {"attribute": "gender", "low": 0.1, "high": 0.3}
    assert fired(rule(drift=band), drs(0.2, 0.4, 0.4, 0.2, 0.05)) == [1, 4]
    test = {"attribute": "gender", "run_length": 100}
    noise = [0.2 + 0.01 * ((7 * n) % 5 - 2) for n in range(30)]
    assert fired(rule(drift=test), drs(*noise)) == []
    assert fired(rule(drift=test), drs(*noise, *[0.5] * 3))[0] in (30, 31, 32)
    assert fired(rule(drift={"attribute": "age", "low": 0.5}), drs(0.2)) == []


def test_rules_that_cannot_be() -> None:
    for fields in (
        {"panes": 2, "documents": 2},
        {"command": None},
        {"webhook": {"url": "http://x/"}},
        {"schedule": "every day"},
        {"drift": {"attribute": "gender"}},
        {"command": []},
        {"command": "rm -rf"},
        {"command": None, "webhook": {"url": "ftp://x"}},
    ):
        with pytest.raises(ValidationError):
            rule(**fields)


def test_a_committer_that_was_killed_decides_the_same(tmp_path: Path) -> None:
    rules = {"second": rule(panes=2), "tenth": rule(documents=10)}
    entries = [pane_entry(n, documents=4) for n in range(6)]
    Decider(tmp_path, rules, [])
    for number in range(6):  # killed after each commit, before its decision
        Decider(tmp_path, rules, entries[: number + 1])
    found = triggers.pending(tmp_path)
    assert [(each.rule, each.pane) for each in found] == [
        ("second", 1),
        ("tenth", 2),
        ("second", 3),
        ("tenth", 4),
        ("second", 5),
    ]
    before = {path: path.read_bytes() for path in (tmp_path / "triggers").rglob("*.json")}
    state = tmp_path / triggers.STATE
    state.write_bytes(state.read_bytes().replace(b'"panes": 6', b'"panes": 3'))
    # What the conditions remember is of pane 6; panes 3 to 5 are asked again, and nothing is new
    Decider(tmp_path, {"second": rules["second"]}, entries)
    after = {path: path.read_bytes() for path in (tmp_path / "triggers/decided").rglob("*.json")}
    assert after == {path: data for path, data in before.items() if path in after}


def test_new_rules_look_forward_and_changed_ones_begin_anew(tmp_path: Path) -> None:
    entries = [pane_entry(n, documents=4) for n in range(4)]
    decider = Decider(tmp_path, {"all": rule(panes=1), "ten": rule(documents=10)}, entries)
    assert triggers.pending(tmp_path) == []
    decider.decide(pane_entry(4, documents=9))
    Decider(tmp_path, {"ten": rule(documents=20)}, entries).decide(pane_entry(5, documents=15))
    assert [each.key for each in triggers.pending(tmp_path)] == ["all.00000004"]


def test_schedules_fire_once_for_a_pane(tmp_path: Path) -> None:
    rules = {"nightly": rule(schedule="0 3 * * *")}

    def ask(day: int, hour: int, panes: int) -> int:
        Decider(tmp_path, rules, [pane_entry(n) for n in range(panes)])
        triggers.scheduled(tmp_path, rules, datetime(2026, 5, day, hour, tzinfo=UTC))
        return len(triggers.pending(tmp_path))

    assert [ask(1, 1, 5), ask(1, 2, 5), ask(1, 4, 5), ask(2, 4, 5), ask(3, 4, 6)] == [0, 0, 1, 1, 2]
    assert triggers.pending(tmp_path)[0].reason == "scheduled for 2026-05-01T03:00+00:00"


def ended(name: str, pane: int, outcome: str = "done", **more: Any) -> ActionOutcome:
    fields = {"rule": name, "pane": pane, "reason": "x", "outcome": outcome, "attempts": 1}
    return ActionOutcome.model_validate({**fields, "seconds": 1.0, "message": "", **more})


def test_chains_counts_and_history(tmp_path: Path) -> None:
    rules = {"train": rule(panes=1), "measure": rule(after="train")}
    for pane in (1, 2):
        triggers.write_decision(tmp_path, Decision(rule="train", pane=pane, reason="x"))
    triggers.finish(tmp_path, ended("train", 1))
    triggers.finish(tmp_path, ended("train", 2, "failed"))
    triggers.chained(tmp_path, rules)
    assert [each.key for each in triggers.pending(tmp_path)] == ["measure.00000001"]
    assert triggers.runs(tmp_path) == {
        ("train", "done"): 1,
        ("train", "failed"): 1,
        ("measure", "pending"): 1,
    }
    assert [each.pane for each in triggers.history(tmp_path)] == [1, 2]


def test_a_benchmark_is_part_of_the_verdict(tmp_path: Path) -> None:
    limits = {"crows_pairs": Requirement(low=0.45, high=0.55)}

    def judged(figure: float, low: float | None, high: float | None, pane: int) -> str:
        figures = {"crows_pairs": {"figure": figure, "low": low, "high": high}}
        triggers.finish(tmp_path, ended("measure", pane, figures=figures))
        found = requirement.judge(tmp_path, limits)
        assert f"after pane {pane} " in found.reason
        return found.state

    assert requirement.judge(tmp_path, limits).state == "not_judged"
    assert judged(0.5, 0.4, 0.6, 1) == "open"
    assert judged(0.58, 0.54, 0.62, 2) == "open"  # chance alone blocks nothing
    assert judged(0.62, 0.58, 0.66, 3) == "block"
    assert judged(0.3, None, None, 4) == "block"
    triggers.finish(tmp_path, ended("train", 9))
    assert requirement.judge(tmp_path, limits).state == "block"
