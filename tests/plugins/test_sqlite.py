"""The example of a sink, installed as a package of others is, and exported to."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from plugin_packages import conforms, corpus, evenflow, install

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


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed package."""
    return install("sqlite", tmp_path_factory.mktemp("sqlite"))


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
    listed = json.loads(evenflow(installed, "config", "plugins", "--json").stdout)
    assert [(row["kind"], row["problem"]) for row in listed] == [("evenflow.sinks", "")]
    refused = evenflow(installed, *export[:4], f"sqlite:{tmp_path}/no/such/folder.db")
    assert refused.returncode == 2 and "plug-in 'sqlite' failed" in refused.stderr
