"""Synthetic documents on their way through a gate: ledger, status, report, metrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]


def test_a_gate_that_synthetic_documents_hold_even_says_so(call: Call, tmp_path: Path) -> None:
    rows = [{"text": "He came."}, {"text": "She came.", "synthetic": True}] * 300
    rows += [{"text": "She came.", "synthetic": True}] * 200
    path, output = tmp_path / "in.jsonl", tmp_path / "out"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["run", "--input", path, "--output", output, "--pane-docs", "400", "-q"]
    limits = ["--set", "synthetic.field=synthetic", "--set", "synthetic.block=0.6"]
    ended = call(*command, *limits, "--set", "pane.rolling=1")
    assert ended.status == 3
    first, last = (json.loads((output / f"ledger/0000000{n}.json").read_text()) for n in (0, 1))
    assert first["attributes"]["gender"]["verdict"]["state"] == "open"
    assert first["verdict"]["state"] == "warn"
    assert first["verdict"]["reason"].startswith(
        "synthetic documents: 50.0% of the rolling panes' 400 documents are synthetic; without them"
        " gender is at block"
    )
    assert first["synthetic"]["counted"]["synthetic"] == 200
    assert last["folder"] == "quarantine" and "block begins above 0.6" in last["verdict"]["reason"]
    shown = call("gate", "status", output).out
    assert "synthetic: 500 of 800 documents: block" in " ".join(shown.split())
    section = json.loads((output / "report.json").read_text())["synthetic"]
    assert section["panes"] == {"too few": 0, "open": 0, "warn": 1, "block": 1}
    assert section["attributes"]["gender"]["rolling"]["dr"] == 0.5
    assert 'id="synthetic"' in (output / "report.html").read_text()
    metrics = tmp_path / "out.prom"
    assert call("gate", "metrics", output, "--file", metrics).status == 0
    for line in (
        'evenflow_synthetic_documents_total{gate="out"} 500.0',
        'evenflow_synthetic_share{gate="out"} 0.75',
        'evenflow_dr_without_synthetic{attribute="gender",gate="out"} 0.5',
        'evenflow_synthetic_threshold{gate="out",level="block"} 0.6',
    ):
        assert line in metrics.read_text()


def test_without_the_field_nothing_is_told_apart(call: Call, tmp_path: Path) -> None:
    path, output = tmp_path / "in.jsonl", tmp_path / "out"
    path.write_text(json.dumps({"text": "She came.", "synthetic": True}) + "\n")
    assert call("run", "--input", path, "--output", output, "-q").status == 0
    assert "synthetic" not in json.loads((output / "ledger/00000000.json").read_text())
    figures = json.loads((output / "report.json").read_text())
    assert "synthetic" not in figures and "synthetic" not in figures["by_pane"][0]
