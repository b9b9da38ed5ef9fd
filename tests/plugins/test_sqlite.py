"""The example of a sink, installed as a package of others is, and exported to."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from plugin_packages import conforms, corpus, evenflow

from evenflow.gates.ledger import reviews

EVEN = "She met her brother. He met his sister."
TESTS = """
import sqlite3
from evenflow.testing import SinkTests


class TestSqlite(SinkTests):
    sink = "sqlite"

    def rows(self, place):
        base = sqlite3.connect(place)
        base.row_factory = sqlite3.Row
        return [dict(row) for row in base.execute("SELECT * FROM documents")]
"""


def epochs(output: Path) -> list[dict[str, Any]]:
    """The epochs of sinks that a ledger has."""
    return [json.loads(each.read_bytes()) for each in sorted(output.glob("ledger/sinks/*.json"))]


def test_its_conformance_tests_pass(installed: Path, tmp_path: Path) -> None:
    assert "4 passed" in conforms(TESTS, installed, tmp_path)


def test_an_export_appends_each_pane_once(installed: Path, tmp_path: Path) -> None:
    path, output = corpus(tmp_path / "in.jsonl", [EVEN] * 60), tmp_path / "out"
    run = ["run", "-i", path, "-o", output, "-a", "gender", "--pane-docs", "30"]
    done = evenflow(installed, *run)
    assert done.returncode == 0, done.stderr
    export = ["gate", "export", output, "--to", f"sqlite:{tmp_path}/all.db", "--json"]
    for appended in ([0, 1], []):
        done = evenflow(installed, *export)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["appended"] == appended
    with closing(sqlite3.connect(tmp_path / "all.db")) as base:
        counts = base.execute("SELECT evenflow_pane, count(*) FROM documents GROUP BY 1").fetchall()
        assert counts == [(0, 30), (1, 30)]
        assert base.execute("SELECT DISTINCT text FROM documents").fetchall() == [(EVEN,)]
    [epoch] = epochs(output)
    key = "plug-in sqlite of evenflow.sinks"
    assert (epoch["pane"], epoch["changes"]) == (0, [])
    assert epoch["program"][key].startswith("evenflow-sqlite 0.1.0 ")
    changed = shutil.copytree(installed, tmp_path / "changed")
    with (changed / "evenflow_sqlite.py").open("a") as code:
        code.write("# changed\n")
    done = evenflow(changed, *export)
    assert json.loads(done.stdout)["changes"] == [] and len(epochs(output)) == 1, "nothing written"
    reviews.add(output, "reject", range(1, 2), "the wrong source", "Ada")
    assert evenflow(changed, *export).returncode == 0
    reviews.add(output, "undo", range(1, 2), "the right source", "Ada")
    done = evenflow(changed, *export[:-1])
    assert f"another version of the sink: {key}: " in " ".join(done.stdout.split())
    _, epoch = epochs(output)
    assert (epoch["number"], epoch["pane"]) == (1, 1) and key in epoch["changes"][0]
    assert evenflow(changed, "gate", "verify", output, "--files").returncode == 0
    listed = json.loads(evenflow(installed, "doctor", "--json").stdout)
    assert [(row["part"], row["state"]) for row in listed] == [("evenflow.sinks", "fine")]
    refused = evenflow(installed, *export[:4], f"sqlite:{tmp_path}/no/such/folder.db")
    assert refused.returncode == 2 and "plug-in 'sqlite' failed" in refused.stderr
