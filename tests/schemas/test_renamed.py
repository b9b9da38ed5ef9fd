"""Keys that had another name: refused in a file, read in a ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from places import ROOT

from evenflow.gates.ledger.files import parse_entry
from evenflow.pipelines.engine.files.driver import Run
from evenflow.schemas.config import ConfigError, load, recorded
from evenflow.schemas.ledger import Filtered
from evenflow.schemas.renamed import renamed

OLD = {
    "gate": {"policy": "halt"},
    "repair": {"strictness": 0.9, "precision": 0.7, "realise": "sample", "leave": ["war"]},
    "stereotypes": {"policy": "remove", "precision": 0.6, "creeds": "policy", "encoder": None},
    "attributes": {"gender": {"strictness": 0.5, "stereotypes": {"policy": "flag"}}},
}
NEW = {
    "gate": {"on_block": "halt"},
    "repair": {
        **{"min_probability": 0.9, "target_precision": 0.7, "output_as": "sample"},
        "protect": ["war"],
    },
    "stereotypes": {"action": "remove", "target_precision": 0.6, "creeds": "action"},
    "attributes": {"gender": {"min_probability": 0.5, "stereotypes": {"action": "flag"}}},
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gate: {policy: halt}", "gate.policy: this key is now called on_block"),
        ("repair: {leave: [war]}", "repair.leave: this key is now called protect"),
        ("repair: {realise: sample}", "repair.realise: this key is now called output_as"),
        ("repair: {precision: 1}", "repair.precision: this key is now called target_precision"),
        (
            "attributes: {gender: {strictness: 1}}",
            "attributes.gender.strictness: this key is now called min_probability",
        ),
        (
            "attributes: {gender: {stereotypes: {policy: off}}}",
            "attributes.gender.stereotypes.policy: this key is now called action",
        ),
    ],
)
def test_an_old_name_in_a_file_is_refused_with_the_new_one(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "evenflow.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        load(path)
    assert str(error.value) == f"{path}:1: {said}"


def test_an_old_name_as_an_option_is_refused_with_the_new_one() -> None:
    with pytest.raises(ConfigError, match=r"--set gate\.policy: this key is now called on_block"):
        load(None, sets=["gate.policy=halt"])


def test_a_ledgers_old_names_are_read_as_the_new_ones() -> None:
    assert renamed(OLD) == NEW
    assert renamed(NEW) == NEW
    found = recorded({"configuration": OLD})
    assert found is not None and found.gate.on_block == "halt" and found.action("gender") == "flag"


def test_the_configuration_of_the_first_outputs_is_read() -> None:
    meta = ROOT / "tests/data/outputs/0.1.0/files/ledger/meta.json"
    assert recorded(json.loads(meta.read_bytes())) is not None


def test_a_run_goes_on_with_an_output_that_has_the_old_names(tmp_path: Path) -> None:
    texts = tmp_path / "a.jsonl"
    lines = [json.dumps({"id": str(n), "text": "A man met his sister."}) for n in range(4)]
    texts.write_text("\n".join(lines[:2]) + "\n")
    config = load(None, {"pane.docs": 2, "repair.min_probability": 0.9, "repair.protect": ["war"]})
    Run([str(texts)], tmp_path / "out", config).go()
    meta = tmp_path / "out/ledger/meta.json"
    text = meta.read_text()
    for old, new in (
        *(("leave", "protect"), ("realise", "output_as"), ("precision", "target_precision")),
        *(("strictness", "min_probability"), ("policy", "action")),
    ):
        assert f'"{new}"' in text
        text = text.replace(f'"{new}"', f'"{old}"')
    meta.write_text(text)
    texts.write_text("\n".join(lines) + "\n")
    Run([str(texts)], tmp_path / "out", config).go()
    assert len([*(tmp_path / "out/ledger").glob("0*.json")]) == 2


def test_the_records_of_a_pane_with_old_names_are_read() -> None:
    old = {"policy": "remove", "threshold": 0.7}
    assert Filtered.model_validate(old) == Filtered(action="remove", threshold=0.7)
    entry = ROOT / "tests/data/outputs/0.1.0/files/ledger/00000000.json"
    raw = entry.read_bytes()
    assert b'"strictness"' in raw
    made = parse_entry(raw, str(entry)).model_dump_json()
    assert '"min_probability"' in made and '"strictness"' not in made
