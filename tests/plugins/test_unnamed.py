"""The example of a judge, installed as a package of others is, goes through the whole gate."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
from plugin_packages import append, changed, conforms, corpus, evenflow, names_both

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


def test_its_conformance_tests_pass(installed: Path, tmp_path: Path) -> None:
    assert " passed" in conforms(TESTS, installed, tmp_path)


def test_a_run_exchanges_by_it_and_a_changed_one_opens_an_epoch(
    installed: Path, tmp_path: Path
) -> None:
    path, output = corpus(tmp_path / "in.jsonl", [PLAIN, NAMED] * 20), tmp_path / "out"
    run = ["run", "-i", path, "-o", output, "-a", "gender", "--pane-docs", "40", "--repair-mode"]
    run += ["substitute", "--set", "repair.judge=unnamed", "--set", "gate.min_mentions=1000"]
    done = evenflow(installed, *run)
    assert done.returncode == 0, done.stderr + done.stdout
    [shard] = (output / "accepted").glob("*.parquet")
    texts = {row["text"] for row in pq.read_table(shard).to_pylist()}
    assert texts == {NAMED, PLAIN.replace(" he ", " she ")}
    append(path, PLAIN)
    other = changed(installed, tmp_path, "unnamed", "else 0.9", "else 0.95")
    assert evenflow(other, *run).returncode == 0
    assert names_both(output, "unnamed", "plug-in unnamed of evenflow.judges")
    gone = evenflow(tmp_path, *run)
    assert gone.returncode == 2 and "repair.judge" in gone.stderr


def test_explain_asks_it(installed: Path) -> None:
    words = ("explain", "-", "--json", "-a", "gender", "--counterfactual", "gc")
    for text, chance in ((PLAIN, 0.9), (NAMED, 0.1)):
        done = evenflow(installed, *words, "--set", "repair.judge=unnamed", text=text)
        sets = [own for each in json.loads(done.stdout)["sentences"] for own in each["sets"]]
        assert [own["confidence"] for own in sets] == [chance]
