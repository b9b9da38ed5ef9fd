"""The example of a detector, installed as a package of others is, goes through the whole gate."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from plugin_packages import conforms, corpus, evenflow, install

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


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed package."""
    return install("generics", tmp_path_factory.mktemp("generics"))


def test_its_conformance_tests_pass(installed: Path, tmp_path: Path) -> None:
    assert "MB/s of CPU" in conforms(TESTS, installed, tmp_path)


def test_a_run_flags_by_it_and_a_changed_one_opens_an_epoch(
    installed: Path, tmp_path: Path
) -> None:
    path, output = corpus(tmp_path / "in.jsonl", [BAD, GOOD] * 20), tmp_path / "out"
    run = ["run", "-i", path, "-o", output, "-a", "gender", "--pane-docs", "40", "--set"]
    run += ["stereotypes.detector=generics", "--set", "gate.min_mentions=1000"]
    run += ["--set", "stereotypes.policy=remove", "--set", "stereotypes.threshold=0"]
    done = evenflow(installed, *run)
    assert done.returncode == 0, done.stderr + done.stdout
    [table] = [pq.read_table(each).to_pylist() for each in (output / "sentences").iterdir()]
    chances = {(row["sent_text"], row["potential_stereotype"]) for row in table}
    assert chances == {(BAD, 1.0), (GOOD, 0.0)}
    entry = json.loads((output / "ledger" / "00000000.json").read_text())
    found = entry["attributes"]["gender"]["stereotypes"]
    assert (found["potential"], found["cut"]) == (20, None), "without figures nothing is removed"
    assert entry["documents"] == 40
    with path.open("a") as file:
        file.write(json.dumps({"id": "new", "text": GOOD}) + "\n")
    changed = shutil.copytree(installed, tmp_path / "changed")
    code = changed / "evenflow_generics.py"
    code.write_text(code.read_text().replace("|never", "|never|most"))
    assert evenflow(changed, *run).returncode == 0
    first, second = json.loads((output / "ledger" / "meta.json").read_text())["epochs"]
    key = "plug-in generics of evenflow.detectors"
    assert first["program"][key].startswith("evenflow-generics 0.1.0 ")
    assert any(key in line for line in second["changes"])
    gone = evenflow(tmp_path, *run)
    assert gone.returncode == 2 and "stereotypes.detector" in gone.stderr


def test_explain_asks_it(installed: Path) -> None:
    words = ("explain", "-", "--json", "-a", "gender", "--set", "stereotypes.detector=generics")
    found = json.loads(evenflow(installed, *words, text=BAD).stdout)
    assert found["sentences"][0]["potential_stereotype"]["gender"] == 1
