"""`evenflow gate card`: what others read of an accepted data set is what the ledger says."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import Call

import evenflow

pytest_plugins = ["commands"]
HE = "He met his father and his uncle."
NAME = 'Rows: "even"\n---'


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two panes that are accepted, then a blocked one."""
    out = tmp_path_factory.mktemp("card") / "out"
    texts = ["She met her brother. He met his sister."] * 80 + [HE * 3] * 40
    rows = [{"id": str(at), "text": text, "meta": {"a": 1}} for at, text in enumerate(texts)]
    rows.insert(0, {"id": "none", "text": None})
    config = {"pane.docs": 41, "gate.warn": 0.1, "gate.block": 0.15, "gate.most_dead": 1}
    result = evenflow.Gate(config, attributes=["gender"]).run(rows, out)
    assert result["blocked"] == [2]
    return out


def made(call: Call, output: Path, *options: str) -> dict[str, Any]:
    ended = call("gate", "card", output, "--name", NAME, *options, "--json")
    assert ended.status == 0, ended.err
    return json.loads(ended.out)


def test_a_card_has_the_files_and_figures_of_the_ledger(call: Call, output: Path) -> None:
    card = made(call, output, "--license", "cc0-1.0", "--url", "https://example.org")
    assert (card["name"], card["license"], card["url"]) == (NAME, "cc0-1.0", "https://example.org")
    *files, shards = card["distribution"]
    listed = [
        line.split("\t")
        for line in call("gate", "export", "--list", "accepted", output).out.splitlines()
    ]
    assert [each["sha256"] for each in files] == [line[3] for line in listed]
    for each in files:
        data = (output / each["contentUrl"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == each["sha256"]
        assert each["contentSize"] == f"{len(data)} B"
    assert shards["includes"] == [each["@id"] for each in files]
    status = json.loads(call("gate", "status", output, "--json").out)
    accepted = status["attributes"]["gender"]["accepted"]
    [bias] = card["rai:dataBiases"]
    assert f"DR {accepted['dr']:.3f} ({accepted['low']:.3f}–{accepted['high']:.3f})" in bias
    dr, female, male = card["variableMeasured"]
    assert (dr["value"], dr["minValue"], dr["maxValue"]) == tuple(
        accepted[key] for key in ("dr", "low", "high")
    )
    assert female["value"] + male["value"] == 1
    assert "1 dead letter: " in " ".join(card["rai:dataPreprocessingProtocol"])
    steps = " ".join(card["rai:dataPreprocessingProtocol"])
    assert "81 accepted. In quarantine: 1 pane." in steps
    assert not re.search(r"\b[01] (\w+ )?(pane|document|mention)s\b", steps)
    assert card["rai:dataLimitations"]
    names = [each["name"] for each in card["recordSet"][0]["field"]]
    assert {"id", "text"} <= set(names) and "meta" not in names


def test_the_readme_has_a_head_that_hugging_face_reads(call: Call, output: Path) -> None:
    ended = call("gate", "card", output, "--name", NAME)
    assert ended.out.splitlines() == [
        str(output / name) for name in ("croissant.json", "README.md")
    ]
    readme = (output / "README.md").read_text()
    head = yaml.safe_load(readme.split("---\n")[1] if NAME not in readme else "")
    assert head["pretty_name"] == NAME
    [config] = head["configs"]
    assert all((output / path).exists() for path in config["data_files"])
    assert "## Limitations" in readme
    assert json.loads((output / "croissant.json").read_text()) == made(call, output)
    verified = call("gate", "verify", output, "--files")
    assert verified.status == 0, verified.err


def test_croissants_own_library_reads_it(call: Call, output: Path) -> None:
    reader = pytest.importorskip(
        "mlcroissant", reason="readers: run `.venv/bin/pip install mlcroissant`"
    )
    carded = call(
        "gate",
        "card",
        output,
        "--name",
        "rows",
        "--license",
        "cc0-1.0",
        "--url",
        "https://example.org",
    )
    assert carded.status == 0, carded.err
    dataset = reader.Dataset(str(output / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    assert len(dataset.metadata.data_biases) == 1
    found = list(dataset.records("documents"))
    assert len(found) == len(evenflow.accepted(output))
    assert found[0]["documents/mentions_gender_female"] == 3


def test_decisions_of_people_are_told(call: Call, output: Path) -> None:
    before = made(call, output)
    assert call("gate", "accept", output, "--pane", "2", "--reason", "read").status == 0
    try:
        after = made(call, output)
        assert len(after["distribution"]) == len(before["distribution"]) + 1
        assert after["variableMeasured"][0]["value"] > before["variableMeasured"][0]["value"]
        steps = " ".join(after["rai:dataPreprocessingProtocol"])
        assert "by people: 1 pane accepted" in steps
        assert not re.search(r"\b[01] (\w+ )?(pane|document|mention)s\b", steps)
    finally:
        call("gate", "accept", "--undo", output, "--pane", "2", "--reason", "test")


def test_no_ledger_and_no_name_are_refused(call: Call, tmp_path: Path) -> None:
    ended = call("gate", "card", tmp_path, "--name", "x")
    assert ended.status == 2 and "no ledger here" in ended.err
    assert call("gate", "card", tmp_path).status == 2
