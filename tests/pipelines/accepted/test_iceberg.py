"""Accepted panes in a table of Iceberg with a catalog in SQLite: each once, also after a kill."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from commands import Call
from three_panes import EVEN

import evenflow
from evenflow.gates.ledger import reviews
from evenflow.pipelines.accepted import sinks
from evenflow.pipelines.accepted.export import ExportError

HOW = "iceberg: run `.venv/bin/pip install -e '.[iceberg]'`"
pytest.importorskip("pyiceberg", reason=HOW)
pytest.importorskip("sqlalchemy", reason=HOW)
pytest_plugins = ["commands", "three_panes"]


def table_of(folder: Path) -> Any:
    """The table, as any other reader of the catalog opens it."""
    from pyiceberg.catalog.sql import SqlCatalog

    return SqlCatalog("evenflow", uri=f"sqlite:///{folder}/catalog.db").load_table("curated.rows")


def append(rows: Any, to: str) -> tuple[list[int], list[int]]:
    found = sinks.named(to)
    assert found is not None
    return sinks.follow(rows, *found)[:2]


def test_panes_are_appended_once_and_follow_decisions(
    call: Call, output: Path, tmp_path: Path
) -> None:
    place = f"iceberg:{tmp_path}/warehouse/curated.rows"
    ended = call("gate", "export", output, "--to", place, "--json")
    assert ended.status == 0, ended.err
    assert (ended.json["rows"], ended.json["appended"]) == (80, [0, 1])
    assert ended.json["quarantined"] == [2]
    table = table_of(tmp_path / "warehouse")
    read = table.scan().to_arrow().sort_by([(sinks.PANE, "ascending"), ("n", "ascending")])
    assert read["id"].to_pylist() == [f"{pane}-{n}" for pane in (0, 1) for n in range(40)]
    assert read["lang"].to_pylist() == [None] * 40 + ["en"] * 40
    said = [each.summary.additional_properties for each in table.snapshots()]
    assert [(each["evenflow.pane"], each["evenflow.verdict"]) for each in said] == [
        ("0", "open"),
        ("1", "open"),
        ("2", "block"),
    ]
    aside = table.scan().use_ref("quarantine").to_arrow()
    assert sorted(aside["id"].to_pylist()) == sorted(f"2-{n}" for n in range(40))
    assert float(said[1]["evenflow.dr.gender"]) == pytest.approx(0)
    # Again, also from where the output was moved to: nothing is there twice
    moved = tmp_path / "moved"
    shutil.move(output, moved)
    assert call("gate", "export", moved, "--to", place, "--json").json["appended"] == []
    reviews.add(moved, "accept", range(2, 3), "one author", "Ada")
    reviews.add(moved, "reject", range(1), "the wrong source", "Ada")
    ended = call("gate", "export", moved, "--to", place)
    assert ended.out == (
        f"80 documents: {place}\n1 pane appended, 1 pane taken out\n"
        "1 pane appended to the quarantine\n"
    )
    table = table_of(tmp_path / "warehouse")
    assert sorted(table.scan().to_arrow()[sinks.PANE].to_pylist()) == [1] * 40 + [2] * 40
    aside = table.scan().use_ref("quarantine").to_arrow()
    assert aside[sinks.PANE].to_pylist() == [0] * 40
    last = table.current_snapshot().summary.additional_properties
    assert last["evenflow.verdict"] == "block" and "Ada" in last["evenflow.decided"]


def test_a_kill_between_two_panes_loses_nothing(
    output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, place = evenflow.accepted(output), f"iceberg:{tmp_path}/warehouse/curated.rows"
    whole = sinks._notes

    def killed(rows: Any, pane: int, made_with: str) -> dict[str, str]:
        if pane:
            raise KeyboardInterrupt
        return whole(rows, pane, made_with)

    monkeypatch.setattr(sinks, "_notes", killed)
    with pytest.raises(KeyboardInterrupt):
        append(rows, place)
    assert table_of(tmp_path / "warehouse").scan().count() == 40
    monkeypatch.undo()
    assert append(rows, place) == ([1], [])
    assert table_of(tmp_path / "warehouse").scan().count() == 80


def test_of_two_exports_at_once_one_appends(
    output: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, place = evenflow.accepted(output), f"iceberg:{tmp_path}/warehouse/curated.rows"
    whole = sinks._notes

    def meanwhile(rows: Any, pane: int, made_with: str) -> dict[str, str]:
        monkeypatch.undo()
        assert append(rows, place) == ([0, 1], [])
        return whole(rows, pane, made_with)

    monkeypatch.setattr(sinks, "_notes", meanwhile)
    with pytest.raises(ExportError, match=r"curated\.rows: "):
        append(rows, place)
    assert table_of(tmp_path / "warehouse").scan().count() == 80


def test_what_cannot_be_is_refused(call: Call, output: Path, tmp_path: Path) -> None:
    for to in ("iceberg:", "iceberg:rows", "iceberg:warehouse/rows"):
        ended = call("gate", "export", output, "--to", to)
        assert ended.status == 2 and "NAMESPACE.TABLE was expected" in ended.err
    place = f"iceberg:{tmp_path}/warehouse/curated.rows"
    assert call("gate", "export", output, "--to", place, "--pane", "0").status == 2
    assert call("gate", "export", output, "--to", place).status == 0
    evenflow.Gate(attributes=["gender"]).run([EVEN], tmp_path / "other")
    ended = call("gate", "export", tmp_path / "other", "--to", place)
    assert ended.status == 2 and "not of this output" in " ".join(ended.err.split())
