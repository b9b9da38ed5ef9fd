"""The example of a judge, installed as a package of others is, goes through the whole gate."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from plugin_packages import conforms, corpus, evenflow, install

PLAIN = "A doctor said that he was late."
NAMED = f"Ada Byron wrote this. {PLAIN}"
TESTS = """
from evenflow.testing import JudgeTests


class TestUnnamed(JudgeTests):
    part = "unnamed"
    examples = [
        ("He left.", [(0, 2, "She")], True),
        ("Ada Byron wrote. He left.", [(17, 19, "She")], False),
    ]
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed package."""
    return install("unnamed", tmp_path_factory.mktemp("unnamed"))


def test_its_conformance_tests_pass(installed: Path, tmp_path: Path) -> None:
    assert "MB/s of CPU" in conforms(TESTS, installed, tmp_path)


def test_a_run_exchanges_by_it_and_a_changed_one_opens_an_epoch(
    installed: Path, tmp_path: Path
) -> None:
    path, output = corpus(tmp_path / "in.jsonl", [PLAIN, NAMED] * 20), tmp_path / "out"
    run = ["run", "-i", path, "-o", output, "-a", "gender", "--pane-docs", "40", "--mode"]
    run += ["substitute", "--set", "repair.judge=unnamed", "--set", "gate.min_mentions=1000"]
    done = evenflow(installed, *run)
    assert done.returncode == 0, done.stderr + done.stdout
    [shard] = (output / "accepted").glob("*.parquet")
    texts = {row["text"] for row in pq.read_table(shard).to_pylist()}
    assert texts == {NAMED, PLAIN.replace(" he ", " she ")}
    with path.open("a") as file:
        file.write(json.dumps({"id": "new", "text": PLAIN}) + "\n")
    changed = shutil.copytree(installed, tmp_path / "changed")
    code = changed / "evenflow_unnamed.py"
    code.write_text(code.read_text().replace("else 0.9", "else 0.95"))
    assert evenflow(changed, *run).returncode == 0
    first, second = json.loads((output / "ledger" / "meta.json").read_text())["epochs"]
    key = "plug-in unnamed of evenflow.judges"
    assert first["program"][key].startswith("evenflow-unnamed 0.1.0 ")
    assert any(key in line for line in second["changes"])
    gone = evenflow(tmp_path, *run)
    assert gone.returncode == 2 and "repair.judge" in gone.stderr


def test_explain_asks_it(installed: Path) -> None:
    words = ("explain", "-", "--json", "-a", "gender", "--counterfactual", "gc")
    for text, chance in ((PLAIN, 0.9), (NAMED, 0.1)):
        done = evenflow(installed, *words, "--set", "repair.judge=unnamed", text=text)
        sets = [own for each in json.loads(done.stdout)["sentences"] for own in each["sets"]]
        assert [own["confidence"] for own in sets] == [chance]
