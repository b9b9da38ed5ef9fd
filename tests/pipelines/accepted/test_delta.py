"""Accepted panes in a table of Delta Lake: each once, also after a kill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import Call
from three_panes import EVEN

import evenflow
from evenflow.gates.ledger import reviews
from evenflow.pipelines.accepted import sinks
from evenflow.pipelines.accepted.export import ExportError

pytest.importorskip("deltalake", reason="delta: run `.venv/bin/pip install -e '.[delta]'`")
pytest_plugins = ["commands", "three_panes"]


def read(place: Path) -> Any:
    from deltalake import DeltaTable

    return DeltaTable(place).to_pyarrow_table().sort_by([(sinks.PANE, "ascending")])


def test_panes_are_appended_once_and_follow_decisions(
    call: Call, output: Path, tmp_path: Path
) -> None:
    from deltalake import DeltaTable

    place, aside = tmp_path / "lake", tmp_path / "lake_quarantine"
    ended = call("gate", "export", output, "--to", f"delta:{place}", "--json")
    assert ended.status == 0, ended.err
    assert (ended.json["rows"], ended.json["appended"]) == (80, [0, 1])
    assert ended.json["quarantined"] == [2]
    assert read(aside)[sinks.PANE].to_pylist() == [2] * 40
    assert DeltaTable(aside).history(1)[0]["evenflow.verdict"] == "block"
    assert sorted(read(place)["id"].to_pylist()) == sorted(
        f"{pane}-{n}" for pane in (0, 1) for n in range(40)
    )
    assert read(place)["lang"].to_pylist() == [None] * 40 + ["en"] * 40
    last = DeltaTable(place).history(1)[0]
    assert (last["evenflow.pane"], last["evenflow.verdict"]) == ("1", "open")
    again = call("gate", "export", output, "--to", f"delta:{place}", "--json")
    assert again.json["appended"] == again.json["quarantined"] == []
    reviews.add(output, "accept", range(2, 3), "one author", "Ada")
    reviews.add(output, "reject", range(1), "the wrong source", "Ada")
    ended = call("gate", "export", output, "--to", f"delta:{place}", "--json")
    assert (ended.json["appended"], ended.json["taken_out"]) == ([2], [0])
    assert read(place)[sinks.PANE].to_pylist() == [1] * 40 + [2] * 40
    assert read(aside)[sinks.PANE].to_pylist() == [0] * 40


def test_a_kill_loses_nothing_and_of_two_exports_at_once_one_appends(
    output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, found = evenflow.accepted(output), sinks.named(f"delta:{tmp_path}/lake")
    assert found is not None
    whole = sinks._notes

    def killed(rows: Any, pane: int, made_with: str) -> dict[str, str]:
        if pane:
            raise KeyboardInterrupt
        return whole(rows, pane, made_with)

    monkeypatch.setattr(sinks, "_notes", killed)
    with pytest.raises(KeyboardInterrupt):
        sinks.follow(rows, *found)
    assert len(read(tmp_path / "lake")) == 40

    def meanwhile(rows: Any, pane: int, made_with: str) -> dict[str, str]:
        monkeypatch.setattr(sinks, "_notes", whole)
        assert sinks.follow(rows, *found).appended == [1]
        return whole(rows, pane, made_with)

    monkeypatch.setattr(sinks, "_notes", meanwhile)
    with pytest.raises(ExportError, match=r"delta:.*lake: "):
        sinks.follow(rows, *found)
    assert len(read(tmp_path / "lake")) == 80


def test_what_cannot_be_is_refused(call: Call, output: Path, tmp_path: Path) -> None:
    assert call("gate", "export", output, "--to", f"delta:{tmp_path}/lake").status == 0
    evenflow.Gate(attributes=["gender"]).run([EVEN], tmp_path / "other")
    ended = call("gate", "export", tmp_path / "other", "--to", f"delta:{tmp_path}/lake")
    assert ended.status == 2 and "not a table of this output" in " ".join(ended.err.split())
    assert call("gate", "export", output, "--to", "delta:").status == 2
