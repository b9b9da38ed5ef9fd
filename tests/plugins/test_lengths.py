"""The example of a measure, installed as a package of others is, goes through the whole gate."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from plugin_packages import HERE, evenflow

LONG, SHORT = "She came and sat and told all that she knew of it.", "He came."

METRICS = """
import sys
from prometheus_client import generate_latest
from evenflow.pipelines.metrics.serving import registry
from evenflow.pipelines.metrics.watching import Watched
print(generate_latest(registry([Watched(sys.argv[1])])).decode())
"""


@pytest.fixture(scope="module")
def output(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run: a pane of even texts, then one in which those of women are longer."""
    folder = tmp_path_factory.mktemp("run")
    texts = [SHORT, SHORT.replace("He", "She")] * 100 + [LONG, SHORT] * 100
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (folder / "in.jsonl").write_text(lines)
    settings = "attributes: {gender: {}}\nmeasures: {lengths: {warn: 0.3, block: 0.4}}\n"
    (folder / "settings.yaml").write_text(settings)
    ended = evenflow(
        installed,
        *("run", "--input", folder / "in.jsonl", "--output", folder / "out", "-q"),
        *("--config", folder / "settings.yaml", "--pane-docs", 200),
    )
    assert ended.returncode == 3, ended.stderr
    return folder / "out"


def test_the_folder_of_a_measure_is_small() -> None:
    assert sum(len(path.read_text().splitlines()) for path in (HERE / "lengths").iterdir()) <= 150


def test_it_judges_panes_and_stands_in_the_ledger_and_the_report(output: Path) -> None:
    even, uneven = (json.loads((output / f"ledger/0000000{n}.json").read_text()) for n in (0, 1))
    assert even["measures"]["lengths"]["verdict"]["state"] == "open"
    assert even["measures"]["lengths"]["groups"]["male"] == {"n": 100, "t": 800, "s": 6400}
    assert uneven["verdict"]["state"] == "block"
    assert uneven["verdict"]["reason"].startswith("length of texts: rolling gap of lengths")
    assert (
        "plug-in lengths"
        in json.loads((output / "ledger/meta.json").read_text())["epochs"][0]["program"]
    )
    figures = json.loads((output / "report.json").read_text())
    section = figures["measures"]["lengths"]
    assert section["panes"] == {"not_judged": 0, "open": 1, "warn": 0, "block": 1}
    assert section["gap"] == uneven["measures"]["lengths"]["gap"]
    assert (
        figures["by_pane"][1]["measures"]["lengths"]["low"] == uneven["measures"]["lengths"]["low"]
    )
    page = (output / "report.html").read_text()
    assert 'id="measure-lengths"' in page and "rolling gap of lengths" in page


def test_what_reads_the_output_names_it_and_does_not_load_it(installed: Path, output: Path) -> None:
    status = evenflow(installed, "gate", "status", output).stdout
    assert "length of texts: rolling gap" in status and "length of texts: gap" not in status
    why = evenflow(installed, "gate", "why", output, "--pane", 1).stdout
    assert "rule: lengths: the lower bound" in " ".join(why.split())
    metrics = subprocess.run(
        [sys.executable, "-c", METRICS, output],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(installed)},
    ).stdout
    assert "evenflow_blocked" in metrics and "evenflow_lengths" not in metrics


def test_explain_says_what_it_counts_of_a_text(installed: Path, output: Path) -> None:
    words = ("explain", "-", "--json", "--no-stereotypes", "-c", output.parent / "settings.yaml")
    found = json.loads(evenflow(installed, *words, text=SHORT).stdout)
    assert found["measures"]["lengths"]["male"] == {"n": 1, "t": 8, "s": 64}


def test_without_the_package_the_output_can_be_read_and_not_gone_on_with(
    tmp_path: Path, output: Path
) -> None:
    read = evenflow(tmp_path, "gate", "status", output)
    assert "pane 1 is in quarantine" in read.stdout and "length of texts: gap" not in read.stdout
    words = ("run", "--input", output.parent / "in.jsonl", "--output", output, "-q")
    ended = evenflow(tmp_path, *words, "--config", output.parent / "settings.yaml")
    assert ended.returncode == 2
    assert "no installed package declares the measure 'lengths'" in " ".join(ended.stderr.split())


def test_settings_of_it_that_are_wrong_are_named(installed: Path, tmp_path: Path) -> None:
    ended = evenflow(installed, "measure", "-", *("--set", "measures.lengths.warm=0.2"), text="{}")
    assert ended.returncode == 2 and "measures.lengths.warm" in ended.stderr
    listed = json.loads(evenflow(installed, "doctor", "--json").stdout)
    assert [(row["part"], row["text"].split()[0], row["state"]) for row in listed] == [
        ("evenflow.measures", "lengths", "fine")
    ]
