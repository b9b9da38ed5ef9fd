"""The example of an attribute, installed as a package of others is, and run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from plugin_packages import append, changed, conforms, corpus, evenflow, names_both

TEXTS = [
    *("Mr. Darcy met Mrs. Dalloway.\n\nSir Walter left.", "Dr. Watson met a friend.", "Miss"),
    *("Marple came.", "Lady Bracknell spoke to Mr.", "It rained."),
] * 20
COUNTS = {"women": 40, "men": 40}
TESTS = """
from evenflow.testing import FinderTests


class TestTitledPeople(FinderTests):
    finder = "titled"
    examples = {
        "Mr. Darcy met Mrs. Dalloway.": [(0, 9, "men"), (14, 27, "women")],
        "Ms O'Neill and Sir Müller": [(0, 10, "women"), (15, 25, "men")],
        "Dr. Watson met a sir.": [],
    }
"""


def entries(output: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((output / "ledger").glob("0*.json"))]


def test_a_broken_one_is_listed_with_its_problem(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(installed, tmp_path / "broken")
    (tmp_path / "broken" / "evenflow_titled.py").write_text("import nothing_of_this_name")
    done = evenflow(tmp_path / "broken", "doctor")
    assert done.returncode == 2
    assert "plug-in 'titled': evenflow_titled:TitledPeople cannot be loaded" in done.stdout


def test_its_conformance_tests_pass(installed: Path, tmp_path: Path) -> None:
    assert " passed" in conforms(TESTS, installed, tmp_path)


def test_measure_counts_each_document_alone(installed: Path, tmp_path: Path) -> None:
    settings = ["--set", "attributes.titled.finder=titled"]
    path = corpus(tmp_path / "texts.jsonl", TEXTS)
    done = evenflow(installed, "measure", path, *settings, "--json")
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)["attributes"]["titled"]["counts"]
    assert counts == COUNTS, "“Miss” and “Marple” are two documents"


def test_a_run_weighs_by_it_and_a_changed_one_opens_an_epoch(
    installed: Path, tmp_path: Path
) -> None:
    path, output = corpus(tmp_path / "texts.jsonl", TEXTS), tmp_path / "out"
    run = ["run", "-i", path, "-o", output, "-a", "titled", "--pane-docs", "60"]
    run += ["--set", "repair.mode=[weight]"]
    done = evenflow(installed, *run)
    assert done.returncode == 0, done.stderr + done.stdout
    pane = entries(output)[0]
    assert pane["attributes"]["titled"]["sums"]["counts"] == [20, 20]
    [shard] = sorted((output / "accepted").glob("*0000000*.parquet"))[:1]
    columns = pq.read_schema(shard).names
    assert {"mentions_titled_women", "mentions_titled_men"} <= set(columns)
    append(path, "Mr. Bennet sat down.")
    done = evenflow(changed(installed, tmp_path, "titled", "|Lord", "|Lord|Dr"), *run)
    assert done.returncode == 0, done.stderr + done.stdout
    assert names_both(output, "titled", "plug-in titled")
    gone = evenflow(tmp_path, "gate", "report", output)
    assert gone.returncode == 0, gone.stderr
