"""Triggers that train and measure: the chain from a rule to the verdict."""

from __future__ import annotations

import json
from pathlib import Path

from commands import Call
from parts import needs_training

needs_training("torch", "transformers", "peft")

from tiny_models import tiny_model  # noqa: E402

from evenflow.gates import requirement  # noqa: E402
from evenflow.schemas.config.gate import Requirement  # noqa: E402

pytest_plugins = ["commands"]


def test_a_rule_trains_and_the_next_one_measures(tmp_path: Path, call: Call) -> None:
    llama = str(tiny_model(tmp_path / "llama"))
    corpus, out, settings = tmp_path / "in.jsonl", tmp_path / "out", tmp_path / "c.yaml"
    rows = [{"id": str(n), "text": "the man said that she was a nurse ."} for n in range(8)]
    corpus.write_text("\n".join(map(json.dumps, rows)))
    suites = {"model": llama, "suites": ["crows_pairs:gender"], "items": 24}
    rules = {
        "train": {"finetune": {"model": llama}, "tries": 1},
        "measure": {"after": "train", "benchmark": suites, "tries": 1},
    }
    training = {"steps": 2, "batch": 2, "context": 16, "threads": 1}
    settings.write_text(json.dumps({"triggers": rules, "finetune": training}))
    assert call("run", "--input", corpus, "--output", out, "--config", settings).status == 0
    ended = call("gate", "trigger", "--run", out, "train", "--config", settings, "--json")
    assert ended.status == 0, ended.out + ended.err
    train, measure = ended.json["actions"]
    assert (train["rule"], measure["rule"], measure["pane"]) == ("train", "measure", 0)
    made = json.loads((out / "triggers/models/train.00000000/training.json").read_text())
    assert made["data"]["documents"] == 8 and len(made["losses"]) == 2
    results = json.loads((out / "triggers/models/measure.00000000/results.json").read_text())
    assert results["adapter"] == str(out / "triggers/models/train.00000000")
    figure = measure["figures"]["crows_pairs:gender"]
    assert figure == {key: results["suites"]["crows_pairs:gender"][key] for key in figure}
    verdict = requirement.judge(out, {"crows_pairs:gender": Requirement(low=2.0)})
    assert verdict is not None and verdict.state == "block"
