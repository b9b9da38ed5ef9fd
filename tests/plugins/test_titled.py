"""The example of an attribute, installed as a package of others is, and run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from plugin_packages import HERE, conforms, corpus, evenflow, install

TEXTS = [
    "Mr. Darcy met Mrs. Dalloway.\n\nSir Walter left.",
    "Dr. Watson met a friend.",
    "Miss",
    "Marple came.",
    "Lady Bracknell spoke to Mr.",
    "It rained.",
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


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed package."""
    return install("titled", tmp_path_factory.mktemp("titled"))


def entries(output: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((output / "ledger").glob("0*.json"))]


def test_it_is_listed(installed: Path) -> None:
    done = evenflow(installed, "config", "plugins", "--json")
    assert done.returncode == 0, done.stderr
    [row] = json.loads(done.stdout)
    assert row["name"] == "titled"
    assert row["package"] == "evenflow-titled 0.1.0"
    assert row["problem"] == ""
    assert "evenflow_titled:TitledPeople" in evenflow(installed, "config", "plugins").stdout


def test_where_none_is_installed_a_sentence_says_so(tmp_path: Path) -> None:
    done = evenflow(tmp_path, "config", "plugins")
    assert (done.returncode, done.stdout) == (0, "no installed package declares a plug-in\n")


def test_a_broken_one_is_listed_with_its_problem(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(installed, tmp_path / "broken")
    (tmp_path / "broken" / "evenflow_titled.py").write_text("import nothing_of_this_name")
    done = evenflow(tmp_path / "broken", "config", "plugins")
    assert done.returncode == 2
    assert "plug-in 'titled': evenflow_titled:TitledPeople cannot be loaded" in done.stdout


def test_its_conformance_tests_pass(installed: Path, tmp_path: Path) -> None:
    assert "MB/s of CPU" in conforms(TESTS, installed, tmp_path)


@pytest.mark.parametrize(
    "settings", [["-a", "titled"], ["--set", "attributes.titled.finder=titled"]]
)
def test_measure_counts_each_document_alone(
    installed: Path, tmp_path: Path, settings: list[str]
) -> None:
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
    with path.open("a") as file:
        file.write(json.dumps({"id": "new", "text": "Mr. Bennet sat down."}) + "\n")
    changed = shutil.copytree(installed, tmp_path / "changed")
    code = changed / "evenflow_titled.py"
    code.write_text(code.read_text().replace("|Lord", "|Lord|Dr"))
    done = evenflow(changed, *run)
    assert done.returncode == 0, done.stderr + done.stdout
    meta = json.loads((output / "ledger" / "meta.json").read_text())
    first, second = meta["epochs"]
    assert first["program"]["plug-in titled"].startswith("evenflow-titled 0.1.0 ")
    assert any("plug-in titled" in line for line in second["changes"])
    gone = evenflow(tmp_path, "gate", "report", output)
    assert gone.returncode == 0, gone.stderr


def test_a_text_that_it_fails_on_becomes_a_dead_letter(tmp_path: Path) -> None:
    helpers = HERE.parent / "helpers"
    path = corpus(tmp_path / "texts.jsonl", ["she came", "a secret", *["he left"] * 98])
    settings = ["--set", "attributes.people.finder=finders:Raises", "-a", "people"]
    done = evenflow(helpers, "run", "-i", path, "-o", tmp_path / "out", *settings)
    letters = [
        json.loads(line)
        for each in (tmp_path / "out" / "dead-letter").glob("*.jsonl*")
        for line in each.read_text().splitlines()
    ]
    assert [each["reason"] for each in letters] == [
        "unforeseen error: plug-in 'finders:Raises' failed: LookupError"
    ], done.stderr
    assert entries(tmp_path / "out")[0]["documents"] == 99
