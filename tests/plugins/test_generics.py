"""The example of a detector, installed as a package of others is, goes through the whole gate."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
from plugin_packages import conforms, corpus, evenflow

BAD, GOOD = "All women are weak.", "She paid her brother."
TESTS = """
from evenflow.testing import DetectorTests


class TestGenerics(DetectorTests):
    part = "generics"
    examples = [
        ("All women are weak.", [(4, 9)], True),
        ("She never came.", [(0, 3)], True),
        ("She came.", [(0, 3)], False),
        ("All was well.", [], False),
    ]
"""


def test_its_conformance_tests_pass(installed: Path, tmp_path: Path) -> None:
    assert " passed" in conforms(TESTS, installed, tmp_path)


def test_a_run_flags_by_it(installed: Path, tmp_path: Path) -> None:
    path, output = corpus(tmp_path / "in.jsonl", [BAD, GOOD] * 20), tmp_path / "out"
    run = ["run", "-i", path, "-o", output, "-a", "gender", "--pane-docs", "40", "--set"]
    run += ["stereotypes.detector=generics", "--set", "gate.min_mentions=1000"]
    run += ["--set", "stereotypes.action=remove", "--set", "stereotypes.threshold=0"]
    done = evenflow(installed, *run)
    assert done.returncode == 0, done.stderr + done.stdout
    [table] = [pq.read_table(each).to_pylist() for each in (output / "sentences").iterdir()]
    chances = {(row["sent_text"], row["potential_stereotype"]) for row in table}
    assert chances == {(BAD, 1.0), (GOOD, 0.0)}
    entry = json.loads((output / "ledger" / "00000000.json").read_text())
    found = entry["measures"]["stereotypes"]["attributes"]["gender"]
    assert (found["potential"], found["cut"]) == (20, None), "without figures nothing is removed"
    assert entry["documents"] == 40


def test_explain_asks_it(installed: Path) -> None:
    words = ("explain", "-", "--json", "-a", "gender", "--set", "stereotypes.detector=generics")
    found = json.loads(evenflow(installed, *words, text=BAD).stdout)
    assert found["sentences"][0]["potential_stereotype"]["gender"] == 1
